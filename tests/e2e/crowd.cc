#include "tests/e2e/crowd.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::e2e {
namespace {

constexpr milliseconds kLook(1);

}  // namespace

void Crowd::come(const net::SocketAddress& to, std::size_t more, At at) {
  for (std::size_t i = 0; i < more; ++i) {
    clients_.push_back(Stream::connect(to, {}, at));
    clients_.back().say("q", at);
  }
}

void Crowd::send_away_one(At at) {
  for (const auto until = Clock::now() + patience(); Clock::now() < until; silence(kLook)) {
    const auto served = std::find_if(clients_.begin(), clients_.end(),
                                     [](const Stream& client) { return client.unread() > 0; });
    if (served == clients_.end()) continue;
    served->hear("q", at);
    clients_.erase(served);
    return;
  }
  throw ScriptFailure("nobody is served", at);
}

void Crowd::expect_refused(std::size_t count, At at) {
  const auto refused = [this] {
    return std::count_if(clients_.begin(), clients_.end(),
                         [](const Stream& client) { return client.has_ended(); });
  };
  const auto wanted = static_cast<std::ptrdiff_t>(count);
  const auto until = Clock::now() + patience();
  while (refused() < wanted) {
    if (Clock::now() >= until) {
      throw ScriptFailure(fmt::format("{} are refused, not {}", refused(), count), at);
    }
    silence(kLook);
  }
  if (refused() != wanted) {
    throw ScriptFailure(fmt::format("{} are refused, more than {}", refused(), count), at);
  }
  std::erase_if(clients_, [](const Stream& client) { return client.has_ended(); });
}

}  // namespace weir::e2e
