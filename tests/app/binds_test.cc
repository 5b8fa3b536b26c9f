#include "weir/app/binds.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/net/peer.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::app;

namespace {

using Ids = std::vector<proxy::AddressId>;
constexpr std::size_t kWorkers = 3;

proxy::ListenerOptions listener(const std::string& name, const std::vector<std::string>& bind) {
  proxy::ListenerOptions options;
  options.name = name;
  for (const std::string& each : bind) {
    const bool any_port = each.ends_with(":0");  // which no file can say
    core::Endpoint endpoint =
        core::parse_endpoint(any_port ? each.substr(0, each.size() - 1) + "1" : each).endpoint;
    if (any_port) endpoint.port = 0;
    options.bind.push_back(endpoint);
  }
  return options;
}

// What is bound, from one configuration to the next. The sockets stay open, as workers keep them.
struct Story {
  // Answers the failure, or nothing.
  std::optional<BindFailure> open(const std::vector<proxy::ListenerOptions>& next,
                                  std::vector<Bind> closing = {}) {
    std::vector<Rebinding::Inherited> none;
    last = std::make_unique<Rebinding>(std::move(closing));
    auto failure = last->open(bound, next, kWorkers, last_id, none);
    if (failure) {
      last.reset();
      return failure;
    }
    bound.clear();
    for (std::size_t i = 0; i < next.size(); ++i) {
      bound.push_back({next[i].name, last->listeners()[i].binds});
      for (auto& opened : last->listeners()[i].opened) {
        CHECK(opened.sockets.size() == kWorkers);
        for (auto& of_worker : opened.sockets) {
          REQUIRE(of_worker.size() == 1);
          sockets.push_back(std::move(of_worker[0]));
        }
      }
    }
    return failure;
  }
  const Rebinding::Listener& listener_at(std::size_t place) { return last->listeners()[place]; }
  Ids ids(std::size_t place) {
    Ids ids;
    for (const Bind& bind : bound[place].binds) ids.push_back(bind.id);
    return ids;
  }

  std::vector<BoundListener> bound;
  std::unique_ptr<Rebinding> last;
  std::vector<net::ListenSocket> sockets;
  proxy::AddressId last_id = 0;
};

// A port that was free a moment ago.
std::string free_port() { return std::to_string(net::Backlog().address().port()); }

}  // namespace

TEST_CASE("addresses that are there already stay, whatever their order") {
  const std::string a = "127.0.0.1:" + free_port();
  const std::string b = "127.0.0.1:" + free_port();
  Story story;
  REQUIRE_FALSE(story.open({listener("x", {a, b}), listener("y", {"127.0.0.1:0"})}));
  CHECK(story.ids(0) == Ids{1, 2});
  const std::size_t sockets = story.sockets.size();
  CHECK(sockets == 3 * kWorkers);
  REQUIRE_FALSE(story.open({listener("y", {"127.0.0.1:0"}), listener("x", {b, a})}));
  CHECK(story.ids(0) == Ids{3});
  CHECK(story.ids(1) == Ids{2, 1});
  CHECK(story.sockets.size() == sockets);
  for (const std::size_t place : {0U, 1U}) {
    CHECK(story.listener_at(place).closed.empty());
    CHECK(story.listener_at(place).taken_over.empty());
  }
  CHECK(story.last->closed().empty());
}

TEST_CASE("what nobody wants any more is closed, what is new is opened") {
  const std::string a = "127.0.0.1:" + free_port();
  const std::string b = "127.0.0.1:" + free_port();
  const std::string c = "127.0.0.1:" + free_port();
  Story story;
  REQUIRE_FALSE(story.open({listener("x", {a, b}), listener("gone", {c})}));
  REQUIRE_FALSE(story.open({listener("x", {b})}));
  CHECK(story.listener_at(0).closed == Ids{1});
  REQUIRE(story.last->closed().size() == 2);  // with those of who is gone
  CHECK(story.last->closed()[1].id == 3);
  CHECK(story.listener_at(0).opened.empty());
}

TEST_CASE("an address goes from one listener to another, and two can exchange theirs") {
  const std::string a = "127.0.0.1:" + free_port();
  const std::string b = "127.0.0.1:" + free_port();
  Story story;
  REQUIRE_FALSE(story.open({listener("x", {a}), listener("y", {b})}));
  REQUIRE_FALSE(story.open({listener("x", {b}), listener("y", {a})}));
  CHECK(story.listener_at(0).taken_over == Ids{2});
  CHECK(story.listener_at(1).taken_over == Ids{1});
  CHECK(story.last->closed().empty());
  REQUIRE_FALSE(story.open({listener("renamed", {b, a})}));
  CHECK(story.listener_at(0).taken_over == Ids{2, 1});
  CHECK(story.sockets.size() == 2 * kWorkers);
}

TEST_CASE("a port of the kernel's choice is kept by its listener and taken over by nobody") {
  Story story;
  REQUIRE_FALSE(story.open({listener("x", {"127.0.0.1:0"})}));
  const std::string before = story.bound[0].binds[0].address.text();
  REQUIRE_FALSE(story.open({listener("y", {"127.0.0.1:0"})}));
  CHECK(story.listener_at(0).taken_over.empty());
  CHECK(story.bound[0].binds[0].address.text() != before);
}

TEST_CASE("a port of ours is joined, somebody else's is not") {
  const std::string port = free_port();
  Story story;
  REQUIRE_FALSE(story.open({listener("x", {"127.0.0.1:" + port})}));
  REQUIRE_FALSE(story.open({listener("x", {"0.0.0.0:" + port})}));
  CHECK(story.last->closed().size() == 1);
  net::Backlog other;
  const std::string taken = other.address().text();
  const auto failure = story.open({listener("x", {"0.0.0.0:" + port, taken})});
  REQUIRE(failure);
  CHECK(failure->listener == 0);
  CHECK(failure->bind == 1);
  CHECK(failure->message == taken + ": cannot bind: Address already in use");
}

TEST_CASE("a port that is not closed yet is still ours, and once it is closed it is anybody's") {
  const std::string a = "127.0.0.1:" + free_port();
  const std::string b = "127.0.0.1:" + free_port();
  Story story;
  REQUIRE_FALSE(story.open({listener("x", {a, b})}));
  REQUIRE_FALSE(story.open({listener("x", {a})}));
  const std::vector<Bind> closing = story.last->closed();
  CHECK(story.open({listener("x", {a, b})}));  // the sockets are there
  REQUIRE_FALSE(story.open({listener("x", {a, b})}, closing));
  CHECK(story.ids(0).size() == 2);
  CHECK(story.ids(0)[1] > 2);  // another address to the workers
}

TEST_CASE("[::] is another socket where a 0.0.0.0 of its port comes or goes beside it") {
  const std::string port = free_port();
  const std::string v4 = "0.0.0.0:" + port;
  const std::string v6 = "[::]:" + port;
  Story story;
  REQUIRE_FALSE(story.open({listener("x", {v4, v6})}));
  CHECK(story.bound[0].binds[1].ipv6_only);
  REQUIRE_FALSE(story.open({listener("x", {v6})}));
  CHECK_FALSE(story.bound[0].binds[0].ipv6_only);
  CHECK(story.last->closed().size() == 2);
  REQUIRE_FALSE(story.open({listener("x", {v6})}));
  CHECK(story.last->closed().empty());
}

TEST_CASE("a failure opens nothing and leaves no file") {
  net::ScratchFolder folder;
  Story story;
  const auto failure =
      story.open({listener("x", {"unix:" + folder.file("a")}), listener("y", {"unix:/none/b"})});
  REQUIRE(failure);
  CHECK(failure->listener == 1);
  CHECK(failure->bind == 0);
  CHECK_FALSE(std::filesystem::exists(folder.file("a")));
  CHECK(story.bound.empty());
}
