#include "weir/net/run_queue.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

using weir::net::Resumable;
using weir::net::RunQueue;

namespace {

// Writes its letter when it is resumed, and then does what the test wants done.
struct Letter final : Resumable {
  Letter(std::string& said, char name) : text(said), letter(name) {}
  void resume() override {
    text += letter;
    if (then) then();
  }
  std::string& text;
  char letter;
  std::function<void()> then;
};

// Resumes as many as that, or as there are; answers how many.
int run(RunQueue& queue, int most) {
  int ran = 0;
  while (ran < most && queue.run_one()) ++ran;
  return ran;
}

struct Three {
  std::string text;
  RunQueue queue;
  Letter a{text, 'a'}, b{text, 'b'}, c{text, 'c'};
};

}  // namespace

TEST_CASE("work is resumed in the order of asking, one at a time") {
  Three work;
  CHECK(work.queue.empty());
  for (Letter* each : {&work.b, &work.c, &work.a}) work.queue.push(*each);
  CHECK(run(work.queue, 2) == 2);
  CHECK(work.text == "bc");
  CHECK(work.a.queued());
  CHECK_FALSE(work.b.queued());
  CHECK(run(work.queue, 5) == 1);
  CHECK(work.text == "bca");
  CHECK(work.queue.empty());
  CHECK(run(work.queue, 5) == 0);
}

TEST_CASE("work that is queued already keeps its place") {
  Three work;
  for (Letter* each : {&work.a, &work.b, &work.a}) work.queue.push(*each);
  CHECK(run(work.queue, 5) == 2);
  CHECK(work.text == "ab");
}

TEST_CASE("work that asks again from within goes to the tail") {
  Three work;
  work.a.then = [&] { work.queue.push(work.a); };
  for (Letter* each : {&work.a, &work.b, &work.c}) work.queue.push(*each);
  CHECK(run(work.queue, 3) == 3);
  CHECK(work.text == "abc");
  CHECK(run(work.queue, 1) == 1);
  CHECK(work.text == "abca");
}

TEST_CASE("destroyed work takes itself out, from the head, the middle and the tail") {
  std::string text;
  RunQueue queue;
  auto first = std::make_unique<Letter>(text, '1');
  auto second = std::make_unique<Letter>(text, '2');
  auto third = std::make_unique<Letter>(text, '3');
  Letter stays(text, 's');
  Letter also(text, 't');
  for (Letter* each : {first.get(), &stays, second.get(), &also, third.get()}) queue.push(*each);
  first.reset();
  second.reset();
  third.reset();
  CHECK(run(queue, 9) == 2);
  CHECK(text == "st");
}

TEST_CASE("work may be destroyed while it runs, or destroy the next in line") {
  std::string text;
  RunQueue queue;
  auto first = std::make_unique<Letter>(text, '1');
  auto second = std::make_unique<Letter>(text, '2');
  auto third = std::make_unique<Letter>(text, '3');
  first->then = [&] { first.reset(); };
  second->then = [&] { third.reset(); };
  for (Letter* each : {first.get(), second.get(), third.get()}) queue.push(*each);
  CHECK(run(queue, 9) == 2);
  CHECK(text == "12");
  CHECK(queue.empty());
}

TEST_CASE("the queue may go before the work that waits in it") {
  std::string text;
  Letter one(text, '1');
  Letter two(text, '2');
  {
    RunQueue queue;
    queue.push(one);
    queue.push(two);
  }
  CHECK(text.empty());
}
