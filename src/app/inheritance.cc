#include "app/inheritance.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/service_manager.h"
#include "weir/net/child.h"
#include "weir/net/log.h"

namespace weir::app {
namespace {

// The process before us is at work: what it has to say it says at once, but for the time that its
// machine may keep it from it.
constexpr std::chrono::seconds kPatience(20);

}  // namespace

std::unique_ptr<Inheritance> Inheritance::take() {
  std::unique_ptr<Inheritance> taken(new Inheritance);
  std::vector<net::Descriptor> descriptors;
  if (std::getenv(kVariable) != nullptr) {
    ::unsetenv(kVariable);
    ::fcntl(net::Child::kInherited, F_SETFD, FD_CLOEXEC);
    taken->upgrade_ = true;
    taken->channel_ = net::Channel(net::Descriptor(net::Child::kInherited));
    std::optional<net::Channel::Message> message = taken->channel_.receive(kPatience);
    if (!message) throw std::runtime_error("upgrade: the process before this one says nothing");
    const Welcome welcome = read_welcome(message->text);
    if (welcome.sockets != message->descriptors.size()) {
      throw std::runtime_error("upgrade: sockets are missing");
    }
    taken->owns_paths_ = welcome.owns_paths;
    descriptors = std::move(message->descriptors);
  } else {
    descriptors = service_manager::take_sockets();
  }
  taken->given_ = descriptors.size();
  for (std::size_t number = 0; number < descriptors.size(); ++number) {
    net::ListenSocket socket = net::ListenSocket::adopt(std::move(descriptors[number]));
    if (socket.is_unix() && !taken->upgrade_) taken->owns_paths_ = false;
    if (socket) taken->sockets_.push_back({number, std::move(socket)});
  }
  return taken;
}

std::unique_ptr<Inheritance> Inheritance::of(std::vector<net::ListenSocket> sockets) {
  std::unique_ptr<Inheritance> taken(new Inheritance);
  taken->given_ = sockets.size();
  for (std::size_t number = 0; number < sockets.size(); ++number) {
    taken->sockets_.push_back({number, std::move(sockets[number])});
  }
  return taken;
}

void Inheritance::refuse(const std::string& why) {
  Ready ready;
  ready.failure = why;
  channel_.send(text(ready), kPatience);
}

// The one before ends us before it goes on itself: when it is gone, nobody serves but us.
State Inheritance::outlive() {
  if (!channel_.peer_gone()) {
    throw std::runtime_error("upgrade: the process before says nothing any more");
  }
  net::log(net::LogLevel::warning, "upgrade", "the process before has ended without a word");
  draining_.clear();
  return {};
}

State Inheritance::take_over() {
  Ready ready;
  std::vector<bool> left(given_, false);
  for (const Rebinding::Inherited& each : sockets_) left[each.number] = true;
  for (std::size_t number = 0; number < given_; ++number) {
    if (!left[number]) ready.adopted.push_back(number);
  }
  channel_.send(text(ready), kPatience);
  std::optional<net::Channel::Message> state = channel_.receive(kPatience);
  std::optional<net::Channel::Message> report = channel_.receive(kPatience);
  if (!state || !report) return outlive();
  for (net::Descriptor& descriptor : state->descriptors) {
    const std::optional<net::Channel::Message> last = channel_.receive(kPatience);
    if (!last) return outlive();
    draining_.push_back({net::Channel(std::move(descriptor)), read_report(last->text)});
  }
  draining_.push_back({{}, read_report(report->text)});
  return read_state(state->text);
}

void Inheritance::serves() { channel_.send(kServes, kPatience); }

}  // namespace weir::app
