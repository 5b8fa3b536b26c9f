#include <doctest/doctest.h>
#include <fmt/format.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// A slot is given back in the very turn in which whoever is next for it leaves.
namespace weir::e2e {
namespace {

// A pool with one slot, in a program that can be stopped.
class OneSlot {
 public:
  OneSlot(int workers, milliseconds pending_timeout)
      : weir_({.yaml = "shutdown: {deadline: 60s}\n" +
                       Setup{.workers = workers,
                             .bind = {port_.on()},
                             .resilience = fmt::format("max_active_requests: 1, "
                                                       "max_pending_requests: 10, "
                                                       "pending_timeout: {}ms",
                                                       pending_timeout.count()),
                             .backends = {service_.address()}}
                           .yaml()}) {
    // A first session has everything open that stays open.
    ask_and_leave();
    weir_.log(1);
    std::size_t stable = 0;
    for (std::size_t before = 0; stable < 10; silence(2ms)) {
      at_rest_ = weir_.program.descriptors();
      stable = at_rest_ == before ? stable + 1 : 0;
      before = at_rest_;
    }
  }

  Stream connect() {
    ++sessions_;
    return Stream::connect(port_.address());
  }
  Stream holder() {
    Stream client = connect();
    ask(client);
    return client;
  }
  // So many wait behind a holder, and nothing else is going on.
  void wait_for_waiters(std::size_t count) {
    weir_.program.wait_until_idle(at_rest_ + kHolder + count);
  }
  void wait_for_rest() { weir_.program.wait_until_idle(at_rest_); }
  const Program& program() const { return weir_.program; }

  // Whatever has happened, the slot is free, and there is one of it. Answers the access log.
  std::vector<LogEntry> end() {
    wait_for_rest();
    const Stopwatch since_came;
    ask_and_leave();
    since_came.expect_at_most(50ms);
    std::vector<LogEntry> log = weir_.log(sessions_);
    weir_.program.signal(SIGTERM);
    weir_.wait_for_clean_exit();
    CHECK(service_.peak() == 1);
    return log;
  }

 private:
  static constexpr std::size_t kHolder = 2;  // its descriptors, client's and backend's

  void ask_and_leave() { holder().close(); }

  Service service_;
  const Port port_;
  ServingProgram weir_;
  std::size_t at_rest_ = 0;
  std::size_t sessions_ = 0;
};

// By a reset: after a FIN the slot would be free one turn later, when the backend has ended too.
void leave_and_release(Stream& holder) { holder.rst(); }

void holder_and_first_leave(int workers, int rounds) {
  constexpr std::size_t kWaiters = 5;
  OneSlot pool(workers, 60s);
  for (int round = 0; round < rounds; ++round) {
    Stream holder = pool.holder();
    std::deque<Stream> waiters;
    for (std::size_t i = 0; i < kWaiters; ++i) {
      waiters.push_back(pool.connect());
      // A FIN after a byte would keep its place.
      if (i > 0) waiters.back().say("q");
      pool.wait_for_waiters(i + 1);
    }
    Stopwatch since_release;
    {
      const Program::Stopped stopped(pool.program());
      Stream first = std::move(waiters.front());
      waiters.pop_front();
      const bool holder_first = round % 2 == 0;
      if (holder_first) leave_and_release(holder);
      round % 4 < 2 ? first.close() : first.rst();
      if (!holder_first) leave_and_release(holder);
      since_release.restart();
    }
    // The survivors in their order.
    for (; !waiters.empty(); waiters.pop_front(), since_release.restart()) {
      waiters.front().hear("q");
      since_release.expect_at_most(50ms);
      for (std::size_t i = 1; i < waiters.size(); ++i) CHECK(waiters[i].unread() == 0);
    }
    pool.wait_for_rest();
  }
  std::size_t left = 0;
  for (const LogEntry& entry : pool.end()) {
    if (entry.reason == "client_left_queue") CHECK(entry.attempts.empty());
    if (entry.bytes_out == 0) ++left;
  }
  CHECK(left == static_cast<std::size_t>(rounds));
}

TEST_CASE("ADM-03: when holder and first waiter leave in one turn the second one is served") {
  holder_and_first_leave(1, slow() ? 50 : 500);
}

TEST_CASE("ADM-03: the same on two and four workers") {
  for (const int workers : {2, 4}) holder_and_first_leave(workers, slow() ? 15 : 150);
}

TEST_CASE("ADM-03: a wait that times out in the turn of the release loses no slot") {
  const milliseconds timeout = scaled(40ms);
  const int rounds = slow() ? 15 : 40;
  for (const int workers : {1, 2, 4}) {
    OneSlot pool(workers, timeout);
    std::size_t served = 0;
    for (int round = 0; round < rounds; ++round) {
      Stream holder = pool.holder();
      Stream first = pool.connect();
      first.say("q");
      pool.wait_for_waiters(1);
      std::optional<Stream> second;
      {
        const Program::Stopped stopped(pool.program());
        leave_and_release(holder);
        second.emplace(pool.connect());
        second->say("q");
        silence(timeout);
      }
      // Which of the two it is, is nobody's business. The second may have to wait too long as well,
      // on a machine that is busy enough.
      if (first.hear_if_anything("q")) ++served;
      first.close();
      if (second->hear_if_anything("q")) ++served;
      second->close();
      pool.wait_for_rest();
    }
    std::size_t timed_out = 0;
    const auto log = pool.end();
    for (const LogEntry& entry : log) {
      if (entry.reason == "client_closed" || entry.reason == "client_reset") continue;
      ++timed_out;
      CHECK(entry.reason == "pending_timeout");
      CHECK(entry.attempts.empty());
      CHECK(entry.queue_ms > static_cast<double>(timeout.count()) - 15);
    }
    CHECK(served + timed_out == 2 * static_cast<std::size_t>(rounds));
    // A lost slot would have ended it.
    CHECK(served >= static_cast<std::size_t>(rounds) / 2);
  }
}

}  // namespace
}  // namespace weir::e2e
