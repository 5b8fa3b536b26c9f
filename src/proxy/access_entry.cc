#include "weir/proxy/access_entry.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weir::proxy {
namespace {

// Milliseconds with three decimals, by whole numbers: a line is written for every connection.
void append_ms(std::string& to, core::Duration duration) {
  const auto us = std::max<std::int64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(duration).count(), 0);
  fmt::format_to(std::back_inserter(to), FMT_COMPILE("{}.{:03}"), us / 1000, us % 1000);
}

}  // namespace

// Nothing here needs escaping: names and addresses come from the validated configuration or from
// the kernel's numbers, the rest from closed lists.
void append(std::string& to, const AccessEntry& entry, net::WallClock& clock) {
  const auto out = std::back_inserter(to);
  to += R"({"ts":")";
  clock.append_now(to);
  fmt::format_to(
      out, FMT_COMPILE(R"(","session":{},"listener":"{}","client":"{}","peer":"{}","pool":"{}")"),
      entry.session, entry.listener, entry.client, entry.client, entry.pool);
  if (!entry.attempts.empty()) {
    const upstream::Attempt& last = entry.attempts.back();
    fmt::format_to(out, FMT_COMPILE(R"(,"backend":"{}","address":"{}")"), last.backend->name(),
                   last.address());
  }
  to += R"(,"attempts":[)";
  for (const upstream::Attempt& attempt : entry.attempts) {
    if (&attempt != entry.attempts.data()) to += ',';
    fmt::format_to(out, FMT_COMPILE(R"({{"backend":"{}","address":"{}","outcome":"{}","ms":)"),
                   attempt.backend->name(), attempt.address(), core::name(attempt.outcome));
    append_ms(to, attempt.took);
    to += '}';
  }
  to += R"(],"queue_ms":0)";
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
