#include <algorithm>
#include <filesystem>

#include "tests/config/loading.h"

namespace weir::config {

TEST_CASE("every file of conf/ loads without errors and warnings") {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WEIR_SOURCE_DIR) + "/conf")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const LoadResult loaded = load_all_said(read_source_file("conf/" + name));
    CHECK(loaded.configuration);
    CHECK_MESSAGE(loaded.problems.empty(), all_problems(loaded));
  }
  CHECK(files >= 6);
}

TEST_CASE("conf/full.yaml means the same as leaving everything out") {
  const Configuration full = must_load(read_source_file("conf/full.yaml"));
  const Configuration least = must_load(small_file());
  CHECK(full.app.workers == least.app.workers);
  CHECK(full.app.admin_socket == least.app.admin_socket);
  CHECK(full.app.admin_mode == least.app.admin_mode);
  CHECK(full.app.admin_owner == least.app.admin_owner);
  CHECK(full.app.http_listen == least.app.http_listen);
  CHECK(full.app.log.level == least.app.log.level);
  CHECK(full.app.log.format == least.app.log.format);
  CHECK(full.app.access_log == least.app.access_log);
  CHECK(full.app.shutdown_deadline == least.app.shutdown_deadline);
  CHECK(full.listeners[0].max_connections == least.listeners[0].max_connections);

  const upstream::PoolOptions& pool = full.pools[0];
  const upstream::PoolOptions& other = least.pools[0];
  CHECK(pool.balance == other.balance);
  CHECK(pool.resilience.circuit_success == other.resilience.circuit_success);
  CHECK(pool.resilience.first_byte_timeout == other.resilience.first_byte_timeout);
  CHECK(pool.resilience.retry.enabled == other.resilience.retry.enabled);
  CHECK(pool.resilience.retry.attempts == other.resilience.retry.attempts);
  CHECK(pool.resilience.retry.deadline == other.resilience.retry.deadline);
  CHECK(pool.resilience.retry.backoff_initial == other.resilience.retry.backoff_initial);
  CHECK(pool.resilience.retry.backoff_max == other.resilience.retry.backoff_max);
  CHECK(pool.resilience.retry_budget_percent == other.resilience.retry_budget_percent);
  CHECK(pool.timeouts.connect == other.timeouts.connect);
  CHECK(pool.timeouts.idle == other.timeouts.idle);
  CHECK(pool.timeouts.half_close == other.timeouts.half_close);
  CHECK(pool.timeouts.write_stall == other.timeouts.write_stall);
  CHECK(pool.timeouts.session == other.timeouts.session);
  CHECK(pool.timeouts.linger == other.timeouts.linger);
  CHECK(pool.keepalive == other.keepalive);
  CHECK(pool.source_address == other.source_address);
  // The one section whose absence is not its default.
  CHECK_FALSE(other.health);
  CHECK(pool.health);
  CHECK(pool.backends[0].weight == other.backends[0].weight);
  CHECK(pool.backends[0].priority == other.backends[0].priority);
  CHECK(pool.backends[0].max_active == other.backends[0].max_active);
}

// Code blocks of the documentation that are whole files, or show what weir prints.
TEST_CASE("the file and the errors that docs/config.md shows are real") {
  const std::string docs = read_source_file("docs/config.md");
  const auto block = [&](const std::string& language) {
    const std::size_t start = docs.find("```" + language + "\n");
    REQUIRE(start != std::string::npos);
    const std::size_t text = docs.find('\n', start) + 1;
    return docs.substr(text, docs.find("```", text) - text);
  };
  const LoadResult result = load_text(block("yaml wrong"));
  CHECK_FALSE(result.configuration);
  CHECK(all_problems(result) == block("text errors"));
  must_load(block("yaml"));
}

}  // namespace weir::config
