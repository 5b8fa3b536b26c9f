#include "weir/net/wall_clock.h"

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <regex>
#include <string>

using namespace weir::net;
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

namespace {

milliseconds since_epoch() {
  return std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch());
}

// Back from the text, by another way than it was made.
milliseconds parsed(const std::string& text) {
  std::tm utc{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  REQUIRE(rest != nullptr);
  return std::chrono::seconds(::timegm(&utc)) + milliseconds(std::stoi(std::string(rest + 1, 3)));
}

std::string now_as_text(WallClock& clock) {
  std::string text;
  clock.append_now(text);
  return text;
}

}  // namespace

TEST_CASE("the time of day has one form, in UTC and with milliseconds") {
  WallClock clock;
  std::string text = "ts=";
  clock.append_now(text);
  static const std::regex form(R"(ts=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
  CHECK(std::regex_match(text, form));
}

TEST_CASE("every text is the time at which it was asked for, over the change of a second too") {
  WallClock clock;
  const milliseconds start = since_epoch();
  const milliseconds until = start - start % 1000 + 1003ms;
  milliseconds before = start;
  int wrong = 0;
  while (before < until) {
    before = since_epoch();
    const milliseconds shown = parsed(now_as_text(clock));
    if (shown < before || shown > since_epoch()) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("any moment can be written, in any order") {
  WallClock clock;
  std::string text;
  const WallTime moment{1'790'000'000'007ms};
  clock.append(text, moment);
  clock.append(text += ' ', moment + 86'400'993ms);
  clock.append(text += ' ', moment);
  CHECK(text == "2026-09-21T14:13:20.007Z 2026-09-22T14:13:21.000Z 2026-09-21T14:13:20.007Z");
}
