#include "weir/net/channel.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;

namespace {

constexpr core::Duration kPatience = 20s;

// The writing ends of pipes, to be sent, and the reading ends by which they are known.
struct Pipes {
  explicit Pipes(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      int ends[2];
      REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
      readers.emplace_back(ends[0]);
      writers.emplace_back(ends[1]);
      numbers.push_back(ends[1]);
    }
  }

  bool is(std::size_t place, const Descriptor& received) const {
    const char sent = static_cast<char>('a' + place % 26);
    char got = 0;
    return ::write(received.get(), &sent, 1) == 1 && ::read(readers[place].get(), &got, 1) == 1 &&
           got == sent;
  }

  std::vector<Descriptor> readers;
  std::vector<Descriptor> writers;
  std::vector<int> numbers;
};

}  // namespace

TEST_CASE("messages on a channel arrive whole and in order, both ways") {
  auto [one, other] = Channel::make();
  REQUIRE(one.send("first", kPatience));
  REQUIRE(one.send("", kPatience));
  REQUIRE(one.send(std::string("with\0a zero", 11), kPatience));
  REQUIRE(other.send("back", kPatience));
  CHECK(other.receive(kPatience)->text == "first");
  CHECK(other.receive(kPatience)->text.empty());
  CHECK(other.receive(kPatience)->text == std::string("with\0a zero", 11));
  CHECK(one.receive(kPatience)->text == "back");
  CHECK_FALSE(one.poll());
  CHECK(one);
}

TEST_CASE("a message larger than any buffer goes through while the other side reads") {
  auto [one, other] = Channel::make();
  std::string large(20u << 20, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
  std::thread writer([&sends = one, &large] { CHECK(sends.send(large, kPatience)); });
  const auto message = other.receive(kPatience);
  writer.join();
  REQUIRE(message);
  CHECK(message->text == large);
}

TEST_CASE("hundreds of descriptors come with one message, each the one that was sent") {
  auto [one, other] = Channel::make();
  for (const std::size_t count : {1u, 199u, 200u, 201u, 450u}) {
    const Pipes pipes(count);
    REQUIRE(one.send("take these", kPatience, pipes.numbers));
    REQUIRE(one.send("and no more", kPatience));
    const auto message = other.receive(kPatience);
    REQUIRE(message);
    REQUIRE(message->descriptors.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(pipes.is(i, message->descriptors[i]));
      CHECK((::fcntl(message->descriptors[i].get(), F_GETFD) & FD_CLOEXEC) != 0);
      CHECK(::fcntl(pipes.numbers[i], F_GETFD) >= 0);
    }
    const auto next = other.receive(kPatience);
    REQUIRE(next);
    CHECK(next->text == "and no more");
    CHECK(next->descriptors.empty());
  }
}

TEST_CASE("descriptors of two messages that lie together go to the one that they came with") {
  auto [one, other] = Channel::make();
  const Pipes first(2);
  const Pipes second(3);
  REQUIRE(one.send("a", kPatience, first.numbers));
  REQUIRE(one.send("b", kPatience, second.numbers));
  const auto a = other.receive(kPatience);
  const auto b = other.receive(kPatience);
  REQUIRE(a->descriptors.size() == 2);
  REQUIRE(b->descriptors.size() == 3);
  CHECK(first.is(1, a->descriptors[1]));
  CHECK(second.is(2, b->descriptors[2]));
}

TEST_CASE("a message that comes in pieces is there once the last of them is") {
  auto [one, other] = Channel::make();
  auto [source, sink] = Channel::make();
  REQUIRE(source.send("in pieces", kPatience));
  char bytes[64];
  const ssize_t all = ::recv(sink.fd(), bytes, sizeof bytes, 0);
  REQUIRE(all > 9);
  for (ssize_t i = 0; i < all; ++i) {
    CHECK_FALSE(other.poll());
    CHECK(other.between_messages() == (i == 0));
    REQUIRE(::send(one.fd(), bytes + i, 1, 0) == 1);
  }
  const auto message = other.poll();
  REQUIRE(message);
  CHECK(message->text == "in pieces");
  CHECK(other.between_messages());
}

TEST_CASE("a peer that has gone closes the channel, after what it still said") {
  auto [one, other] = Channel::make();
  REQUIRE(one.send("farewell", kPatience));
  one.close();
  CHECK(other.receive(kPatience)->text == "farewell");
  CHECK_FALSE(other.receive(kPatience));
  CHECK_FALSE(other);
  CHECK(other.peer_gone());
  CHECK_FALSE(other.send("anybody?", kPatience));
}

TEST_CASE("to send to a peer that has gone fails and closes the channel") {
  auto [one, other] = Channel::make();
  other.close();
  CHECK_FALSE(one.send("anybody?", kPatience));
  CHECK_FALSE(one);
  CHECK(one.peer_gone());
}

TEST_CASE("a peer that says nothing in time counts as gone, though it is not") {
  auto [one, other] = Channel::make();
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(one.receive(50ms));
  CHECK(std::chrono::steady_clock::now() - start >= 50ms);
  CHECK_FALSE(one);
  CHECK_FALSE(one.peer_gone());
  CHECK(other);
}

TEST_CASE("a peer that does not read counts as gone once its buffer is full") {
  auto [one, other] = Channel::make();
  CHECK_FALSE(one.send(std::string(20u << 20, 'x'), 50ms));
  CHECK_FALSE(one);
  CHECK_FALSE(one.peer_gone());
}

TEST_CASE("what a peer said before it went is heard, though nothing can be said to it any more") {
  auto [one, other] = Channel::make();
  REQUIRE(other.send("the last word", kPatience));
  other.close();
  one.offer("too late", 0ms);
  const auto heard = one.await(kPatience);
  REQUIRE(heard);
  CHECK(heard->text == "the last word");
  CHECK_FALSE(one.await(kPatience));
  CHECK(one.peer_gone());
}

TEST_CASE("half a message is none: its end closes the channel") {
  auto [one, other] = Channel::make();
  REQUIRE(::send(one.fd(), "\x09\0\0\0\0\0\0\0abc", 11, 0) == 11);
  one.close();
  CHECK_FALSE(other.receive(kPatience));
  CHECK(other.peer_gone());
}

TEST_CASE("nonsense where a message should begin closes the channel") {
  for (const std::string& nonsense :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\0\0\0\0\xff\xff\xff\xff", 8),
        std::string("\xff\xff\xff\xff\0\0\0\0", 8)}) {
    auto [one, other] = Channel::make();
    REQUIRE(::send(one.fd(), nonsense.data(), nonsense.size(), 0) ==
            static_cast<ssize_t>(nonsense.size()));
    CHECK_FALSE(other.receive(kPatience));
    CHECK_FALSE(other);
    CHECK_FALSE(other.peer_gone());
  }
}

TEST_CASE("a channel without an end does nothing") {
  Channel none;
  CHECK_FALSE(none);
  CHECK_FALSE(none.send("x", kPatience));
  CHECK_FALSE(none.receive(kPatience));
  CHECK_FALSE(none.poll());
}
