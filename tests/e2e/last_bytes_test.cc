#include <doctest/doctest.h>

#include <future>
#include <iterator>
#include <vector>

#include "tests/e2e/scene.h"

namespace weir::e2e {
namespace {

using core::CloseReason;

// Around the sizes in which weir reads: 16 KiB at first, 64 KiB at most held back.
constexpr std::uint64_t kSmall[] = {1, 16383, 16384, 16385, 32768, 65535, 65536, 65537};

// Each sender closes after N bytes; its reader only then begins, slowly.
void slow_readers(const Way& way, Side sender, Buffers buffers) {
  INFO(way.text());
  Scene scene({.way = way, .client = buffers, .backend = buffers});
  std::vector<Ends> all;
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (const std::uint64_t bytes : kSmall) {
      Ends& ends = all.emplace_back(scene.open());
      end_of(ends, sender).send(bytes);
      end_of(ends, sender).close();
    }
  }
  silence(500ms);
  std::vector<std::future<std::uint64_t>> reading;
  for (Ends& ends : all) {
    reading.push_back(meanwhile([&reader = end_of(ends, other(sender))] {
      const std::uint64_t bytes = reader.receive_slowly_to_end(7000, 20ms);
      reader.close();
      return bytes;
    }));
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t expected = kSmall[i % std::size(kSmall)];
    CHECK(reading[i].get() == expected);
    sum += expected;
  }
  const CloseReason reason =
      sender == Side::client ? CloseReason::client_closed : CloseReason::backend_closed;
  std::uint64_t logged = 0;
  for (const LogEntry& entry : scene.weir.expect_closed(reason, all.size())) {
    logged += entry.bytes_in + entry.bytes_out;
  }
  CHECK(logged == sum);
  const admin::Snapshot now = scene.weir.snapshot();
  CHECK(now.listener("front").bytes_in == (sender == Side::client ? sum : 0));
  CHECK(now.listener("front").bytes_out == (sender == Side::client ? 0 : sum));
  scene.weir.settle(scene.backend);
}

TEST_CASE("HC-05: a slow client gets the very last byte of a backend that has closed") {
  slow_readers(kTcp, Side::backend, {});
}

TEST_CASE("HC-05: a slow client with a small buffer gets the very last byte too") {
  slow_readers(kTcp, Side::backend, {.receive = 4096});
}

TEST_CASE("HC-05: a slow backend gets the very last byte of a client that has closed") {
  slow_readers(kTcp, Side::client, {.receive = 4096});
}

TEST_CASE("HC-05: over unix sockets the very last byte arrives as well") {
  slow_readers(kUnixClient, Side::backend, {.send = 4096});
  slow_readers(kUnixBackend, Side::backend, {.receive = 4096});
}

// Around the size to which weir's reads grow, and beyond what any buffer holds.
constexpr std::uint64_t kLarge[] = {524287, 524288, 524289, 3'000'000};

void sleeping_readers(const Way& way, Side sender) {
  INFO(way.text());
  for (const std::uint64_t bytes : kLarge) {
    Scene scene({.way = way});
    Ends ends = scene.open();
    auto sending = meanwhile([&sender_end = end_of(ends, sender), bytes] {
      sender_end.send(bytes);
      sender_end.close();
    });
    silence(300ms);
    CHECK(end_of(ends, other(sender)).receive_to_end() == bytes);
    sending.get();
    end_of(ends, other(sender)).close();
    scene.weir.expect_closed(sender == Side::client ? CloseReason::client_closed
                                                    : CloseReason::backend_closed);
    scene.weir.settle(scene.backend);
  }
}

TEST_CASE("HC-05: megabytes arrive whole after the client has slept") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) sleeping_readers(way, Side::backend);
}

TEST_CASE("HC-05: megabytes arrive whole after the backend has slept") {
  for (const Way& way : {kTcp, kUnixClient, kUnixBackend}) sleeping_readers(way, Side::client);
}

constexpr std::uint64_t kMegabyte = 1 << 20;

void wait_for_bytes_out(const Scene& scene, std::uint64_t bytes) {
  scene.weir.wait_until(
      [bytes](const admin::Snapshot& now) { return now.listener("front").bytes_out == bytes; },
      "weir has the answer");
}

TEST_CASE("HC-06: bytes that the backend never reads do not cost the client its answer") {
  Scene scene({.client = {.receive = 8192}});
  Ends ends = scene.open();
  ends.client.send(100);
  auto sending = meanwhile([&] {
    ends.backend.send(kMegabyte);
    ends.backend.shutdown_write();
  });
  silence(500ms);
  CHECK(ends.client.receive_to_end() == kMegabyte);
  sending.get();
  ends.client.close();
  scene.weir.expect_closed(CloseReason::backend_closed);
  scene.weir.settle();
}

TEST_CASE("HC-06: a backend that is gone when more comes for it does not cost the answer") {
  Scene scene({.client = {.receive = 8192}});
  Ends ends = scene.open();
  ends.backend.send(kMegabyte);
  wait_for_bytes_out(scene, kMegabyte);
  ends.backend.close();
  // The first of these is answered by the backend's kernel with a reset; the others meet it.
  for (int i = 0; i < 10; ++i) {
    ends.client.send(100);
    silence(50ms);
  }
  CHECK(ends.client.receive_to_end() == kMegabyte);
  ends.client.close();
  scene.weir.expect_closed(CloseReason::backend_closed);
  scene.weir.settle(scene.backend);
}

TEST_CASE("HC-06: weir's own end of a session does not destroy what a client has yet to read") {
  Scene scene({.timeouts = "session: " + scaled_ms(500ms), .client = {.receive = 8192}});
  Ends ends = scene.open();
  ends.backend.send(kMegabyte);
  wait_for_bytes_out(scene, kMegabyte);
  ends.backend.expect_end();
  ends.backend.close();
  ends.client.send(100);
  silence(500ms);
  ends.client.send(100);
  CHECK(ends.client.receive_to_end() == kMegabyte);
  ends.client.close();
  scene.weir.expect_closed(CloseReason::session_timeout);
  scene.weir.settle(scene.backend);
}

}  // namespace
}  // namespace weir::e2e
