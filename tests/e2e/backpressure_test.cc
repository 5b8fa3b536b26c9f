#include <doctest/doctest.h>

#include <fstream>
#include <future>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;

// What weir may hold back for one direction of a stuck session.
constexpr std::uint64_t kWatermark = 65536;

// No pair of kernel buffers holds so much; only memory without bound does.
constexpr std::uint64_t kEndless = 64 << 20;

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The scripted peers themselves compete for the processors, so a few may be late; a session that
// is held up by the others would be late all the time.
void echo(Ends& ends) {
  int late = 0;
  for (int i = 0; i < 100; ++i) {
    const Stopwatch watch;
    ends.client.send(100);
    ends.backend.receive(100);
    ends.backend.send(100);
    ends.client.receive(100);
    if (watch.elapsed() > at_most(20ms)) ++late;
    silence(5ms);
  }
  CHECK(late <= 5);
}

// Twenty senders as fast as they can go, twenty frozen readers, and one session that must not mind.
void frozen_readers(const Way& way, Side sender, int workers) {
  constexpr std::size_t kPairs = 20;
  INFO(way.text());
  Scene scene({.way = way,
               .workers = workers,
               .client = {.receive = 65536, .send = 65536},
               .backend = {.receive = 65536, .send = 65536}});
  Ends small = scene.open();
  std::vector<Ends> all;
  for (std::size_t i = 0; i < kPairs; ++i) all.push_back(scene.open());
  const std::uint64_t before = resident_bytes();
  {
    std::vector<std::future<std::uint64_t>> sending;
    for (Ends& ends : all) {
      sending.push_back(
          meanwhile([&end = end_of(ends, sender)] { return end.send_until_blocked(kEndless); }));
    }
    echo(small);
    for (auto& each : sending) each.get();
  }
  echo(small);
  silence(1000ms);
  // Sanitizers keep books in memory of their own.
  if (!slow()) CHECK(resident_bytes() < before + kPairs * 2 * kWatermark + (8 << 20));
  CHECK(scene.weir.snapshot().sessions == kPairs + 1);

  // Then everybody reads, and everything is there.
  std::vector<std::future<void>> reading;
  for (Ends& ends : all) {
    end_of(ends, sender).shutdown_write();
    reading.push_back(meanwhile([&ends, sender] {
      Stream& reader = end_of(ends, other(sender));
      CHECK(reader.receive_to_end() == end_of(ends, sender).sent());
      reader.close();
    }));
  }
  echo(small);
  for (auto& each : reading) each.get();
  small.client.shutdown_write();
  small.backend.expect_end();
  small.backend.close();
  scene.weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "their end");
  for (const LogEntry& entry : scene.weir.log(kPairs + 1)) CHECK(entry.closed_by != "weir");
  scene.weir.settle(scene.backend);
}

TEST_CASE("BP-01: frozen clients block their backends, and cost neither memory nor others' time") {
  frozen_readers(kTcp, Side::backend, 1);
}

TEST_CASE("BP-01: frozen backends block their clients, and cost neither memory nor others' time") {
  frozen_readers(kTcp, Side::client, 1);
}

TEST_CASE("BP-01: frozen readers on unix sockets block their senders too") {
  frozen_readers(kUnixClient, Side::backend, 1);
  frozen_readers(kUnixBackend, Side::client, 1);
}

TEST_CASE("BP-01: frozen readers on two workers") { frozen_readers(kTcp, Side::backend, 2); }

}  // namespace
}  // namespace weir::e2e
