#include "weir/proxy/access_entry.h"

#include <fmt/format.h>

#include <iterator>

namespace weir::proxy {
namespace {

double milliseconds(core::Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

// Nothing here needs escaping: names and addresses come from the validated configuration or from
// the kernel's numbers, the rest from closed lists. A unix path is the exception.
void append(std::string& to, const AccessEntry& entry, net::WallClock& clock) {
  const auto out = std::back_inserter(to);
  to += R"({"ts":")";
  clock.append_now(to);
  fmt::format_to(out, R"(","session":{},"listener":"{}","client":"{}","peer":"{}","pool":"{}")",
                 entry.session, entry.listener, entry.client, entry.client, entry.pool);
  if (!entry.attempts.empty()) {
    const upstream::Attempt& last = entry.attempts.back();
    fmt::format_to(out, R"(,"backend":"{}","address":"{}")", last.backend->name(), last.address());
  }
  to += R"(,"attempts":[)";
  const char* separator = "";
  for (const upstream::Attempt& attempt : entry.attempts) {
    fmt::format_to(out, R"({}{{"backend":"{}","address":"{}","outcome":"{}","ms":{:.3f}}})",
                   separator, attempt.backend->name(), attempt.address(),
                   core::name(attempt.outcome), milliseconds(attempt.took));
    separator = ",";
  }
  to += R"(],"queue_ms":0)";
  if (entry.connect != core::Duration::min()) {
    fmt::format_to(out, R"(,"connect_ms":{:.3f})", milliseconds(entry.connect));
  }
  if (entry.first_byte != core::Duration::min()) {
    fmt::format_to(out, R"(,"first_byte_ms":{:.3f})", milliseconds(entry.first_byte));
  }
  fmt::format_to(
      out,
      R"(,"duration_ms":{:.3f},"bytes_in":{},"bytes_out":{},"closed_by":"{}","reason":"{}","config_generation":{}}})",
      milliseconds(entry.duration), entry.bytes_in, entry.bytes_out,
      core::name(core::closed_by(entry.reason)), core::name(entry.reason), entry.config_generation);
  to += '\n';
}

}  // namespace weir::proxy
