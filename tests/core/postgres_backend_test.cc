#include "weir/core/postgres_backend.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/core/hex.h"

using namespace weir::core;

namespace {

using State = PostgresKeyWatch::State;

// AuthenticationOk, a ParameterStatus, then as given.
const std::string kLogin = hex("52 00000008 00000000  53 00000009 'a' 00 'bc' 00");

// Fed in two segments, cut at every place, and in single bytes.
void check_every_way(const std::string& stream, State state,
                     const std::optional<PostgresKey>& key) {
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    CAPTURE(cut);
    PostgresKeyWatch watch;
    watch.feed(std::string_view(stream).substr(0, cut));
    watch.feed(std::string_view(stream).substr(cut));
    CHECK(watch.state() == state);
    CHECK(watch.key() == key);
  }
  PostgresKeyWatch watch;
  for (const char c : stream) watch.feed(std::string_view(&c, 1));
  CHECK(watch.state() == state);
  CHECK(watch.key() == key);
}

}  // namespace

TEST_CASE("a server accepts or refuses TLS with one byte") {
  CHECK(read_postgres_ssl_answer("") == PostgresSslAnswer::need_more);
  CHECK(read_postgres_ssl_answer("S") == PostgresSslAnswer::accepted);
  CHECK(read_postgres_ssl_answer("N") == PostgresSslAnswer::refused);
  CHECK(read_postgres_ssl_answer("G") == PostgresSslAnswer::malformed);
  CHECK(read_postgres_ssl_answer("s") == PostgresSslAnswer::malformed);
}

TEST_CASE("bytes behind a server's S or N are malformed") {
  CHECK(read_postgres_ssl_answer(hex("53 00")) == PostgresSslAnswer::malformed);
  CHECK(read_postgres_ssl_answer("SS") == PostgresSslAnswer::malformed);
  CHECK(read_postgres_ssl_answer("NR") == PostgresSslAnswer::malformed);
}

TEST_CASE("an old server's error is told from its first byte on") {
  CHECK(read_postgres_ssl_answer("E") == PostgresSslAnswer::error);
  CHECK(read_postgres_ssl_answer(hex("45 'what' 00")) == PostgresSslAnswer::error);
}

TEST_CASE("the key is learnt from BackendKeyData among other messages, in any segments") {
  check_every_way(kLogin + hex("4b 0000000c 00001121 277acf9d  5a 00000005 49"), State::ready,
                  PostgresKey{0x1121, hex("277acf9d")});
}

TEST_CASE("the key is known before the server is ready") {
  check_every_way(kLogin + hex("4b 0000000c 00001121 277acf9d"), State::watching,
                  PostgresKey{0x1121, hex("277acf9d")});
}

TEST_CASE("half a key is none") {
  check_every_way(kLogin + hex("4b 0000000c 00001121 277acf"), State::watching, {});
}

TEST_CASE("protocol 3.2 has keys of up to 256 bytes") {
  const std::string secret(256, 'k');
  check_every_way(hex("4b 00000108 ffffffff") + secret + hex("5a 00000005 49"), State::ready,
                  PostgresKey{0xffffffff, secret});
}

TEST_CASE("a key shorter than 4 or longer than 256 bytes is malformed") {
  check_every_way(hex("4b 0000000b 00000001 000000"), State::malformed, {});
  check_every_way(hex("4b 00000109 00000001"), State::malformed, {});
}

TEST_CASE("nothing behind the first ReadyForQuery is looked at") {
  check_every_way(kLogin + hex("5a 00000005 49  4b 0000000c 00000001 00000002"), State::ready, {});
}

TEST_CASE("nothing behind an ErrorResponse is looked at") {
  check_every_way(kLogin + hex("45 00000005 00  4b 0000000c 00000001 00000002"), State::failed, {});
}

TEST_CASE("what is within another message is no message") {
  check_every_way(hex("4e 00000011 4b 0000000c 00000001 00000002  5a 00000005 49"), State::ready,
                  {});
}

TEST_CASE("a length that no message can have is malformed") {
  check_every_way(hex("52 00000003"), State::malformed, {});
  check_every_way(hex("52 80000000"), State::malformed, {});
}

TEST_CASE("of several keys the last counts") {
  check_every_way(hex("4b 0000000c 00000001 00000002  4b 0000000c 00000003 00000004"),
                  State::watching, PostgresKey{3, hex("00000004")});
}

TEST_CASE("a message of any length is skipped without being kept") {
  PostgresKeyWatch watch;
  watch.feed(hex("44 7fffffff"));
  const std::string mebibyte(1 << 20, 'Z');
  for (int i = 0; i < 2047; ++i) watch.feed(mebibyte);
  watch.feed(mebibyte.substr(0, (1 << 20) - 5));
  CHECK(watch.watching());
  watch.feed(hex("4b 0000000c 00000001 00000002"));
  CHECK(watch.key() == PostgresKey{1, hex("00000002")});
}

TEST_CASE("each state of the watch has a name") {
  CHECK(name(State::watching) == "watching");
  CHECK(name(State::ready) == "ready");
  CHECK(name(State::failed) == "failed");
  CHECK(name(State::malformed) == "malformed");
}
