// The load of scripts/bench: `weir-bench-load backend ...` answers, `weir-bench-load client ...`
// asks. Both speak JSON lines on standard output and are paced by their standard input.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "backend.h"
#include "client.h"

namespace weir::bench {
namespace {

constexpr std::string_view kUsage =
    "usage: weir-bench-load backend [listeners=1]\n"
    "       weir-bench-load client port=N [connections=1] [exchanges=1] [body=0] [answer=1]\n"
    "                              [reconnect=0]\n";

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void wait_for_line() {
  std::string line;
  std::getline(std::cin, line);
}

std::uint32_t percentile(std::vector<std::uint32_t>& latencies_us, double share) {
  if (latencies_us.empty()) return 0;
  const double last = static_cast<double>(latencies_us.size() - 1);
  const auto place = latencies_us.begin() + static_cast<std::ptrdiff_t>(share * last);
  std::nth_element(latencies_us.begin(), place, latencies_us.end());
  return *place;
}

void client(Arguments arguments) {
  ClientOptions options;
  options.port = arguments.take("port", options.port);
  options.connections = arguments.take("connections", options.connections);
  options.exchanges = arguments.take("exchanges", std::uint64_t{1});
  options.message.body = arguments.take("body", options.message.body);
  options.message.answer = arguments.take("answer", options.message.answer);
  options.reconnect = arguments.take("reconnect", std::uint32_t{0}) != 0;
  arguments.expect_nothing_left();

  Client client(options);
  client.establish();
  say(R"({"ready": true})");
  wait_for_line();
  ClientReport report = client.run();
  // Error texts of the C library need no escaping in JSON.
  say(fmt::format(
      R"({{"seconds": {}, "exchanges": {}, "p50_us": {}, "p99_us": {}, "failures": {}, )"
      R"("first_failure": "{}"}})",
      report.seconds, report.latencies_us.size(), percentile(report.latencies_us, 0.5),
      percentile(report.latencies_us, 0.99), report.failures, report.first_failure));
  wait_for_line();  // its connections stay open until the numbers of the proxy are read
}

void backend(Arguments arguments) {
  const std::size_t listeners = arguments.take("listeners", std::size_t{1});
  arguments.expect_nothing_left();
  run_backend(listeners);
}

void run(const std::vector<std::string_view>& words) {
  const std::string_view role = words.empty() ? "" : words.front();
  if (role != "backend" && role != "client") throw std::invalid_argument(std::string(kUsage));
  const Arguments arguments({words.begin() + 1, words.end()}, kUsage);
  if (role == "backend") {
    backend(arguments);
  } else {
    client(arguments);
  }
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  try {
    weir::bench::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "weir-bench-load: {}\n", problem.what());
    return 1;
  }
}
