#include "measure.h"

#include <sched.h>
#include <time.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "tests/core/allocations.h"

namespace weir::bench {
namespace {

// CPU time of this thread: what other programs do meanwhile is no part of it, but for the caches
// that they share.
std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// The CPUs that this program may use.
std::vector<std::size_t> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<std::size_t> cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// This thread only.
void stay_on(std::size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// Every thread runs from the start to the stop, so that none ever has the core to itself.
struct Race {
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> started{false};
  std::atomic<bool> stopped{false};
};

Sample run(Workload& workload, std::size_t thread, Race& race) {
  ++race.ready;
  while (!race.started) std::this_thread::yield();
  Sample sample;
  const std::uint64_t allocated = allocations();
  const std::chrono::nanoseconds before = cpu_time();
  do {
    sample.operations += workload.run(thread);
  } while (!race.stopped.load(std::memory_order_relaxed));
  sample.cpu = cpu_time() - before;
  sample.allocations = allocations() - allocated;
  return sample;
}

}  // namespace

Sample measure(Workload& workload, std::size_t threads, std::chrono::nanoseconds length) {
  Race race;
  // In turn over the CPUs: on a busy machine the scheduler may leave all threads on one of them,
  // where they never meet.
  const std::vector<std::size_t> cpus = allowed_cpus();
  std::vector<std::future<Sample>> running;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    running.push_back(std::async(std::launch::async, [&, thread] {
      if (!cpus.empty()) stay_on(cpus[thread % cpus.size()]);
      return run(workload, thread, race);
    }));
  }
  while (race.ready < threads) std::this_thread::yield();
  const auto started = std::chrono::steady_clock::now();
  race.started = true;
  std::this_thread::sleep_for(length);
  race.stopped = true;
  for (auto& thread : running) thread.wait();

  Sample sum;
  sum.clock = std::chrono::steady_clock::now() - started;
  for (auto& thread : running) {
    const Sample sample = thread.get();
    sum.operations += sample.operations;
    sum.allocations += sample.allocations;
    sum.cpu += sample.cpu;
  }
  return sum;
}

}  // namespace weir::bench
