#include "weir/net/watch.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <system_error>

#include "tests/net/scratch_folder.h"
#include "tests/net/turning.h"
#include "weir/net/descriptor.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  void write() { REQUIRE(::write(in.get(), "x", 1) == 1); }
  void read() {
    char byte = 0;
    REQUIRE(::read(out.get(), &byte, 1) == 1);
  }

  Descriptor out;
  Descriptor in;
};

}  // namespace

TEST_CASE("a watch reports as long as its descriptor is readable, and no longer") {
  Loop loop;
  Pipe pipe;
  int calls = 0;
  const Watch watch(loop, pipe.out.get(), [&calls] { ++calls; });
  turn_for(loop, 5ms);
  CHECK(calls == 0);
  pipe.write();
  CHECK(turn_until(loop, [&] { return calls >= 3; }));
  pipe.read();
  turn_for(loop, 5ms);
  const int before = calls;
  turn_for(loop, 5ms);
  CHECK(calls == before);
}

TEST_CASE("a whole epoll set of somebody else's is watched through its descriptor") {
  Loop loop;
  Pipe pipe;
  const Descriptor set(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLET;
  REQUIRE(::epoll_ctl(set.get(), EPOLL_CTL_ADD, pipe.out.get(), &wanted) == 0);
  int events = 0;
  const Watch watch(loop, set.get(), [&] {
    epoll_event event{};
    events += ::epoll_wait(set.get(), &event, 1, 0);
  });
  pipe.write();
  CHECK(turn_until(loop, [&] { return events == 1; }));
  pipe.write();
  CHECK(turn_until(loop, [&] { return events == 2; }));
}

TEST_CASE("a watch that is gone reports nothing and leaves the descriptor open") {
  Loop loop;
  Pipe pipe;
  int calls = 0;
  std::optional<Watch> watch(std::in_place, loop, pipe.out.get(), [&calls] { ++calls; });
  pipe.write();
  watch.reset();
  turn_for(loop, 5ms);
  CHECK(calls == 0);
  pipe.read();
}

TEST_CASE("a descriptor that cannot be polled is said at once") {
  Loop loop;
  const ScratchFolder folder;
  write_file(folder.file("plain"), "text");
  const Descriptor file(::open(folder.file("plain").c_str(), O_RDONLY | O_CLOEXEC));
  CHECK_THROWS_AS(Watch(loop, file.get(), [] {}), std::system_error);
  turn_for(loop, 2ms);
}
