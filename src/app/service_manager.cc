#include "app/service_manager.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <chrono>

#include "weir/net/steady_clock.h"

namespace weir::app::service_manager {

void ready() { ::sd_notify(0, fmt::format("READY=1\nMAINPID={}", ::getpid()).c_str()); }

// systemd wants to know since when: it is answered by the READY after this moment.
void reloading() {
  const auto now =
      std::chrono::duration_cast<std::chrono::microseconds>(net::steady_now().time_since_epoch());
  ::sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.count()).c_str());
}

void stopping() { ::sd_notify(0, "STOPPING=1"); }

std::vector<net::Descriptor> take_sockets() {
  std::vector<net::Descriptor> sockets;
  constexpr int kForget = 1;  // children are not given them again
  const int count = ::sd_listen_fds(kForget);
  for (int i = 0; i < count; ++i) sockets.emplace_back(SD_LISTEN_FDS_START + i);
  return sockets;
}

}  // namespace weir::app::service_manager
