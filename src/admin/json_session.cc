#include <fmt/compile.h>
#include <fmt/format.h>

#include <chrono>
#include <iterator>

#include "admin/json.h"
#include "weir/core/json.h"

namespace weir::admin {
namespace {

void append_text(std::string& to, std::string_view text) {
  to += '"';
  core::append_json(to, text);
  to += '"';
}

void append_member(std::string& to, std::string_view key, std::string_view text) {
  to += ",\"";
  to += key;
  to += "\":";
  append_text(to, text);
}

}  // namespace

void append_json(std::string& to, const proxy::SessionView& session) {
  fmt::format_to(std::back_inserter(to), FMT_COMPILE(R"({{"id":{})"), session.id);
  append_member(to, "listener", session.listener);
  append_member(to, "client", session.client);
  append_member(to, "pool", session.pool);
  if (session.backend.empty()) {
    to += R"(,"backend":null)";
  } else {
    append_member(to, "backend", session.backend);
  }
  append_member(to, "state", proxy::name(session.state));
  fmt::format_to(std::back_inserter(to),
                 FMT_COMPILE(R"(,"age_ms":{},"bytes_in":{},"bytes_out":{},"attempts":[)"),
                 std::chrono::duration_cast<std::chrono::milliseconds>(session.age).count(),
                 session.bytes_in, session.bytes_out);
  for (const proxy::SessionView::Attempt& attempt : session.attempts) {
    if (to.back() == '}') to += ',';
    to += R"({"backend":)";
    append_text(to, attempt.backend);
    append_member(to, "address", attempt.address);
    append_member(to, "outcome", core::name(attempt.outcome));
    fmt::format_to(std::back_inserter(to), FMT_COMPILE(R"(,"ms":{:.3f}}})"),
                   std::chrono::duration<double, std::milli>(attempt.took).count());
  }
  to += "]}";
}

std::string to_json(const Sessions& sessions) {
  constexpr std::size_t kUsual = 320;  // bytes of a session's text
  std::string text = R"({"sessions":[)";
  text.reserve(64 + sessions.sessions.size() * kUsual);
  for (const proxy::SessionView& session : sessions.sessions) {
    if (&session != &sessions.sessions.front()) text += ',';
    append_json(text, session);
  }
  text += R"(],"truncated":)";
  text += sessions.truncated ? "true}" : "false}";
  return text;
}

}  // namespace weir::admin
