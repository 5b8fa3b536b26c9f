#include "weir/net/socket_set.h"

#include <doctest/doctest.h>
#include <sys/epoll.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"
#include "weir/net/run_queue.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;

namespace {

// Two watched sockets whose first events are over, each with a peer.
struct Two {
  Two() {
    REQUIRE(one.socket.watch(loop.sockets(), first));
    REQUIRE(other.socket.watch(loop.sockets(), second));
    REQUIRE(turn_until(loop, [this] { return one.socket.writable() && other.socket.writable(); }));
    first.times = second.times = 0;
  }
  void both_peers_send() {
    one.peer.send("x");
    other.peer.send("x");
  }

  Loop loop;
  Noted first, second;
  Ends one = tcp_ends(), other = tcp_ends();
};

struct Work final : Resumable {
  explicit Work(std::function<void()> action) : then(std::move(action)) {}
  void resume() override {
    ++times;
    then();
  }
  int times = 0;
  std::function<void()> then;
};

}  // namespace

TEST_CASE("a socket is told that it is writable once it is registered") {
  Two sockets;
  CHECK_FALSE(sockets.one.socket.readable());
  CHECK_FALSE(sockets.one.socket.peer_ended());
  CHECK_FALSE(sockets.one.socket.peer_failed());
}

TEST_CASE("an event fetched for a socket that was closed in the same batch is dropped") {
  Two sockets;
  sockets.first.then = [&] { sockets.other.socket.close(); };
  sockets.second.then = [&] { sockets.one.socket.close(); };
  sockets.both_peers_send();
  CHECK(turn_until(sockets.loop, [&] { return sockets.first.times + sockets.second.times > 0; }));
  turn_for(sockets.loop, 3ms);
  CHECK(sockets.first.times + sockets.second.times == 1);
}

TEST_CASE("a stale event does not reach the socket that took over the slot in the same batch") {
  Two sockets;
  Ends newcomer = tcp_ends();
  Noted third;
  const auto replace = [&](Socket& closed) {
    if (!closed || newcomer.socket.fd() < 0 || third.times > 0) return;
    closed.close();
    REQUIRE(newcomer.socket.watch(sockets.loop.sockets(), third));
    third.times = 1;
  };
  sockets.first.then = [&] { replace(sockets.other.socket); };
  sockets.second.then = [&] { replace(sockets.one.socket); };
  sockets.both_peers_send();
  REQUIRE(turn_until(sockets.loop, [&] { return newcomer.socket && third.times > 1; }));
  turn_for(sockets.loop, 3ms);
  CHECK(third.times == 2);  // its own first event, and nothing of its predecessor's
  CHECK_FALSE(newcomer.socket.readable());
  newcomer.peer.send("mine");
  CHECK(turn_until(sockets.loop, [&] { return newcomer.socket.readable(); }));
}

TEST_CASE("the slot of a closed socket is used again, with nothing remembered of it") {
  Loop loop;
  Noted noted;
  Ends old = tcp_ends();
  const int before = loop.sockets().add(old.socket.fd(), noted);
  old.peer.send("x");
  old.peer.shut_write();
  REQUIRE(turn_until(loop, [&] { return loop.sockets().slot(before).ended; }));
  loop.sockets().remove(before);
  old.socket.close();
  Ends fresh = tcp_ends();
  const int after = loop.sockets().add(fresh.socket.fd(), noted);
  CHECK(after == before);
  const SocketSet::Slot& slot = loop.sockets().slot(after);
  CHECK_FALSE(slot.readable);
  CHECK_FALSE(slot.writable);
  CHECK_FALSE(slot.ended);
  CHECK_FALSE(slot.failed);
  loop.sockets().remove(after);
}

TEST_CASE("a socket may be closed from its own event") {
  Loop loop;
  Ends ends = tcp_ends();
  Noted noted;
  noted.then = [&] { ends.socket.close(); };
  REQUIRE(ends.socket.watch(loop.sockets(), noted));
  CHECK(turn_until(loop, [&] { return noted.times == 1; }));
  CHECK(ends.peer.next() == "end");
}

TEST_CASE("what cannot be registered says so and takes no slot") {
  Loop loop;
  Noted noted;
  ScratchFolder folder;
  write_file(folder.file("plain"), "");
  const Descriptor plain(::open(folder.file("plain").c_str(), O_RDONLY | O_CLOEXEC));
  errno = 0;
  CHECK(loop.sockets().add(plain.get(), noted) == -1);
  CHECK(errno == EPERM);  // a regular file cannot be waited for
  Socket socket;
  CHECK_FALSE(socket.watch(loop.sockets(), noted));
}

TEST_CASE("more sockets than one batch holds are all told") {
  Loop loop;
  std::vector<std::unique_ptr<Noted>> noted;
  std::vector<Ends> ends;
  for (int i = 0; i < 300; ++i) {
    noted.push_back(std::make_unique<Noted>());
    ends.push_back(unix_ends());
    REQUIRE(ends.back().socket.watch(loop.sockets(), *noted.back()));
  }
  for (Ends& each : ends) each.peer.send("x");
  CHECK(turn_until(loop, [&] {
    for (const Ends& each : ends) {
      if (!each.socket.readable()) return false;
    }
    return true;
  }));
}

TEST_CASE("work asked to resume later does so in a coming turn, without any socket's event") {
  Loop loop;
  Work work([] {});
  loop.sockets().resume_later(work);
  CHECK(work.times == 0);
  CHECK(turn_until(loop, [&] { return work.times == 1; }));
  turn_for(loop, 2ms);
  CHECK(work.times == 1);
  CHECK_FALSE(work.queued());
}

TEST_CASE("work resumed later comes after the sockets that are ready by then") {
  Two sockets;
  std::string order;
  Work work([&] { order += "work "; });
  sockets.first.then = [&] { order += "socket "; };
  sockets.one.peer.send("x");
  turn_for(sockets.loop, 1ms);
  order.clear();
  Work asks([&] { sockets.loop.sockets().resume_later(work); });
  sockets.loop.sockets().resume_later(asks);
  sockets.one.peer.send("y");
  CHECK(turn_until(sockets.loop, [&] { return work.times == 1; }));
  CHECK(order == "socket work ");
}

TEST_CASE("work without end holds up neither timers nor posts nor other sockets") {
  Two sockets;
  Loop& loop = sockets.loop;
  std::unique_ptr<Work> endless;
  endless = std::make_unique<Work>([&] { loop.sockets().resume_later(*endless); });
  loop.sockets().resume_later(*endless);
  bool fired = false;
  bool posted = false;
  Timer timer(loop, [&] { fired = true; });
  timer.arm(loop.refresh_now() + 3ms);
  loop.post([&] { posted = true; });
  sockets.one.peer.send("x");
  CHECK(turn_until(loop, [&] { return fired && posted && sockets.first.times > 0; }));
  CHECK(endless->times > 0);
  endless.reset();
  turn_for(loop, 2ms);
}
