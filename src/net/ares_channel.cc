#include "net/ares_channel.h"

#include <uv.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "net/uv_handle.h"
#include "weir/net/loop.h"

namespace weir::net {
namespace {

// c-ares wants its process-wide set-up exactly once.
struct Library {
  Library() { ares_library_init(ARES_LIB_INIT_ALL); }
  ~Library() { ares_library_cleanup(); }
};

AresChannel::Result to_result(int status, const ares_addrinfo* info) {
  AresChannel::Result result;
  if (status != ARES_SUCCESS) {
    result.error = ares_strerror(status);
    return result;
  }
  // The answer lives as long as the shortest-lived link of its chain: an alias is usually what an
  // operator moves.
  int ttl = std::numeric_limits<int>::max();
  for (const ares_addrinfo_node* node = info->nodes; node != nullptr; node = node->ai_next) {
    result.addresses.push_back(SocketAddress::from(node->ai_addr, node->ai_addrlen));
    ttl = std::min(ttl, node->ai_ttl);
  }
  for (const ares_addrinfo_cname* alias = info->cnames; alias != nullptr; alias = alias->next) {
    ttl = std::min(ttl, alias->ttl);
  }
  result.ttl = std::chrono::seconds(std::max(ttl, 0));
  if (result.addresses.empty()) result.error = "no addresses";
  return result;
}

}  // namespace

struct AresChannel::Poll {
  Poll(AresChannel& owner, Loop& loop, ares_socket_t watched)
      : channel(owner),
        socket(watched),
        handle(this, "uv_poll_init", [&loop, watched](uv_poll_t* poll) {
          return uv_poll_init_socket(loop.uv(), poll, watched);
        }) {}
  AresChannel& channel;
  ares_socket_t socket;
  UvHandle<uv_poll_t> handle;
};

AresChannel::AresChannel(Loop& loop, const ResolverOptions& options)
    : loop_(loop), timer_(loop, [this] {
        ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // looks at its timeouts
        arm_timer();
      }) {
  static const Library library;
  ares_options settings{};
  settings.timeout = static_cast<int>(
      std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count());
  settings.tries = options.tries;
  settings.sock_state_cb_data = this;
  settings.sock_state_cb = [](void* self, ares_socket_t socket, int read, int write) {
    static_cast<AresChannel*>(self)->watch(socket, read != 0, write != 0);
  };
  if (const int status = ares_init_options(
          &channel_, &settings, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
      status != ARES_SUCCESS) {
    throw std::runtime_error(std::string("name look-ups: ") + ares_strerror(status));
  }
  if (!options.servers.empty()) ares_set_servers_ports_csv(channel_, options.servers.c_str());
}

AresChannel::~AresChannel() { ares_destroy(channel_); }

void AresChannel::ask(const std::string& name, std::function<void(Result)> answer) {
  using Callback = std::function<void(Result)>;
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(
      channel_, name.c_str(), nullptr, &hints,
      [](void* argument, int status, int, ares_addrinfo* info) {
        const std::unique_ptr<Callback> callback(static_cast<Callback*>(argument));
        Result result = to_result(status, info);
        if (info != nullptr) ares_freeaddrinfo(info);
        (*callback)(std::move(result));
      },
      std::make_unique<Callback>(std::move(answer)).release());
  arm_timer();
}

void AresChannel::watch(ares_socket_t socket, bool read, bool write) {
  if (!read && !write) {
    polls_.erase(socket);
    return;
  }
  std::unique_ptr<Poll>& poll = polls_[socket];
  if (!poll) poll = std::make_unique<Poll>(*this, loop_, socket);
  uv_poll_start(poll->handle.get(), (read ? UV_READABLE : 0) | (write ? UV_WRITABLE : 0),
                [](uv_poll_t* handle, int status, int events) {
                  if (handle->data == nullptr) return;
                  // Processing may erase the poll: take what is needed before.
                  const auto* ready = static_cast<Poll*>(handle->data);
                  AresChannel& channel = ready->channel;
                  const ares_socket_t fd = ready->socket;
                  channel.loop_.refresh_now();
                  const bool both = status < 0;
                  ares_process_fd(channel.channel_,
                                  both || (events & UV_READABLE) != 0 ? fd : ARES_SOCKET_BAD,
                                  both || (events & UV_WRITABLE) != 0 ? fd : ARES_SOCKET_BAD);
                  channel.arm_timer();
                });
}

void AresChannel::arm_timer() {
  timeval left{};
  if (ares_timeout(channel_, nullptr, &left) == nullptr) {
    timer_.cancel();
    return;
  }
  timer_.arm(loop_.now() + std::chrono::seconds(left.tv_sec) +
             std::chrono::microseconds(left.tv_usec));
}

}  // namespace weir::net
