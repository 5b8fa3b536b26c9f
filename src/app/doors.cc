#include "app/doors.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "app/file_access.h"
#include "weir/net/log.h"

namespace weir::app {
namespace {

// The folder of the default socket is weir's own; any other is its owner's to make.
void make_default_folder() {
  constexpr mode_t kForAllToEnter = 0755;
  ::mkdir("/run/weir", kForAllToEnter);
}

}  // namespace

std::size_t Doors::most_connections(std::size_t descriptor_limit) {
  constexpr std::size_t kShare = 32;
  return std::clamp<std::size_t>(descriptor_limit / kShare, 4, 128);
}

std::size_t Doors::descriptors(const AppOptions& options, std::size_t most_connections) {
  constexpr std::size_t kOwn = 2;  // its socket and the set that watches the connections
  const std::size_t each = most_connections + kOwn;
  return (options.admin_socket.empty() ? 0 : each) + (options.http_listen ? each : 0);
}

std::optional<std::string> Doors::open(const AppOptions& options) {
  if (!options.admin_socket.empty()) {
    if (auto failure = open_admin_socket(options)) return failure;
  }
  if (auto failure = prepare(options)) return "http.listen: " + *failure;
  adopt();
  return std::nullopt;
}

std::optional<std::string> Doors::open_admin_socket(const AppOptions& options) {
  const bool asked_for = options.admin_socket != AppOptions().admin_socket;
  if (!asked_for) make_default_folder();
  core::Endpoint endpoint;
  endpoint.kind = core::Endpoint::Kind::unix_path;
  endpoint.host = options.admin_socket;
  net::FileAccess access;
  std::string error;
  admin_ = std::make_unique<admin::ApiServer>(loop_, control_, admin::ApiServer::Scope::full,
                                              most_connections_);
  if (look_up_access(options, access, error) && admin_->listen(endpoint, access, error)) {
    net::log(net::LogLevel::info, "weir", "admin socket at {}", options.admin_socket);
    return std::nullopt;
  }
  admin_.reset();
  const std::string what = "admin socket " + options.admin_socket + ": " + error;
  if (asked_for) return what;
  net::log(net::LogLevel::warning, "weir", "{}; going on without (set admin.socket)", what);
  return std::nullopt;
}

std::optional<std::string> Doors::open_http(const core::Endpoint& endpoint, Server& server) {
  std::string error;
  server = std::make_unique<admin::ApiServer>(loop_, control_, admin::ApiServer::Scope::read_only,
                                              most_connections_);
  if (server->listen(endpoint, {}, error)) return std::nullopt;
  return endpoint.text() + ": " + error;
}

std::optional<std::string> Doors::prepare(const AppOptions& options) {
  next_.reset();
  if (options.http_listen == http_endpoint_) return std::nullopt;
  Next next{options.http_listen, nullptr};
  if (next.endpoint) {
    if (auto failure = open_http(*next.endpoint, next.server)) return failure;
  }
  next_ = std::move(next);
  return std::nullopt;
}

void Doors::adopt() {
  if (!next_) return;
  if (next_->endpoint) {
    net::log(net::LogLevel::info, "weir", "metrics at http://{}/metrics",
             next_->server->address().text());
  }
  http_endpoint_ = next_->endpoint;
  before_ = std::exchange(http_, std::move(next_->server));
  next_.reset();
  close_.arm(loop_.refresh_now());
}

}  // namespace weir::app
