// The readers of database protocols' first bytes against any bytes. The first byte chooses the
// reader. Read whole and read byte by byte must agree, and no reader may claim bytes that are not
// there or look at those behind the packet.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "weir/core/http2_refusal.h"
#include "weir/core/mysql_client_packet.h"
#include "weir/core/mysql_greeting.h"
#include "weir/core/postgres_backend.h"
#include "weir/core/postgres_first_packet.h"
#include "weir/core/postgres_messages.h"

namespace {

using namespace weir::core;

void require(bool holds) {
  if (!holds) std::abort();
}

bool within(std::string_view part, std::string_view whole) {
  if (part.empty()) return true;
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// A copy of exactly these bytes on the heap, so that AddressSanitizer sees a read behind them.
std::string exact(std::string_view bytes) {
  std::string copy(bytes);
  copy.shrink_to_fit();
  return copy;
}

// The first verdict on a growing input must be the verdict on the whole.
template <typename Read>
void check_segments(std::string_view bytes, const Read& read) {
  const auto whole = read(bytes);
  using Kind = decltype(whole.kind);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string begun = exact(bytes.substr(0, size));
    const auto packet = read(std::string_view(begun));
    if (packet.kind == Kind::need_more) {
      require(packet.size > size);
      // It asks for no more than what turns out to be needed; 0 = refused, or nothing consumed.
      require(whole.size == 0 || packet.size <= whole.size);
      continue;
    }
    require(packet.kind == whole.kind && packet.fault == whole.fault);
    require(packet.size == whole.size && packet.size <= size);
    return;
  }
  require(whole.kind == Kind::need_more);
}

void postgres_first(std::string_view bytes) {
  check_segments(bytes, [](std::string_view begun) { return read_postgres_first(begun); });
  const PostgresFirstPacket read = read_postgres_first(bytes);
  const std::string_view own = bytes.substr(0, read.size);
  require((read.kind == PostgresFirst::malformed) == (read.fault != PostgresFault::none));
  require(read.size <= kPostgresFirstPacketBound);
  if (read.kind == PostgresFirst::startup) {
    require(within(read.startup.user, own) && !read.startup.user.empty());
    require(within(read.startup.database, own) && !read.startup.database.empty());
    require(within(read.startup.parameters, own));
    require(read.startup.parameter("user") == read.startup.user);
  }
  if (read.kind == PostgresFirst::cancel_request) {
    require(within(read.cancel.secret, own));
    require(postgres_cancel_request({read.cancel.process, std::string(read.cancel.secret)}) == own);
  }
  if (read.kind == PostgresFirst::ssl_request) require(postgres_ssl_request() == own);
}

void postgres_backend(std::string_view bytes) {
  read_postgres_ssl_answer(bytes);
  PostgresKeyWatch whole, single;
  whole.feed(bytes);
  for (const char c : bytes) single.feed(std::string_view(&c, 1));
  require(whole.state() == single.state() && whole.key() == single.key());
  if (!whole.key()) return;
  const std::size_t size = whole.key()->secret.size();
  require(size >= kPostgresSecretMin && size <= kPostgresSecretMax);
}

void mysql_server(std::string_view bytes) {
  check_segments(bytes, [](std::string_view begun) { return read_mysql_server_first(begun); });
  const MysqlServerPacket read = read_mysql_server_first(bytes);
  const std::string_view own = bytes.substr(0, read.size);
  require((read.kind == MysqlServerFirst::malformed) == (read.fault != MysqlFault::none));
  require(within(read.error.message, own) && within(read.error.sqlstate, own));
  if (read.kind != MysqlServerFirst::greeting) return;
  const MysqlGreeting& greeting = read.greeting;
  require(within(greeting.version, own) && within(greeting.plugin, own));
  require(within(greeting.auth_data_1, own) && within(greeting.auth_data_2, own));
  std::string rewritten = exact(own);
  set_capabilities(rewritten, greeting, greeting.capabilities);
  require(rewritten == own);
  set_capabilities(rewritten, greeting, greeting.capabilities | kMysqlSsl);
  const MysqlServerPacket again = read_mysql_server_first(rewritten);
  require(again.kind == read.kind && again.greeting.version == greeting.version);
  require(again.greeting.capabilities == (greeting.capabilities | kMysqlSsl));
}

void mysql_client(std::string_view bytes, std::uint8_t sequence) {
  const auto read_it = [sequence](std::string_view begun) {
    return read_mysql_client_first(begun, sequence);
  };
  check_segments(bytes, read_it);
  const MysqlClientPacket read = read_it(bytes);
  require((read.kind == MysqlClientFirst::malformed) == (read.fault != MysqlFault::none));
  require(within(read.user, bytes.substr(0, read.size)));
  require(read.kind != MysqlClientFirst::ssl_request || read.size == 36);
}

void http2(std::string_view bytes) {
  Http2RequestWatch whole, single;
  whole.feed(bytes);
  for (const char c : bytes) single.feed(std::string_view(&c, 1));
  require(whole.state() == single.state() && whole.stream() == single.stream());
  require((whole.stream() % 2 == 1) == (whole.state() == Http2RequestWatch::State::requested));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string input = exact({reinterpret_cast<const char*>(data) + 1, size - 1});
  switch (data[0] % 6) {
    case 0:
      postgres_first(input);
      break;
    case 1:
      postgres_backend(input);
      break;
    case 2:
      mysql_server(input);
      break;
    case 3:
      mysql_client(input, 1);
      break;
    case 4:
      mysql_client(input, 2);
      break;
    case 5:
      http2(input);
      break;
  }
  return 0;
}
