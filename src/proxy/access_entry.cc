#include "weir/proxy/access_entry.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "weir/core/json.h"

namespace weir::proxy {
namespace {

// Milliseconds with three decimals, by whole numbers: a line is written for every connection.
void append_ms(std::string& to, core::Duration duration) {
  const auto us = std::max<std::int64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(duration).count(), 0);
  fmt::format_to(std::back_inserter(to), FMT_COMPILE("{}.{:03}"), us / 1000, us % 1000);
}

// A field whose text may hold any byte: addresses, of which unix paths are one kind. Names and
// reasons need no escaping.
void append_text(std::string& to, std::string_view key, std::string_view text) {
  fmt::format_to(std::back_inserter(to), FMT_COMPILE(R"(,"{}":")"), key);
  core::append_json(to, text);
  to += '"';
}

}  // namespace

void append(std::string& to, const AccessEntry& entry, net::WallClock& clock) {
  const auto out = std::back_inserter(to);
  to += R"({"ts":")";
  clock.append_now(to);
  fmt::format_to(out, FMT_COMPILE(R"(","session":{},"listener":"{}")"), entry.session,
                 entry.listener);
  append_text(to, "client", entry.client);
  append_text(to, "peer", entry.client);
  fmt::format_to(out, FMT_COMPILE(R"(,"pool":"{}")"), entry.pool);
  if (!entry.attempts.empty()) {
    const upstream::Attempt& last = entry.attempts.back();
    fmt::format_to(out, FMT_COMPILE(R"(,"backend":"{}")"), last.backend->name());
    append_text(to, "address", last.address());
  }
  to += R"(,"attempts":[)";
  for (const upstream::Attempt& attempt : entry.attempts) {
    if (&attempt != entry.attempts.data()) to += ',';
    fmt::format_to(out, FMT_COMPILE(R"({{"backend":"{}")"), attempt.backend->name());
    append_text(to, "address", attempt.address());
    fmt::format_to(out, FMT_COMPILE(R"(,"outcome":"{}","ms":)"), core::name(attempt.outcome));
    append_ms(to, attempt.took);
    to += '}';
  }
  to += R"(],"queue_ms":)";
  append_ms(to, entry.queue);
  if (entry.connect != core::Duration::min()) {
    to += R"(,"connect_ms":)";
    append_ms(to, entry.connect);
  }
  if (entry.first_byte != core::Duration::min()) {
    to += R"(,"first_byte_ms":)";
    append_ms(to, entry.first_byte);
  }
  to += R"(,"duration_ms":)";
  append_ms(to, entry.duration);
  fmt::format_to(
      out,
      FMT_COMPILE(
          R"(,"bytes_in":{},"bytes_out":{},"closed_by":"{}","reason":"{}","config_generation":{}}})"
          "\n"),
      entry.bytes_in, entry.bytes_out, core::name(core::closed_by(entry.reason)),
      core::name(entry.reason), entry.config_generation);
}

}  // namespace weir::proxy
