#include "ctl/orders.h"

#include "ctl/cells.h"

namespace weir::ctl {
namespace {

using namespace std::chrono_literals;

// Orders, and prints what has become of the backend; answers the exit code.
template <class... Verb>
int order(const Call& call, const std::string& body, const Verb&... verb) {
  const std::string name = call.value("BACKEND");
  const Target target = target_of(name);
  const Request request{Method::post,
                        path({"pools", target.pool, "backends", target.backend, verb...}), body};
  const Reply reply = fetch(call.client, request);
  if (!reply.succeeded()) return refuse(call, reply);
  say(call.shell, call.json ? json_text(reply.body)
                            : backend_sentence(name, reply.body, call.shell.now()) + "\n");
  return kDone;
}

// Asks until nothing is left on the backend. That it is gone altogether is as good.
int wait_until_drained(const Call& call) {
  constexpr auto interval = 500ms;  // a person waits; weir need not be asked more often
  const std::string name = call.value("BACKEND");
  const Target target = target_of(name);
  const Request request{.target = path({"pools", target.pool, "backends", target.backend})};
  for (;;) {
    const Reply reply = fetch(call.client, request);
    const bool gone = reply.failure.empty() && reply.status == 404;
    if (!gone && !reply.succeeded() && !reply.interrupted) return refuse(call, reply);
    if (gone || (!reply.interrupted && whole(field(reply.body, "active")) == 0 &&
                 whole(field(reply.body, "dialing")) == 0)) {
      if (!call.json) say(call.shell, fmt::format("{}: drained\n", name));
      return kDone;
    }
    if (!reply.interrupted && word(field(reply.body, "state")) != "draining") {
      complain(call.shell, fmt::format("{} is not draining any more", name));
      return kFailed;
    }
    if (reply.interrupted || !call.shell.pause(interval)) {
      complain(call.shell, fmt::format("no longer waiting; the drain of {} goes on", name));
      return kFailed;
    }
  }
}

}  // namespace

int kill(const Call& call) {
  if (call.has("ID") == call.has("--backend")) {
    complain(call.shell,
             "kill takes either an ID or --backend POOL/BACKEND (see weirctl kill --help)");
    return kUsage;
  }
  const std::string target =
      call.has("ID") ? path({"sessions", call.value("ID")})
                     : path({"sessions"}) + query({{"backend", call.value("--backend")}});
  return show(call, {Method::remove, target}, [](const Json& body, WallTime) {
    const std::uint64_t closed = whole(field(body, "closed"));
    return std::vector<Line>{{{"closed " + plural(closed, "session")}}};
  });
}

int drain(const Call& call) {
  std::string body;
  if (call.has("--deadline")) body = Json{{"deadline", call.value("--deadline")}}.dump();
  const bool wait = call.has("--wait");
  if (wait) call.shell.hold_interrupts();
  const int code = order(call, body, "drain");
  return wait && code == kDone ? wait_until_drained(call) : code;
}

int disable(const Call& call) { return order(call, "", "disable"); }

int enable(const Call& call) { return order(call, "", "enable"); }

int circuit(const Call& call) { return order(call, "", "circuit", call.value("ACTION")); }

int shutdown(const Call& call) {
  return show(call, {Method::post, path({"shutdown"})}, [](const Json&, WallTime) {
    return std::vector<Line>{{{"weir drains, then exits"}}};
  });
}

std::string backend_sentence(const std::string& name, const Json& backend, WallTime now) {
  std::string text =
      fmt::format("{}: {}, circuit {}, {} active", name, word(field(backend, "state")),
                  circuit_cell(field(backend, "circuit")).text, word(field(backend, "active")));
  const auto until = until_of(backend);
  if (until) text += *until > now ? ", ends " + countdown_text(until, now) : ", ends now";
  return text;
}

}  // namespace weir::ctl
