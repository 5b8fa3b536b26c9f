#include "ctl/call.h"

namespace weir::ctl {

Target target_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::string Reply::message() const {
  if (!failure.empty()) return failure;
  const Json& said = field(field(body, "error"), "message");
  if (said.is_string()) return word(said);
  return fmt::format("weir refused with status {}", status);
}

Reply fetch(Client& client, const Request& request) {
  Answer answer = client.send(request);
  Reply reply{.status = answer.status,
              .failure = std::move(answer.failure),
              .interrupted = answer.interrupted};
  if (!reply.failure.empty()) return reply;
  reply.body = Json::parse(answer.body, nullptr, false);
  if (reply.body.is_discarded()) {
    reply.body = nullptr;
    reply.failure =
        fmt::format("the answer to {} is not JSON (status {}): is this weir's admin socket?",
                    request.target, answer.status);
  }
  return reply;
}

std::string json_text(const Json& body) { return written(body, 2) + "\n"; }

int show(const Call& call, const Request& request, Text text) {
  const Reply reply = fetch(call.client, request);
  if (!reply.succeeded()) return refuse(call, reply);
  say(call.shell, call.json ? json_text(reply.body)
                            : text_of(text(reply.body, call.shell.now()), call.shell.colours));
  return kDone;
}

int refuse(const Call& call, const Reply& reply) {
  if (call.json && reply.failure.empty()) say(call.shell, json_text(reply.body));
  complain(call.shell, reply.message());
  return kFailed;
}

}  // namespace weir::ctl
