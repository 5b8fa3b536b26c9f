#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "admin/http_message.h"
#include "weir/admin/unsent.h"
#include "weir/core/time.h"
#include "weir/net/acceptor.h"
#include "weir/net/listen_socket.h"
#include "weir/net/log.h"
#include "weir/net/timer.h"
#include "weir/net/watch.h"

namespace weir::net {
class Loop;
}

namespace weir::admin {

struct HttpOptions {
  // Each costs a descriptor that no session can have, and up to 32 KiB for its request's head. When
  // there are so many, the one that has been quiet for longest makes room for the next: whoever
  // comes gets in, and nobody can keep others out by connecting and saying nothing.
  std::size_t most_connections = 128;
  // Without a byte in either direction. Whole seconds; libmicrohttpd counts no finer.
  core::Duration idle = std::chrono::seconds(30);
  // Of one request; 0 = bodies are read and dropped. More is refused with 413 as soon as it is
  // known. All bodies under way together may be four times as large; then it is 503 for one more.
  std::size_t most_body = 0;
  // Bytes of answers that clients have not read, of all who share `unsent`: a GET that would add to
  // more than that is 503, unless its answer is small or the only one. Orders are not refused for
  // what others do not read, up to twice as much; beyond it everything is.
  std::size_t most_unsent = Unsent::kMost;
  std::shared_ptr<Unsent> unsent = std::make_shared<Unsent>();
};

// HTTP/1.1 on one listening socket, with libmicrohttpd on the loop of the control thread: no thread
// of its own, nothing waits for a client, a request is answered once it is whole. Loop thread only;
// destroying it closes everything at once.
class HttpServer final : net::Acceptor::Owner {
 public:
  // Called in a turn of the loop for each request; must not destroy the server. What it throws is
  // answered with 500.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  static constexpr std::size_t kMostTarget = 8 * 1024;  // bytes of a request's target; more is 414

  HttpServer(net::Loop& loop, net::ListenSocket socket, const HttpOptions& options,
             Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Until leave().
  net::ListenSocket& socket() { return acceptor_->socket(); }
  net::SocketAddress address() { return acceptor_->socket().address(); }
  // Accepts nobody any more: the socket, with its file and with whoever waits there, is another
  // process's. Connections go on.
  void leave();
  std::size_t connections() const { return connections_.size(); }

 private:
  struct Connection;
  class Callbacks;  // what libmicrohttpd calls
  struct StopDaemon {
    void operator()(void* daemon) const;
  };

  bool may_accept() override { return true; }
  void on_accepted(net::Descriptor socket, const net::SocketAddress& peer) override;
  void on_accept_error(net::AcceptError error) override;
  void on_batch_over() override { run(); }
  void on_drained() override {}

  void run();
  void touch(Connection& connection);
  void make_room();
  HttpResponse answer(const HttpRequest& request);
  HttpResponse refuse_for_unsent();

  net::Loop& loop_;
  const HttpOptions options_;
  const Handler handler_;
  // Those that have said something last are at the back. Some at the front may be leaving.
  std::list<Connection> connections_;
  std::size_t leaving_ = 0;
  std::size_t bodies_ = 0;  // bytes of the bodies under way
  net::LogRate unsent_rate_{std::chrono::seconds(10)};
  std::unique_ptr<void, StopDaemon> daemon_;
  net::Timer timer_;
  std::unique_ptr<net::Watch> watch_;
  std::unique_ptr<net::Acceptor> acceptor_;
};

}  // namespace weir::admin
