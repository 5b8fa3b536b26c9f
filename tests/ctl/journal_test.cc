#include "ctl/journal.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace weir::ctl;

namespace {

// Events `first` to `last`, a second apart from 12:00:00 on.
Json events(std::uint64_t first, std::uint64_t last, std::uint64_t oldest = 1, int minute = 0) {
  Json answer{{"events", Json::array()}, {"next", last}, {"oldest", oldest}};
  for (std::uint64_t seq = first; seq <= last; ++seq) {
    answer["events"].push_back(
        {{"seq", seq}, {"ts", fmt::format("2026-11-30T12:{:02}:{:02}.000Z", minute, seq)}});
  }
  return answer;
}

std::vector<std::uint64_t> numbers(const Journal::News& news) {
  std::vector<std::uint64_t> all;
  for (const Json& event : news.events) all.push_back(whole(field(event, "seq")));
  return all;
}

}  // namespace

TEST_CASE("journal: each event is taken once, and the next request begins after the last one") {
  Journal journal;
  CHECK(journal.target() == "/v1/events?since=0");
  CHECK(numbers(journal.take(events(1, 3))) == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(journal.target() == "/v1/events?since=3");
  CHECK(numbers(journal.take(events(3, 4))) == std::vector<std::uint64_t>{4});
  CHECK(numbers(journal.take(events(5, 4))).empty());
}

TEST_CASE("journal: no event is passed over, whether `next` is the last number or the one after") {
  Journal journal;
  Json answer = events(1, 3);
  answer["next"] = 4;
  journal.take(answer);
  CHECK(journal.target() == "/v1/events?since=3");
  answer = events(4, 4);
  answer["next"] = 5;
  CHECK(numbers(journal.take(answer)) == std::vector<std::uint64_t>{4});
}

TEST_CASE("journal: events that came and went between two looks are counted") {
  Journal journal;
  // Who has asked for no certain place misses nothing that was there before.
  CHECK(journal.take(events(10, 12, 10)).lost == 0);
  CHECK(journal.take(events(13, 13, 13)).lost == 0);
  CHECK(journal.take(events(20, 22, 20)).lost == 6);
  CHECK(Journal(5).take(events(10, 12, 10)).lost == 4);
  CHECK(Journal(5).take(events(6, 7, 6)).lost == 0);
}

TEST_CASE("journal: numbers that have gone back are a weir that was restarted") {
  Journal journal;
  journal.take(events(1, 9));
  const Journal::News news = journal.take(events(10, 2));
  CHECK(news.restarted);
  CHECK(news.events.empty());
  CHECK(journal.target() == "/v1/events?since=0");
  // The new process's own events are new, however their numbers look.
  CHECK(numbers(journal.take(events(1, 2, 1, 5))) == std::vector<std::uint64_t>{1, 2});
  CHECK(!journal.take(events(3, 2)).restarted);
  // By one is enough.
  CHECK(journal.take(events(2, 1)).restarted);
}

TEST_CASE("journal: what a new process has taken over from the old one is not shown again") {
  Journal journal;
  journal.take(events(1, 9));
  journal.begin_anew();
  CHECK(numbers(journal.take(events(1, 11))) == std::vector<std::uint64_t>{10, 11});
}

TEST_CASE("journal: an event is one line with its time, kind, subject, end and cause") {
  const auto line = [](const char* json) {
    return text_of({event_line(Json::parse(json))}, false);
  };
  CHECK(line(R"({"ts":"T","kind":"circuit","pool":"p","backend":"b","to":"open","cause":"c"})") ==
        "T  circuit   p/b  open: c\n");
  CHECK(line(R"({"ts":"T","kind":"reload","pool":null,"backend":null,"to":"3","cause":null})") ==
        "T  reload    weir  3\n");
}
