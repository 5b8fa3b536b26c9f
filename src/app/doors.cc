#include "app/doors.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "app/file_access.h"
#include "weir/net/log.h"

namespace weir::app {
namespace {

constexpr std::size_t kHttpPart = 4;

// The folder of the default socket is weir's own; any other is its owner's to make.
void make_default_folder() {
  constexpr mode_t kForAllToEnter = 0755;
  ::mkdir("/run/weir", kForAllToEnter);
}

// For requests that have come: they are answered in the next turns.
constexpr std::chrono::seconds kAnswerWithin(1);

// Empty when none is at this address.
net::ListenSocket take_one(std::vector<Rebinding::Inherited>& inherited,
                           const core::Endpoint& endpoint) {
  const std::string address = net::SocketAddress::from(endpoint).text();
  const auto found = std::find_if(inherited.begin(), inherited.end(), [&address](const auto& each) {
    return each.socket.address().text() == address;
  });
  if (found == inherited.end()) return {};
  net::ListenSocket socket = std::move(found->socket);
  inherited.erase(found);
  return socket;
}

}  // namespace

std::size_t Doors::most_connections(std::size_t descriptor_limit) {
  constexpr std::size_t kShare = 32;
  return std::clamp<std::size_t>(descriptor_limit / kShare, 8, 512);
}

std::size_t Doors::descriptors(const AppOptions& options, std::size_t most_connections) {
  constexpr std::size_t kOwn = 2;  // its socket and the set that watches the connections
  return (options.admin_socket.empty() ? 0 : most_connections + kOwn) +
         (options.http_listen ? most_connections / kHttpPart + kOwn : 0);
}

std::optional<std::string> Doors::open(const AppOptions& options,
                                       std::vector<Rebinding::Inherited>& inherited,
                                       Listening listening) {
  listening_ = listening;
  if (!options.admin_socket.empty()) {
    if (auto failure = open_admin_socket(options, inherited)) return failure;
  }
  if (auto failure = prepare(options, inherited)) return "http.listen: " + *failure;
  adopt();
  return std::nullopt;
}

bool Doors::open_one(admin::ApiServer& server, const core::Endpoint& endpoint,
                     const net::FileAccess& access, std::string& error) const {
  return listening_ == Listening::later ? server.bind(endpoint, access, error)
                                        : server.listen(endpoint, access, error);
}

void Doors::listen() {
  listening_ = Listening::at_once;
  for (Server* door : {&admin_, &http_}) {
    if (!*door) continue;
    const std::string address = (*door)->address().text();
    std::string error;
    try {
      if ((*door)->begin(error)) continue;
    } catch (const std::exception& problem) {  // no descriptor, no memory
      error = problem.what();
    }
    net::log(net::LogLevel::error, "weir", "{}: {}; it is not served", address, error);
    if (door == &http_) http_endpoint_.reset();  // a reload may try again
    door->reset();
  }
}

std::optional<std::string> Doors::open_admin_socket(const AppOptions& options,
                                                    std::vector<Rebinding::Inherited>& inherited) {
  const bool asked_for = options.admin_socket != AppOptions().admin_socket;
  if (!asked_for) make_default_folder();
  core::Endpoint endpoint;
  endpoint.kind = core::Endpoint::Kind::unix_path;
  endpoint.host = options.admin_socket;
  net::FileAccess access;
  std::string error;
  admin_ = std::make_unique<admin::ApiServer>(loop_, control_, admin::ApiServer::Scope::full,
                                              most_connections_);
  if (net::ListenSocket adopted = take_one(inherited, endpoint)) {
    admin_->serve(std::move(adopted));
    return std::nullopt;
  }
  if (look_up_access(options, access, error) && open_one(*admin_, endpoint, access, error)) {
    net::log(net::LogLevel::info, "weir", "admin socket at {}", options.admin_socket);
    return std::nullopt;
  }
  admin_.reset();
  const std::string what = "admin socket " + options.admin_socket + ": " + error;
  if (asked_for) return what;
  net::log(net::LogLevel::warning, "weir", "{}; going on without (set admin.socket)", what);
  return std::nullopt;
}

std::optional<std::string> Doors::open_http(const core::Endpoint& endpoint, Server& server,
                                            std::vector<Rebinding::Inherited>& inherited) {
  std::string error;
  server = std::make_unique<admin::ApiServer>(loop_, control_, admin::ApiServer::Scope::read_only,
                                              most_connections_ / kHttpPart, http_unsent_);
  if (net::ListenSocket adopted = take_one(inherited, endpoint)) {
    server->serve(std::move(adopted));
    return std::nullopt;
  }
  if (open_one(*server, endpoint, {}, error)) return std::nullopt;
  return endpoint.text() + ": " + error;
}

std::optional<std::string> Doors::prepare(const AppOptions& options) {
  std::vector<Rebinding::Inherited> none;
  return prepare(options, none);
}

std::optional<std::string> Doors::prepare(const AppOptions& options,
                                          std::vector<Rebinding::Inherited>& inherited) {
  next_.reset();
  if (options.http_listen == http_endpoint_) return std::nullopt;
  Next next{options.http_listen, nullptr};
  if (next.endpoint) {
    if (auto failure = open_http(*next.endpoint, next.server, inherited)) return failure;
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

std::vector<net::ListenSocket> Doors::share() const {
  std::vector<net::ListenSocket> shared;
  for (const Server* door : {&admin_, &http_}) {
    if (*door) shared.push_back((*door)->share());
  }
  return shared;
}

void Doors::take_paths(const AppOptions& options) {
  if (!admin_) return;
  net::FileAccess access;
  std::string error;
  if (look_up_access(options, access, error) && admin_->take_path(access, error)) return;
  net::log(net::LogLevel::warning, "weir", "admin socket {}: {}", options.admin_socket, error);
}

void Doors::leave(const std::set<std::string>& addresses) {
  for (Server* door : {&admin_, &http_}) {
    if (!*door || addresses.count((*door)->address().text()) == 0) continue;
    (*door)->leave();
    left_.push_back(std::move(*door));
  }
  close_left_.arm(loop_.refresh_now() + kAnswerWithin);
  admin_.reset();
  http_.reset();
}

}  // namespace weir::app
