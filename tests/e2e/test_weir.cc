#include "tests/e2e/test_weir.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "weir/config/load.h"

namespace weir::e2e {
namespace {

// How often a condition is looked at.
constexpr milliseconds kLook(2);

// CPU that an idle process may use in the quiet half second.
constexpr milliseconds kQuiet(500);
milliseconds most_quiet_cpu() { return slow() ? 100ms : 25ms; }

std::string all_of(const std::vector<config::Problem>& problems) {
  std::string text;
  for (const config::Problem& problem : problems) text += "\n" + problem.text("test");
  return text;
}

// The text as it is loaded, with what is changed for tests.
config::LoadResult load(const std::string& yaml, const std::string& access_log) {
  config::LoadResult loaded =
      config::load(yaml, "/", [](std::string_view) { return std::nullopt; });
  if (!loaded.configuration) return loaded;
  config::Configuration& result = *loaded.configuration;
  for (proxy::ListenerOptions& listener : result.listeners) {
    for (core::Endpoint& bind : listener.bind) bind.port = 0;
  }
  if (result.app.access_log == "stdout") result.app.access_log = access_log;
  if (result.app.shutdown_deadline == app::AppOptions().shutdown_deadline) {
    result.app.shutdown_deadline = 200ms;
  }
  if (result.app.admin_socket == app::AppOptions().admin_socket) result.app.admin_socket.clear();
  return loaded;
}

config::Configuration configuration(const std::string& yaml, const std::string& access_log, At at) {
  config::LoadResult loaded = load(yaml, access_log);
  if (loaded.configuration) return std::move(*loaded.configuration);
  throw ScriptFailure("the configuration is refused:" + all_of(loaded.problems) + "\n" + yaml, at);
}

std::uint64_t accepted(const admin::Snapshot& now) {
  std::uint64_t sum = 0;
  for (const auto& listener : now.listeners) sum += listener.accepted;
  return sum;
}

std::uint64_t closed(const admin::Snapshot& now) {
  std::uint64_t sum = 0;
  for (const auto& listener : now.listeners) sum += listener.closed_total();
  return sum;
}

// No session, nothing that a session had, and an end for every one that came.
bool at_rest(const admin::Snapshot& now) {
  bool rest = now.sessions == 0;
  for (const auto& listener : now.listeners) {
    rest = rest && listener.connections == 0 && listener.accepted == listener.closed_total();
  }
  for (const auto& pool : now.pools) {
    rest = rest && pool.consistent && pool.active == 0 && pool.pending == 0;
    for (const auto& backend : pool.backends) {
      rest = rest && backend.active == 0 && backend.dialing == 0;
    }
  }
  return rest;
}

}  // namespace

TestWeir::TestWeir(const std::string& yaml, At at)
    : instance_(
          std::make_unique<app::Instance>(configuration(yaml, folder_.file("access.log"), at))) {
  exit_ = meanwhile([this] { return instance_->run(); });
  // A thread that is only starting may have a file open for a moment.
  int stable = 0;
  for (std::size_t now = own_descriptors(); stable < 10; silence(kLook)) {
    descriptors_at_start_ = std::exchange(now, own_descriptors());
    stable = now == descriptors_at_start_ ? stable + 1 : 0;
  }
}

TestWeir::~TestWeir() {
  if (!exit_.valid()) return;
  drain();
  if (exit_.wait_for(patience()) != std::future_status::ready) {
    MESSAGE("weir does not come to its end: ", snapshot().json());
    std::terminate();  // its thread cannot be ended otherwise
  }
  CHECK(exit_.get() == 0);
  CHECK_MESSAGE(at_rest(snapshot()), snapshot().json());
}

admin::Reload TestWeir::try_reload(const std::string& yaml) {
  return instance_->reload(load(yaml, folder_.file("access.log")));
}

config::Plan TestWeir::plan(const std::string& yaml) {
  return instance_->plan(load(yaml, folder_.file("access.log"))).plan;
}

admin::Reload TestWeir::reload(const std::string& yaml, At at) {
  const std::size_t before = listening_sockets();
  admin::Reload reload = try_reload(yaml);
  if (!reload.accepted) throw ScriptFailure("refused:" + all_of(reload.problems), at);
  descriptors_at_start_ += listening_sockets();
  descriptors_at_start_ -= before;
  return reload;
}

std::size_t TestWeir::listening_sockets() {
  std::size_t binds = 0;
  for (const auto& listener : snapshot().listeners) binds += listener.bind.size();
  std::size_t workers = 0;
  control([&workers](admin::Control& control) { workers = control.status().workers; });
  return binds * workers;
}

net::SocketAddress TestWeir::address(const std::string& listener, std::size_t place) const {
  return instance_->addresses(listener).at(place);
}

admin::Snapshot TestWeir::wait_until(const Wish& wish, const std::string& what, At at) const {
  const auto until = Clock::now() + patience();
  for (;;) {
    admin::Snapshot now = snapshot();
    if (wish(now)) return now;
    if (Clock::now() >= until) {
      throw ScriptFailure(
          fmt::format("not within {} ms: {}; {}", patience().count(), what, now.json()), at);
    }
    silence(kLook);
  }
}

admin::Snapshot TestWeir::wait_until_within(milliseconds quiet_bound, const Wish& wish,
                                            const std::string& what, At at) const {
  const Stopwatch watch;
  admin::Snapshot now = wait_until(wish, what, at);
  watch.expect_at_most(quiet_bound, at);
  return now;
}

std::vector<LogEntry> TestWeir::log(std::size_t lines, At at) const {
  const auto until = Clock::now() + patience();
  for (;;) {
    std::vector<LogEntry> entries = read_access_log(folder_.file("access.log"));
    if (entries.size() == lines) return entries;
    if (entries.size() > lines || Clock::now() >= until) {
      throw ScriptFailure(
          fmt::format("{} lines in the access log instead of {}", entries.size(), lines), at);
    }
    silence(kLook);
  }
}

std::vector<LogEntry> TestWeir::expect_closed(core::CloseReason reason, std::size_t count,
                                              At at) const {
  wait_until([count](const admin::Snapshot& now) { return closed(now) == count; },
             fmt::format("{} sessions closed, as {}", count, core::name(reason)), at);
  std::vector<LogEntry> entries = log(count, at);
  std::uint64_t with_reason = 0;
  for (const auto& listener : snapshot().listeners) with_reason += listener.closed_as(reason);
  for (const LogEntry& entry : entries) {
    if (entry.reason != core::name(reason)) {
      throw ScriptFailure(fmt::format("logged as {}, not {}", entry.reason, core::name(reason)),
                          at);
    }
    if (entry.closed_by != core::name(core::closed_by(reason))) {
      throw ScriptFailure(fmt::format("logged as {} by {}", entry.reason, entry.closed_by), at);
    }
  }
  if (with_reason != count) {
    throw ScriptFailure(fmt::format("{} of {} counted as {}: {}", with_reason, count,
                                    core::name(reason), snapshot().json()),
                        at);
  }
  return entries;
}

std::size_t TestWeir::own_descriptors() const {
  return static_cast<std::size_t>(snapshot().open_fds) - PeerDescriptor::open();
}

void TestWeir::settle(At at) {
  wait_until_within(1000ms, at_rest, "no session, dial or slot is left", at);
  wait_until_within(
      1000ms, [this](const admin::Snapshot&) { return own_descriptors() == descriptors_at_start_; },
      fmt::format("descriptors are back at {}", descriptors_at_start_), at);
  const admin::Snapshot now = snapshot();
  log(accepted(now) - now.access_log_dropped, at);

  const milliseconds before = cpu_time();
  silence(kQuiet);
  const milliseconds used = cpu_time() - before;
  if (used > most_quiet_cpu()) {
    throw ScriptFailure(fmt::format("{} ms of CPU in {} quiet ms", used.count(), kQuiet.count()),
                        at);
  }
}

void TestWeir::settle(Backend& backend, At at) {
  settle(at);
  serve_a_fresh_client(backend, at);
  wait_until_within(1000ms, at_rest, "the fresh session has ended", at);
}

void TestWeir::serve_a_fresh_client(Backend& backend, At at) {
  // Dials that were abandoned may still wait for accept, closed already.
  while (backend.has_waiting()) backend.accept(at).expect_ending(at);
  Stream client = connect({}, at);
  Stream served = backend.accept(at);
  client.say("fresh", at);
  served.hear("fresh", at);
  client.shutdown_write();
  served.expect_end(at);
  served.say("served", at);
  served.close();
  client.hear("served", at);
  client.expect_end(at);
}

int TestWeir::wait_for_exit(At at) {
  if (exit_.wait_for(patience()) != std::future_status::ready) {
    throw ScriptFailure("weir has not come to its end: " + snapshot().json(), at);
  }
  return exit_.get();
}

}  // namespace weir::e2e
