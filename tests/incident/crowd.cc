#include "tests/incident/crowd.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace weir::e2e {
namespace {

constexpr milliseconds kTick = 2ms;

}  // namespace

double Crowd::Slice::share() const {
  return came == 0 ? 1 : static_cast<double>(answered) / static_cast<double>(came);
}

Crowd::Crowd(const net::SocketAddress& to, const Patience& patience, milliseconds slice)
    : to_(to), patience_(patience), slice_(slice) {}

std::vector<Crowd::Slice> Crowd::run(const std::vector<Load>& loads,
                                     const std::function<void()>& look) {
  const auto start = Clock::now();
  auto load_began = start;
  double due = 0;  // clients of this load that should have come by now
  std::size_t came = 0;
  for (std::size_t load = 0; load < loads.size() || !clients_.empty();) {
    const auto now = Clock::now();
    if (load < loads.size()) {
      const auto slice = static_cast<std::size_t>((now - start) / slice_);
      due = loads[load].per_second * std::min(std::chrono::duration<double>(now - load_began),
                                              std::chrono::duration<double>(loads[load].lasts))
                                         .count();
      for (; static_cast<double>(came) < due; ++came) come(now, slice);
      if (now - load_began >= loads[load].lasts) {
        load_began += loads[load].lasts;
        came = 0;
        ++load;
      }
    }
    std::vector<pollfd> watched;
    for (const Client& each : clients_) {
      const bool connecting = !each.asked;
      watched.push_back({each.socket.get(), static_cast<short>(connecting ? POLLOUT : POLLIN), 0});
    }
    ::poll(watched.data(), watched.size(), static_cast<int>(kTick.count()));
    const auto then = Clock::now();
    for (std::size_t i = 0; i < watched.size(); ++i) turn(clients_[i], then, watched[i].revents);
    std::erase_if(clients_, [](const Client& each) { return each.over; });
    look();
  }
  return slices_;
}

void Crowd::come(Clock::time_point now, std::size_t slice) {
  if (slices_.size() <= slice) slices_.resize(slice + 1);
  ++slices_[slice].came;
  clients_.push_back({slice, now + patience_.deadline, {}, {}, false, false});
  connect(clients_.back(), now);
}

void Crowd::connect(Client& client, Clock::time_point now) {
  client.began = now;
  client.asked = false;
  client.socket =
      PeerDescriptor(::socket(to_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!client.socket) throw ScriptFailure("no descriptor for a client", At::here());
  // Whoever gives up leaves by a reset, and no port waits for its time.
  const linger reset{1, 0};
  ::setsockopt(client.socket.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  if (::connect(client.socket.get(), to_.generic(), to_.length()) != 0 && errno != EINPROGRESS) {
    client.socket.close();
  }
}

void Crowd::turn(Client& client, Clock::time_point now, short events) {
  if (client.socket && events != 0) {
    if (!client.asked) {
      client.asked = ::send(client.socket.get(), "q", 1, MSG_NOSIGNAL) == 1;
      if (!client.asked) client.socket.close();
    } else {
      char answer = 0;
      const ssize_t count = ::recv(client.socket.get(), &answer, 1, 0);
      if (count == 1) {
        ++slices_[client.slice].answered;
        client.over = true;
      } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        client.socket.close();
      }
    }
  }
  if (now >= client.gives_up) client.over = true;
  if (!client.over && !client.socket && now >= client.began + patience_.pause) {
    connect(client, now);
  }
}

}  // namespace weir::e2e
