#include "ctl/events.h"

#include <utility>

namespace weir::ctl {
namespace {

using namespace std::chrono_literals;

std::uint64_t since_of(const Call& call) {
  const std::string text = call.value("--since");
  return text.empty() ? 0 : std::stoull(text);
}

int follow(const Call& call) {
  constexpr auto interval = 1s;
  call.shell.hold_interrupts();
  Follower follower(since_of(call));
  bool answered = false;
  do {
    const Follower::Step step = follower.poll(call.client);
    if (step.reply.interrupted) break;
    // Trying on is for a weir that was there: before, a wrong socket is a mistake to be told.
    if (!answered && !step.reply.succeeded()) return refuse(call, step.reply);
    answered = true;
    for (const std::string& notice : step.notices) complain(call.shell, notice);
    for (const Json& event : step.events) {
      say(call.shell,
          call.json ? written(event) + "\n" : text_of({event_line(event)}, call.shell.colours));
    }
  } while (call.shell.pause(interval));
  return kDone;
}

}  // namespace

int events(const Call& call) {
  if (call.has("--follow")) return follow(call);
  const std::string since = call.value("--since");
  return show(call, {.target = path({"events"}) + query({{"since", since}})},
              [](const Json& body, WallTime) {
                std::vector<Line> lines;
                for (const Json& event : list(body, "events")) lines.push_back(event_line(event));
                return lines;
              });
}

Follower::Step Follower::poll(Client& client) {
  Step step;
  if (away_) recognise(client, step);
  for (int tries = 0; tries < 2; ++tries) {
    step.reply = fetch(client, {.target = journal_.target()});
    if (!step.reply.succeeded()) {
      if (!std::exchange(away_, true) && !step.reply.interrupted) {
        step.notices.push_back(step.reply.message() + "; trying again");
      }
      return step;
    }
    if (std::exchange(away_, false) && answered_) step.notices.push_back("weir answers again");
    answered_ = true;
    Journal::News news = journal_.take(step.reply.body);
    if (news.lost > 0) {
      step.notices.push_back(fmt::format("{} came and went unseen: the journal holds no more",
                                         plural(news.lost, "event")));
    }
    step.events = std::move(news.events);
    if (!news.restarted) break;
    step.notices.push_back("weir has been restarted");
  }
  return step;
}

void Follower::recognise(Client& client, Step& step) {
  const Reply reply = fetch(client, {.target = path({"status"})});
  if (!reply.succeeded()) return;
  const std::uint64_t pid = whole(field(reply.body, "pid"));
  const std::uint64_t before = std::exchange(pid_, pid);
  if (before == 0 || before == pid) return;
  journal_.begin_anew();
  step.notices.push_back("weir has been restarted");
}

}  // namespace weir::ctl
