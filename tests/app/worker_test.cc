#include "weir/app/worker.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/running.h"
#include "weir/upstream/pool.h"

using namespace weir;
using namespace weir::app;
using namespace weir::net;

namespace {

// One worker with one listener, its control side played by the test.
struct Story {
  explicit Story(const std::string& backend)
      : options(configuration(backend)),
        pool(upstream::Pool::make(options.pools[0], 1)),
        state(std::make_shared<proxy::ListenerState>(options.listeners[0], 1)) {
    std::string error;
    ListenSocket socket = ListenSocket::open(options.listeners[0].bind[0], {}, error);
    REQUIRE_MESSAGE(socket, error);
    address = socket.address();
    Worker::Change first;
    first.listeners.push_back({state, pool, {}, {}, {}, {}});
    first.listeners[0].opened.push_back({1, std::move(socket)});
    worker.start({resolver, descriptors, log}, std::move(first));
  }
  ~Story() {
    worker.cut(core::CloseReason::shutdown, true);
    worker.join();
  }

  const config::Configuration options;
  const std::shared_ptr<upstream::Pool> pool;
  const std::shared_ptr<proxy::ListenerState> state;
  Loop control;
  Worker worker{0, 1};
  Resolver resolver{control, {}};
  DescriptorBudget descriptors{100};
  LineLog log{"off", 1};
  SocketAddress address;
  std::atomic<int> drained{0};
};

}  // namespace

TEST_CASE("a worker serves on its own thread and shows its sessions") {
  Backlog backend;
  Story story(backend.address().text());
  Peer client = connect_to(story.address);
  client.send("x");
  CHECK(backend.accept().receive(1) == "x");
  CHECK(story.worker.sessions() == 1);
  client.reset();
  CHECK(comes_true([&] { return story.worker.sessions() == 0; }));
}

TEST_CASE("a worker without sessions is drained at once") {
  Backlog backend;
  Story story(backend.address().text());
  story.worker.drain([&] { story.drained.fetch_add(1); }).get();
  CHECK_FALSE(connect_to(story.address));
  CHECK(comes_true([&] { return story.drained.load() == 1; }));
}

TEST_CASE("a worker is drained once its last session has ended, and says so once") {
  Backlog backend;
  Story story(backend.address().text());
  Peer first = connect_to(story.address);
  first.send("x");
  Peer first_peer = backend.accept();
  CHECK(first_peer.receive(1) == "x");
  Peer second = connect_to(story.address);
  second.send("y");
  Peer second_peer = backend.accept();
  CHECK(second_peer.receive(1) == "y");
  story.worker.drain([&] { story.drained.fetch_add(1); }).get();
  CHECK_FALSE(connect_to(story.address));
  first.reset();
  CHECK(first_peer.next() == "reset");
  CHECK(comes_true([&] { return story.worker.sessions() == 1; }));
  CHECK(story.drained.load() == 0);
  second.reset();
  CHECK(comes_true([&] { return story.drained.load() == 1; }));
  CHECK(story.worker.sessions() == 0);
}

TEST_CASE("a worker that is told to cut ends all of its sessions") {
  Backlog backend;
  Story story(backend.address().text());
  std::vector<Peer> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(connect_to(story.address));
    clients.back().send("x");
    CHECK(backend.accept().receive(1) == "x");
  }
  story.worker.cut(core::CloseReason::killed, true);
  CHECK(comes_true([&] { return story.worker.sessions() == 0; }));
}
