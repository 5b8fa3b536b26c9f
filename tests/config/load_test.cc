#include "weir/config/load.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/config/expect_problem.h"

namespace weir::config {
namespace {

// A file of its own for one test, gone at its end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("weir-load-test-" + std::to_string(getpid()) + ".yaml")) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("keys that are not written have their defaults") {
  using namespace std::chrono_literals;
  const Configuration configuration = must_load(small_file());

  CHECK(configuration.app.workers == 0);
  CHECK(configuration.app.admin_socket == "/run/weir/admin.sock");
  CHECK(configuration.app.admin_mode == 0600);
  CHECK(configuration.app.admin_owner.empty());
  CHECK_FALSE(configuration.app.http_listen);
  CHECK(configuration.app.log.level == net::LogLevel::info);
  CHECK(configuration.app.log.format == net::LogFormat::text);
  CHECK(configuration.app.access_log == "stdout");
  CHECK(configuration.app.shutdown_deadline == core::Duration(30s));

  REQUIRE(configuration.listeners.size() == 1);
  CHECK(configuration.listeners[0].max_connections == 0);

  REQUIRE(configuration.pools.size() == 1);
  const upstream::PoolOptions& pool = configuration.pools[0];
  CHECK(pool.balance == core::Balance::round_robin);
  CHECK(pool.resilience.admission.max_active == 0);
  CHECK(pool.resilience.admission.max_pending == 0);
  CHECK(pool.resilience.pending_timeout == core::Duration(0));
  CHECK(pool.resilience.max_active_per_backend == 0);
  CHECK(pool.resilience.circuit.enabled);
  CHECK(pool.resilience.circuit.max_fails == 1);
  CHECK(pool.resilience.circuit.fail_timeout == core::Duration(10s));
  CHECK(pool.resilience.retry.enabled);
  CHECK(pool.resilience.retry.attempts == 0);
  CHECK(pool.resilience.retry.backoff_max == core::Duration(500ms));
  CHECK(pool.timeouts.idle == core::Duration(1h));
  CHECK(pool.keepalive == net::KeepaliveOptions{});
  CHECK_FALSE(pool.source_address);
  REQUIRE(pool.backends.size() == 1);
  CHECK(pool.backends[0].weight == 1);
  CHECK(pool.backends[0].priority == 0);
  CHECK(pool.backends[0].max_active == 0);
}

TEST_CASE("every key reaches the option that it is meant for") {
  using namespace std::chrono_literals;
  const Configuration configuration = must_load(
      "workers: 7\n"
      "admin: {socket: a.sock, mode: \"0660\", owner: \"weir:adm\"}\n"
      "http: {listen: \"127.0.0.1:3\"}\n"
      "log: {level: warning, format: json, access: x.log}\n"
      "shutdown: {deadline: 11s}\n"
      "listeners:\n"
      "  - {name: a, bind: [\"127.0.0.1:1\", \"unix:/run/a\"], max_connections: 12, pool: q}\n"
      "  - {name: b, bind: [\"127.0.0.1:2\"], pool: p}\n"
      "pools:\n"
      "  - name: p\n"
      "    balance: source_hash\n"
      "    resilience: {max_active_requests: 43, max_pending_requests: 52, pending_timeout: 9s,\n"
      "                 max_active_per_backend: 53, circuit_enabled: false, max_fails: 54,\n"
      "                 fail_timeout: 55s, circuit_jitter: 0.25, circuit_half_open_probes: 56,\n"
      "                 circuit_window: 57s, circuit_failure_rate: 0.75, circuit_min_samples: 58,\n"
      "                 retry_enabled: false, retry_attempts: 2, retry_deadline: 3s,\n"
      "                 retry_backoff_initial: 4ms, retry_backoff_max: 5s}\n"
      "    timeouts: {connect: 21s, idle: 22h, half_close: 23s, write_stall: 24s, session: 25h,\n"
      "               linger: 26s}\n"
      "    keepalive: {idle: 31s, interval: 32s, count: 33, user_timeout: 34ms}\n"
      "    source_address: \"::1\"\n"
      "    backends:\n"
      "      - {name: b, address: \"[::1]:41\", weight: 42, priority: 43, max_active: 44}\n"
      "      - {name: c, address: \"unix:/run/c\", weight: 0}\n"
      "  - {name: q, resilience: {retry_budget_percent: 59}, backends: [{name: b, address: "
      "\"db.internal:5\"}]}\n");

  CHECK(configuration.app.workers == 7);
  CHECK(configuration.app.admin_socket == "/etc/weir/a.sock");
  CHECK(configuration.app.admin_mode == 0660);
  CHECK(configuration.app.admin_owner == "weir:adm");
  REQUIRE(configuration.app.http_listen);
  CHECK(configuration.app.http_listen->text() == "127.0.0.1:3");
  CHECK(configuration.app.log.level == net::LogLevel::warning);
  CHECK(configuration.app.log.format == net::LogFormat::json);
  CHECK(configuration.app.access_log == "/etc/weir/x.log");
  CHECK(configuration.app.shutdown_deadline == core::Duration(11s));

  REQUIRE(configuration.listeners.size() == 2);
  CHECK(configuration.listeners[0].name == "a");
  REQUIRE(configuration.listeners[0].bind.size() == 2);
  CHECK(configuration.listeners[0].bind[1].text() == "unix:/run/a");
  CHECK(configuration.listeners[0].max_connections == 12);
  CHECK(configuration.listeners[0].pool == "q");
  CHECK(configuration.listeners[1].pool == "p");

  REQUIRE(configuration.pools.size() == 2);
  const upstream::PoolOptions& pool = configuration.pools[0];
  CHECK(pool.name == "p");
  CHECK(pool.balance == core::Balance::source_hash);
  CHECK(pool.resilience.admission.max_active == 43);
  CHECK(pool.resilience.admission.max_pending == 52);
  CHECK(pool.resilience.pending_timeout == core::Duration(9s));
  CHECK(pool.resilience.max_active_per_backend == 53);
  CHECK_FALSE(pool.resilience.circuit.enabled);
  CHECK(pool.resilience.circuit.max_fails == 54);
  CHECK(pool.resilience.circuit.fail_timeout == core::Duration(55s));
  CHECK(pool.resilience.circuit.jitter == 0.25);
  CHECK(pool.resilience.circuit.half_open_probes == 56);
  CHECK(pool.resilience.circuit.window == core::Duration(57s));
  CHECK(pool.resilience.circuit.failure_rate == 0.75);
  CHECK(pool.resilience.circuit.min_samples == 58);
  CHECK_FALSE(pool.resilience.retry.enabled);
  CHECK(pool.resilience.retry.attempts == 2);
  CHECK(pool.resilience.retry.deadline == core::Duration(3s));
  CHECK(pool.resilience.retry.backoff_initial == core::Duration(4ms));
  CHECK(pool.resilience.retry.backoff_max == core::Duration(5s));
  CHECK(pool.timeouts.connect == core::Duration(21s));
  CHECK(pool.timeouts.idle == core::Duration(22h));
  CHECK(pool.timeouts.half_close == core::Duration(23s));
  CHECK(pool.timeouts.write_stall == core::Duration(24s));
  CHECK(pool.timeouts.session == core::Duration(25h));
  CHECK(pool.timeouts.linger == core::Duration(26s));
  CHECK(pool.keepalive.idle == core::Duration(31s));
  CHECK(pool.keepalive.interval == core::Duration(32s));
  CHECK(pool.keepalive.count == 33);
  CHECK(pool.keepalive.user_timeout == core::Duration(34ms));
  REQUIRE(pool.source_address);
  CHECK(pool.source_address->host == "::1");
  REQUIRE(pool.backends.size() == 2);
  CHECK(pool.backends[0].name == "b");
  CHECK(pool.backends[0].address.text() == "[::1]:41");
  CHECK(pool.backends[0].weight == 42);
  CHECK(pool.backends[0].priority == 43);
  CHECK(pool.backends[0].max_active == 44);
  CHECK(pool.backends[1].weight == 0);
}

TEST_CASE("a problem reads FILE:LINE:COLUMN: PATH: MESSAGE, and says when it is a warning") {
  Problem problem{3, 14, "pools[0].name", "missing", false};
  CHECK(problem.text("a.yaml") == "a.yaml:3:14: pools[0].name: missing");
  problem.warning = true;
  CHECK(problem.text("a.yaml") == "a.yaml:3:14: warning: pools[0].name: missing");
  problem = {1, 1, "", "the file is empty", false};
  CHECK(problem.text("a.yaml") == "a.yaml:1:1: the file is empty");
}

TEST_CASE("a file is read with the environment of this process, and its own folder") {
  const TemporaryFile file("log: {access: a.log}\n" + small_file("balance: ${WEIR_LOAD_TEST}"));
  setenv("WEIR_LOAD_TEST", "first", 1);
  const LoadResult result = load_file(file.name());
  unsetenv("WEIR_LOAD_TEST");
  REQUIRE(result.configuration);
  CHECK(result.configuration->pools[0].balance == core::Balance::first);
  const std::filesystem::path log = result.configuration->app.access_log;
  CHECK(log.parent_path() == std::filesystem::path(file.name()).parent_path());
  CHECK_FALSE(load_file(file.name()).configuration);
}

TEST_CASE("the folder of a file is the same one however the file is named") {
  const TemporaryFile file("admin: {socket: a.sock}\nlog: {access: a.log}\n" + small_file());
  const std::string relative = std::filesystem::relative(file.name());
  REQUIRE(relative != file.name());
  const LoadResult result = load_file(relative);
  REQUIRE(result.configuration);
  const auto folder = std::filesystem::path(file.name()).parent_path();
  CHECK(result.configuration->app.admin_socket == folder / "a.sock");
  CHECK(result.configuration->app.access_log == folder / "a.log");
  CHECK(folder_of("weir.yaml") == std::filesystem::current_path());
}

TEST_CASE("a file that cannot be read is one problem that says why") {
  for (const char* name : {"/nonexistent/weir.yaml", "/"}) {
    CAPTURE(name);
    const LoadResult result = load_file(name);
    CHECK_FALSE(result.configuration);
    REQUIRE(result.problems.size() == 1);
    CHECK(result.problems[0].line == 1);
    CHECK(result.problems[0].column == 1);
    CHECK(result.problems[0].path.empty());
    CHECK(result.problems[0].message.find("cannot ") == 0);
  }
}

TEST_CASE("a file that never ends is read to 4 MiB and refused") {
  const LoadResult result = load_file("/dev/zero");
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].message == "the file is too large (at most 4 MiB)");
}

}  // namespace weir::config
