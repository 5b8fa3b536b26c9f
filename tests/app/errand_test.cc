#include "app/errand.h"

#include <doctest/doctest.h>

#include <exception>
#include <string>

using namespace weir;
using namespace weir::app;
using namespace std::chrono_literals;

namespace {

Answer some_answer() {
  Answer answer;
  answer.ended = 3;
  proxy::SessionView& view = answer.sessions.emplace_back();
  view.id = 77;
  view.listener = "front";
  view.client = "[::1]:1234";
  view.pool = "orders";
  view.backend = "pg-a";
  view.state = proxy::SessionState::parting;
  view.age = 1234ms;
  view.bytes_in = 1ull << 60;
  view.bytes_out = 2;
  view.attempts.push_back({"pg-b", "127.0.0.1:1", core::DialOutcome::refused, 5us});
  view.attempts.push_back({"pg-a", "127.0.0.1:2", core::DialOutcome::connected, 6us});
  return answer;
}

}  // namespace

TEST_CASE("an errand is read as it was written") {
  Errand errand;
  errand.kind = Errand::Kind::end_sessions;
  errand.filter = {"front", "orders", "pg-a"};
  errand.most = 10'001;
  errand.id = 1ull << 60;
  errand.reason = "killed";
  errand.takes_sessions = false;
  const Errand read = read_errand(text(errand));
  CHECK(read.kind == Errand::Kind::end_sessions);
  CHECK(read.filter.listener == "front");
  CHECK(read.filter.pool == "orders");
  CHECK(read.filter.backend == "pg-a");
  CHECK(read.most == 10'001);
  CHECK(read.id == 1ull << 60);
  CHECK(read.reason == "killed");
  CHECK_FALSE(read.takes_sessions);
  CHECK(read.places.empty());
}

TEST_CASE("a gift is read as it was written") {
  Errand gift;
  gift.kind = Errand::Kind::give;
  gift.filter.pool = "orders";
  gift.number = 4;
  gift.slots = 2;
  gift.places = {{"pg-a", "127.0.0.1:1", 1}, {"pg-b", "127.0.0.1:2", 3}};
  const Errand read = read_errand(text(gift));
  CHECK(read.kind == Errand::Kind::give);
  CHECK(read.number == 4);
  CHECK(read.slots == 2);
  REQUIRE(read.places.size() == 2);
  CHECK(read.places[1].backend == "pg-b");
  CHECK(read.places[1].address == "127.0.0.1:2");
  CHECK(read.places[1].places == 3);
}

TEST_CASE("an answer is read as it was written, attempts and all") {
  const std::string written = text(some_answer());
  CHECK(is_answer(written));
  const Answer read = read_answer(written);
  CHECK(read.ended == 3);
  REQUIRE(read.sessions.size() == 1);
  const proxy::SessionView& view = read.sessions[0];
  CHECK(view.id == 77);
  CHECK(view.listener == "front");
  CHECK(view.client == "[::1]:1234");
  CHECK(view.pool == "orders");
  CHECK(view.backend == "pg-a");
  CHECK(view.state == proxy::SessionState::parting);
  CHECK(view.age == 1234ms);
  CHECK(view.bytes_in == 1ull << 60);
  CHECK(view.bytes_out == 2);
  REQUIRE(view.attempts.size() == 2);
  CHECK(view.attempts[0].backend == "pg-b");
  CHECK(view.attempts[0].address == "127.0.0.1:1");
  CHECK(view.attempts[0].outcome == core::DialOutcome::refused);
  CHECK(view.attempts[1].took == 6us);
}

TEST_CASE("an errand is no answer") { CHECK_FALSE(is_answer(text(Errand{}))); }

TEST_CASE("errands and answers that are broken throw") {
  const std::string errand = text(Errand{});
  for (std::size_t length = 0; length < errand.size(); ++length) {
    CHECK_THROWS_AS(static_cast<void>(read_errand(errand.substr(0, length))), std::exception);
  }
  const std::string answer = text(some_answer());
  for (std::size_t length = 0; length < answer.size(); ++length) {
    CHECK_THROWS_AS(static_cast<void>(read_answer(answer.substr(0, length))), std::exception);
  }
  for (const char* nonsense : {"{}", "[]", R"({"answer":{}})", R"({"kind":99})"}) {
    CHECK_THROWS_AS(static_cast<void>(read_errand(nonsense)), std::exception);
    CHECK_THROWS_AS(static_cast<void>(read_answer(nonsense)), std::exception);
  }
  for (const char* kind : {"-1", "6", "1000"}) {
    std::string unknown = errand;
    const std::string known = "\"kind\":0";
    REQUIRE(unknown.find(known) != std::string::npos);
    unknown.replace(unknown.find(known), known.size(), std::string("\"kind\":") + kind);
    CHECK_THROWS_AS(static_cast<void>(read_errand(unknown)), std::exception);
  }
}
