#include "ctl/words.h"

#include <doctest/doctest.h>

#include "tests/ctl/typed.h"

using namespace weir::ctl;
using namespace std::chrono_literals;

TEST_CASE("words: a duration has two units at most, and never reads as more than it is") {
  CHECK(duration_text(-5ms) == "0ms");
  CHECK(duration_text(999ms) == "999ms");
  CHECK(duration_text(1000ms) == "1.0s");
  CHECK(duration_text(9999ms) == "9.9s");
  CHECK(duration_text(10s) == "10s");
  CHECK(duration_text(59'999ms) == "59s");
  CHECK(duration_text(65s) == "1m05s");
  CHECK(duration_text(3599s) == "59m59s");
  CHECK(duration_text(2h + 3min + 59s) == "2h03m");
  CHECK(duration_text(76h) == "3d04h");
}

TEST_CASE("words: bytes are in the unit that keeps the number short") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(10 * 1024) == "10 KiB");
  CHECK(bytes_text(1024 * 1024 - 1) == "1.0 MiB");
  CHECK(bytes_text(20.0 * 1024 * 1024) == "20 MiB");
  CHECK(bytes_text(1.8e19) == "16 EiB");
}

TEST_CASE("words: a rate without two samples is a dash, and a large one is short") {
  CHECK(rate_text(std::nullopt) == "-");
  CHECK(rate_text(0) == "0");
  CHECK(rate_text(0.4) == "0.4");
  CHECK(rate_text(37.4) == "37");
  CHECK(rate_text(9999) == "9999");
  CHECK(rate_text(12'345) == "12.3k");
  CHECK(rate_text(2'500'000) == "2.5M");
}

TEST_CASE("words: a countdown is rounded up, so that what it shows is not over") {
  CHECK(countdown_text(std::nullopt, noon()) == "-");
  CHECK(countdown_text(noon(), noon()) == "due");
  CHECK(countdown_text(noon() - 1h, noon()) == "due");
  CHECK(countdown_text(noon() + 1ms, noon()) == "in 0.1s");
  CHECK(countdown_text(noon() + 3150ms, noon()) == "in 3.2s");
  CHECK(countdown_text(noon() + 9950ms, noon()) == "in 10s");
  CHECK(countdown_text(noon() + 29'001ms, noon()) == "in 30s");
  CHECK(countdown_text(noon() + 90s, noon()) == "in 1m30s");
}

TEST_CASE("words: one is not several") {
  CHECK(plural(0, "session") == "0 sessions");
  CHECK(plural(1, "session") == "1 session");
  CHECK(plural(2, "session") == "2 sessions");
}

TEST_CASE("words: times are read as weir writes them, and nothing else is a time") {
  const auto midnight = parse_time("2026-11-30T00:00:00Z");
  REQUIRE(midnight);
  CHECK(midnight->time_since_epoch() == 1'795'996'800s);
  CHECK(*parse_time("2026-11-30T12:00:00.123Z") == *midnight + 12h + 123ms);
  for (const char* wrong :
       {"", "now", "2026-11-30", "2026-11-30T12:00:00", "2026-13-30T12:00:00Z",
        "2026-02-30T12:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T12:00:00.1Z",
        "2026-11-30T12:0x:00Z", "2026-11-30T12:00:00.12xZ", "2026-11-30 12:00:00Z"}) {
    INFO(wrong);
    CHECK(!parse_time(wrong));
  }
}

TEST_CASE("words: what could command a terminal is written out") {
  CHECK(printable("unix:/run/x.sock") == "unix:/run/x.sock");
  CHECK(printable("a\x1b[31mb\n") == "a\\x1b[31mb\\x0a");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable("\xc2\x9b") == "\\x9b");  // CSI in one character
  CHECK(printable("caf\xc3\xa9") == "caf\xc3\xa9");
}
