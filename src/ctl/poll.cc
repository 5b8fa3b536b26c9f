#include "ctl/poll.h"

#include <utility>

namespace weir::ctl {

bool Poll::ask(const std::string& target, Json& answer) {
  Reply reply = fetch(call_.client, {.target = target});
  if (!reply.succeeded()) {
    view_.failure = reply.message();
    failed_ = std::move(reply);
    return false;
  }
  answer = std::move(reply.body);
  return true;
}

bool Poll::run() {
  constexpr std::size_t kept = 50;  // more than a screen shows
  Sample sample;
  if (!ask(path({"status"}), sample.status) || !ask(path({"listeners"}), sample.listeners) ||
      !ask(path({"pools"}), sample.pools)) {
    return false;
  }
  sample.at = call_.shell.steady_now();
  Follower::Step step = follower_.poll(call_.client);
  if (!step.reply.succeeded()) {
    view_.failure = step.reply.message();
    failed_ = std::move(step.reply);
    return false;
  }
  for (Json& event : step.events) view_.events.push_back(std::move(event));
  while (view_.events.size() > kept) view_.events.pop_front();
  view_.failure.clear();
  view_.rates = Rates(view_.sample, sample);
  view_.sample = std::move(sample);
  return true;
}

std::vector<Line> Poll::frame(ScreenSize size) const {
  return ctl::frame(view_, call_.shell.now(), size);
}

}  // namespace weir::ctl
