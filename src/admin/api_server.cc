#include "weir/admin/api_server.h"

#include <utility>

#include "admin/http_message.h"
#include "admin/http_server.h"
#include "admin/router.h"

namespace weir::admin {
namespace {

HttpOptions options(ApiServer::Scope scope, std::size_t most_connections,
                    const std::shared_ptr<Unsent>& unsent) {
  HttpOptions made;
  made.most_connections = most_connections;
  made.unsent = unsent;
  // That of the largest configuration file, which `plan` and `reload` take.
  if (scope == ApiServer::Scope::full) made.most_body = 4 * 1024 * 1024;
  return made;
}

net::ListenOptions listening(const core::Endpoint& endpoint, const net::FileAccess& access) {
  net::ListenOptions options;
  if (endpoint.kind == core::Endpoint::Kind::unix_path) options.access = access;
  return options;
}

}  // namespace

ApiServer::ApiServer(net::Loop& loop, Control& control, Scope scope, std::size_t most_connections,
                     std::shared_ptr<Unsent> unsent)
    : loop_(loop),
      scope_(scope),
      most_connections_(most_connections),
      unsent_(std::move(unsent)),
      router_(std::make_unique<Router>(control,
                                       scope == Scope::full ? all_routes() : read_only_routes())) {}

ApiServer::~ApiServer() = default;

bool ApiServer::listen(const core::Endpoint& endpoint, const net::FileAccess& access,
                       std::string& error) {
  net::ListenSocket socket = net::ListenSocket::open(endpoint, listening(endpoint, access), error);
  if (!socket) return false;
  serve(std::move(socket));
  return true;
}

bool ApiServer::bind(const core::Endpoint& endpoint, const net::FileAccess& access,
                     std::string& error) {
  bound_ = net::ListenSocket::bind(endpoint, listening(endpoint, access), error);
  return static_cast<bool>(bound_);
}

bool ApiServer::begin(std::string& error) {
  if (server_) return true;
  if (!bound_.listen(error)) return false;
  serve(std::move(bound_));
  return true;
}

void ApiServer::serve(net::ListenSocket socket) {
  server_ = std::make_unique<HttpServer>(
      loop_, std::move(socket), options(scope_, most_connections_, unsent_),
      [this](const HttpRequest& request) { return answer(request); });
}

net::ListenSocket ApiServer::share() const { return server_->socket().share(); }

bool ApiServer::take_path(const net::FileAccess& access, std::string& error) {
  return server_->socket().take_path(access, error);
}

void ApiServer::leave() {
  left_ = true;
  server_->leave();
}

// Who has asked already is told what there is to tell here; orders are for the other process.
HttpResponse ApiServer::answer(const HttpRequest& request) {
  HttpResponse response =
      left_ && request.method != "GET"
          ? error_response(503, "upgraded", "another process serves by now: ask once more")
          : router_->answer(request);
  response.last = left_;
  return response;
}

net::SocketAddress ApiServer::address() const {
  return server_ ? server_->address() : bound_.address();
}

}  // namespace weir::admin
