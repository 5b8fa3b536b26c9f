#include "admin/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "weir/net/log.h"
#include "weir/net/loop.h"

namespace weir::admin {
namespace {

// A request's head, and what libmicrohttpd needs beside it; more is 431.
constexpr std::size_t kMemoryPerConnection = 32 * 1024;

// How often libmicrohttpd is asked again at once while it says that it has more to do.
constexpr int kRunsInARow = 16;

// What somebody may go on sending of a body that is too large before the connection is cut. Who
// stops within it reads why; libmicrohttpd lets nobody answer in the middle of a body.
constexpr std::size_t kMostDropped = 64 * 1024 * 1024;

constexpr std::size_t kBodiesAtOnce = 4;

// An answer up to this size is not refused for what others leave unread: all connections together
// hold no more of these than of requests' heads.
constexpr std::size_t kSmallAnswer = 16 * 1024;

MHD_Daemon* as_daemon(void* daemon) { return static_cast<MHD_Daemon*>(daemon); }

HttpResponse too_large(std::size_t most) {
  return error_response(413, "too_large",
                        "the body is larger than " + std::to_string(most) + " bytes");
}

// The text of an answer, counted for as long as it is there.
struct Body {
  Body(std::string of, std::shared_ptr<Unsent> counted)
      : text(std::move(of)), unsent(std::move(counted)) {
    unsent->bytes += text.size();
  }
  ~Body() { unsent->bytes -= text.size(); }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  std::string text;
  const std::shared_ptr<Unsent> unsent;
};

MHD_Result queue(MHD_Connection* connection, HttpResponse answer,
                 const std::shared_ptr<Unsent>& unsent) {
  // libmicrohttpd sends straight from the text and then gives it back: no copy.
  auto body = std::make_unique<Body>(std::move(answer.body), unsent);
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      body->text.size(), body->text.data(), [](void* owned) { delete static_cast<Body*>(owned); },
      body.get());
  if (response == nullptr) return MHD_NO;
  static_cast<void>(body.release());
  const auto add = [response](const char* name, std::string_view value) {
    MHD_add_response_header(response, name, std::string(value).c_str());
  };
  add(MHD_HTTP_HEADER_CONTENT_TYPE, answer.type);
  add(MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  add("X-Content-Type-Options", "nosniff");
  if (!answer.policy.empty()) {
    add("Content-Security-Policy", answer.policy);
    add("Referrer-Policy", "no-referrer");
  }
  if (answer.last) add(MHD_HTTP_HEADER_CONNECTION, "close");
  if (!answer.allow.empty()) add(MHD_HTTP_HEADER_ALLOW, answer.allow);
  const MHD_Result queued =
      MHD_queue_response(connection, static_cast<unsigned>(answer.status), response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

// One connection, and the request that is being read from it.
struct HttpServer::Connection {
  Connection(HttpServer& of, int socket) : server(of), fd(socket) {}

  HttpServer& server;
  const int fd;
  bool leaving = false;  // shut down by us, and about to be closed
  std::list<Connection>::iterator place{};

  std::string target;
  std::string body;
  std::size_t dropped = 0;
  int refusal = 0;  // the status that the body has earned, once it has been read to its end
  bool begun = false;

  void begin(std::string_view uri) {
    forget();
    target = uri.substr(0, kMostTarget + 1);
  }
  void forget() {
    server.bodies_ -= body.size();
    body = {};
    dropped = 0;
    refusal = 0;
    begun = false;
  }
};

// What libmicrohttpd calls. Nothing may be thrown through it.
class HttpServer::Callbacks {
 public:
  static void* on_target(void* cls, const char* uri, MHD_Connection* mhd) {
    static_cast<void>(cls);
    Connection* connection = find(mhd);
    if (connection != nullptr) connection->begin(uri);
    return connection;
  }

  static MHD_Result on_request(void* cls, MHD_Connection* mhd, const char*, const char* method,
                               const char*, const char* upload, std::size_t* upload_size, void**) {
    auto& server = *static_cast<HttpServer*>(cls);
    Connection* connection = find(mhd);
    if (connection == nullptr) return MHD_NO;
    server.touch(*connection);
    try {
      if (!std::exchange(connection->begun, true)) return begin(server, mhd, method);
      if (*upload_size > 0) {
        const std::size_t size = std::exchange(*upload_size, 0);
        return take(server, *connection, method, {upload, size}) ? MHD_YES : MHD_NO;
      }
      return queue(mhd, answer(server, *connection, method), server.options_.unsent);
    } catch (const std::exception& error) {
      return fail(server, mhd, error.what());
    }
  }

  static void on_completed(void*, MHD_Connection*, void** context, MHD_RequestTerminationCode) {
    if (*context == nullptr) return;
    auto& connection = *static_cast<Connection*>(*context);
    connection.forget();
    connection.server.touch(connection);
  }

  static void on_connection(void* cls, MHD_Connection* mhd, void** context,
                            MHD_ConnectionNotificationCode code) {
    auto& server = *static_cast<HttpServer*>(cls);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      auto& connection = *static_cast<Connection*>(*context);
      connection.forget();
      if (connection.leaving) --server.leaving_;
      server.connections_.erase(connection.place);
      return;
    }
    const int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    Connection& made = server.connections_.emplace_back(server, fd);
    made.place = std::prev(server.connections_.end());
    *context = &made;
  }

 private:
  static Connection* find(MHD_Connection* mhd) {
    return static_cast<Connection*>(
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
  }

  static bool keeps_body(std::string_view method) {
    return method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD;
  }

  // The head is there. A body that says that it is too large is refused before it is sent, which
  // ends the connection.
  static MHD_Result begin(const HttpServer& server, MHD_Connection* mhd, std::string_view method) {
    const char* length =
        MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (length == nullptr || !keeps_body(method) || server.options_.most_body == 0) return MHD_YES;
    std::uint64_t size = 0;
    const auto read = std::from_chars(length, length + std::strlen(length), size);
    const bool huge = read.ec == std::errc::result_out_of_range;
    if (!huge && size <= server.options_.most_body) return MHD_YES;
    return queue(mhd, too_large(server.options_.most_body), server.options_.unsent);
  }

  // False cuts the connection.
  static bool take(HttpServer& server, Connection& connection, std::string_view method,
                   std::string_view upload) {
    const HttpOptions& options = server.options_;
    if (keeps_body(method) && options.most_body > 0 && connection.refusal == 0) {
      if (connection.body.size() + upload.size() > options.most_body) {
        connection.refusal = 413;
      } else if (server.bodies_ + upload.size() > kBodiesAtOnce * options.most_body) {
        connection.refusal = 503;
      } else {
        server.bodies_ += upload.size();
        connection.body += upload;
        return true;
      }
      server.bodies_ -= connection.body.size();
      connection.body = {};
    }
    connection.dropped += upload.size();
    return connection.dropped <= kMostDropped;
  }

  static HttpResponse answer(HttpServer& server, Connection& connection, std::string_view method) {
    if (connection.refusal == 413) return too_large(server.options_.most_body);
    if (connection.refusal != 0) {
      return error_response(503, "busy", "too many bodies at once; try again");
    }
    if (connection.target.size() > kMostTarget) {
      return error_response(414, "too_large", "the request's target is too long");
    }
    HttpRequest request;
    request.method = method == MHD_HTTP_METHOD_HEAD ? MHD_HTTP_METHOD_GET : std::string(method);
    request.target = connection.target;
    if (!split_target(request)) {
      return error_response(400, "bad_request",
                            "a % in the target must be followed by two hexadecimal digits");
    }
    server.bodies_ -= connection.body.size();
    request.body = std::exchange(connection.body, {});
    return server.answer(request);
  }

  static MHD_Result fail(HttpServer& server, MHD_Connection* mhd, const char* what) {
    try {
      net::log(net::LogLevel::error, "admin", "a request failed: {}", what);
      return queue(mhd, error_response(500, "internal", what), server.options_.unsent);
    } catch (...) {
      return MHD_NO;
    }
  }
};

void HttpServer::StopDaemon::operator()(void* daemon) const { MHD_stop_daemon(as_daemon(daemon)); }

HttpServer::HttpServer(net::Loop& loop, net::ListenSocket socket, const HttpOptions& options,
                       Handler handler)
    : loop_(loop),
      options_(options),
      handler_(std::move(handler)),
      timer_(loop, [this] { run(); }),
      acceptor_(new net::Acceptor(loop, std::move(socket), *this)) {
  const auto idle = std::chrono::ceil<std::chrono::seconds>(options_.idle).count();
  // No error log: it would complain of each unix socket that it cannot be told TCP_NODELAY. Of the
  // limit: those who leave are still counted for a moment.
  daemon_.reset(MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, nullptr, nullptr, &Callbacks::on_request, this,
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(2 * options_.most_connections),
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(idle),
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMemoryPerConnection, MHD_OPTION_URI_LOG_CALLBACK,
      &Callbacks::on_target, this, MHD_OPTION_NOTIFY_COMPLETED, &Callbacks::on_completed, this,
      MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::on_connection, this, MHD_OPTION_END));
  if (!daemon_) throw std::runtime_error("cannot start the HTTP server");
  const MHD_DaemonInfo* set =
      MHD_get_daemon_info(as_daemon(daemon_.get()), MHD_DAEMON_INFO_EPOLL_FD);
  watch_ = std::make_unique<net::Watch>(loop, set->epoll_fd, [this] { run(); });
}

HttpResponse HttpServer::answer(const HttpRequest& request) {
  const std::size_t unsent = options_.unsent->bytes;
  // Before anything is done: an order that is refused has not been carried out.
  if (unsent > 2 * options_.most_unsent) return refuse_for_unsent();
  HttpResponse response = handler_(request);
  const std::size_t size = response.body.size();
  const bool fits = unsent == 0 || size <= kSmallAnswer || unsent + size <= options_.most_unsent;
  return fits || request.method != MHD_HTTP_METHOD_GET ? std::move(response) : refuse_for_unsent();
}

HttpResponse HttpServer::refuse_for_unsent() {
  std::uint64_t held_back = 0;
  if (unsent_rate_.admit(loop_.now(), held_back)) {
    net::log(net::LogLevel::warning, "admin",
             "{} bytes of answers wait for clients that do not read them: requests are refused{}",
             options_.unsent->bytes,
             held_back == 0 ? "" : fmt::format("; {} more since this was last said", held_back));
  }
  return error_response(503, "busy", "too many answers wait for clients to read them; try again");
}

void HttpServer::leave() {
  acceptor_->socket().disown();
  acceptor_.reset();
}

HttpServer::~HttpServer() {
  watch_.reset();  // before the set that it watches
  daemon_.reset();
}

void HttpServer::on_accepted(net::Descriptor socket, const net::SocketAddress& peer) {
  if (connections_.size() - leaving_ >= options_.most_connections) make_room();
  // Closes the descriptor, too, when it does not take it.
  MHD_add_connection(as_daemon(daemon_.get()), socket.release(), peer.generic(), peer.length());
}

void HttpServer::on_accept_error(net::AcceptError error) {
  static_cast<void>(error);  // the acceptor waits a little and tries again
}

// libmicrohttpd sees the end of the quietest in its next run, or in the one after.
void HttpServer::make_room() {
  const auto quietest = std::find_if(connections_.begin(), connections_.end(),
                                     [](const Connection& each) { return !each.leaving; });
  if (quietest == connections_.end()) return;
  quietest->leaving = true;
  ++leaving_;
  ::shutdown(quietest->fd, SHUT_RDWR);
  run();
}

void HttpServer::touch(Connection& connection) {
  connections_.splice(connections_.end(), connections_, connection.place);
}

void HttpServer::run() {
  MHD_UNSIGNED_LONG_LONG wait = 0;
  bool waits = true;
  for (int i = 0; i < kRunsInARow && waits && wait == 0; ++i) {
    MHD_run(as_daemon(daemon_.get()));
    waits = MHD_get_timeout(as_daemon(daemon_.get()), &wait) == MHD_YES;
  }
  if (!waits) return timer_.cancel();
  timer_.arm(loop_.now() + std::chrono::milliseconds(wait));
}

}  // namespace weir::admin
