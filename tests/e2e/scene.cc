#include "tests/e2e/scene.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace weir::e2e {
namespace {

std::string host(Way::Kind kind, const Folder& folder) {
  switch (kind) {
    case Way::Kind::ipv4:
      return "127.0.0.1";
    case Way::Kind::ipv6:
      return "::1";
    case Way::Kind::unix_socket:
      return folder.unix_socket("backend");
  }
  return {};
}

std::string bind(Way::Kind kind, const Folder& folder) {
  switch (kind) {
    case Way::Kind::ipv4:
      return "127.0.0.1:1";
    case Way::Kind::ipv6:
      return "[::1]:1";
    case Way::Kind::unix_socket:
      return folder.unix_socket("front");
  }
  return {};
}

std::string_view name(Way::Kind kind) {
  switch (kind) {
    case Way::Kind::ipv4:
      return "IPv4";
    case Way::Kind::ipv6:
      return "IPv6";
    case Way::Kind::unix_socket:
      return "unix";
  }
  return {};
}

Setup setup(const Scene::Options& options, const Folder& folder, const Backend& backend) {
  Setup setup;
  setup.workers = options.workers;
  setup.bind = {bind(options.way.client, folder)};
  setup.max_connections = options.max_connections;
  setup.timeouts = options.timeouts;
  setup.resilience = options.resilience;
  setup.backends = {backend.address()};
  return setup;
}

}  // namespace

std::string Setup::yaml() const {
  std::string text = fmt::format("workers: {}\nlisteners:\n", workers);
  text += fmt::format("  - {{name: front, pool: servers, max_connections: {}, bind: [\"{}\"]{}}}\n",
                      max_connections, fmt::join(bind, "\", \""),
                      listener.empty() ? "" : ", " + listener);
  text += "pools:\n  - name: servers\n";
  if (!timeouts.empty()) text += fmt::format("    timeouts: {{{}}}\n", timeouts);
  const std::string keys = (circuit ? "" : "circuit_enabled: false, ") + resilience;
  if (!keys.empty()) text += fmt::format("    resilience: {{{}}}\n", keys);
  if (!pool.empty()) text += fmt::format("    {}\n", pool);
  text += "    backends:\n";
  for (std::size_t i = 0; i < backends.size(); ++i) {
    text += fmt::format("      - {{name: b{}, address: \"{}\"}}\n", i + 1, backends[i]);
  }
  return text;
}

std::string Way::text() const { return fmt::format("{} to {}", name(client), name(backend)); }

Scene::Scene(const Options& options)
    : backend(host(options.way.backend, folder), options.backend, options.backlog),
      weir(setup(options, folder, backend).yaml()),
      client_buffers_(options.client) {}

Ends Scene::open(At at) {
  Stream client = connect(at);
  Ends ends{std::move(client), backend.accept(at)};
  ends.client.set_session(sessions_);
  ends.backend.set_session(sessions_);
  ++sessions_;
  return ends;
}

}  // namespace weir::e2e
