#include "config/scalars.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace weir::config {

using namespace std::chrono_literals;

TEST_CASE("an integer is decimal digits and nothing else") {
  CHECK(parse_integer("0") == 0U);
  CHECK(parse_integer("256") == 256U);
  for (const char* text : {"", "-1", "+1", "010", "00", "3.0", "1e3", "0x10", "0o17", "1_000", " 1",
                           "1 ", "1,000", "ten"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text));
  }
}

TEST_CASE("an integer that does not fit is the largest rather than not a number") {
  CHECK(parse_integer("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  CHECK(parse_integer("18446744073709551616") == std::numeric_limits<std::uint64_t>::max());
  CHECK(parse_integer(std::string(1000, '9')) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("a duration is an integer and a unit, written together") {
  CHECK(parse_duration("250ms") == core::Duration(250ms));
  CHECK(parse_duration("10s") == core::Duration(10s));
  CHECK(parse_duration("5m") == core::Duration(5min));
  CHECK(parse_duration("1h") == core::Duration(1h));
  CHECK(parse_duration("0s") == core::Duration::zero());
  for (const char* text : {"", "0", "500", "5 s", "-1s", "+1s", "1e3", "1e3s", "0x10s", "010s",
                           "3.5s", "1_000ms", "s", "10S", "10sec", "1d", "5us", "1h30m", "10s "}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("a duration that does not fit is out of every range and does not wrap around") {
  CHECK(parse_duration("99999999999999999999h") > core::Duration(1000000h));
  CHECK(parse_duration("2562048h") > core::Duration(1000000h));
  CHECK(parse_duration("18446744073709551615ms") > core::Duration(1000000h));
}

TEST_CASE("a boolean is true or false and no other word") {
  CHECK(parse_boolean("true") == true);
  CHECK(parse_boolean("false") == false);
  for (const char* text : {"", "True", "FALSE", "yes", "no", "on", "off", "1", "0"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_boolean(text));
  }
}

TEST_CASE("a duration is written in its largest unit, and a fraction without needless digits") {
  for (const char* text :
       {"0s", "1ms", "999ms", "1s", "1001ms", "59s", "1m", "61s", "90m", "1h", "25h", "720h"}) {
    CHECK(duration_text(*parse_duration(text)) == text);
  }
  CHECK(duration_text(*parse_duration("60s")) == "1m");
  CHECK(duration_text(*parse_duration("5400s")) == "90m");
  CHECK(duration_text(*parse_duration("1000ms")) == "1s");
  CHECK(fraction_text(0) == "0");
  CHECK(fraction_text(1) == "1");
  CHECK(fraction_text(0.5) == "0.5");
  CHECK(fraction_text(0.0001) == "0.0001");
  for (int i = 0; i <= 10000; ++i) {
    const double fraction = i / 10000.0;
    CHECK(parse_fraction(fraction_text(fraction)) == fraction);
  }
}

TEST_CASE("a name is 1 to 64 letters, digits, underscores, dots and dashes") {
  CHECK(is_name("a"));
  CHECK(is_name("orders-EU_1.primary"));
  CHECK(is_name(std::string(64, 'x')));
  CHECK_FALSE(is_name(""));
  CHECK_FALSE(is_name(std::string(65, 'x')));
  for (const char* text : {"a b", "a/b", "a:b", "\xC3\xBC", "a\n", "{}"}) {
    CAPTURE(text);
    CHECK_FALSE(is_name(text));
  }
}

TEST_CASE("words that YAML takes for booleans or null are known in any case") {
  for (const char* text :
       {"yes", "No", "ON", "off", "True", "FALSE", "null", "NULL", "~", "y", "N"}) {
    CAPTURE(text);
    CHECK(is_yaml_word(text));
  }
  for (const char* text : {"", "none", "offline", "nobody", "1", "yesterday"}) {
    CAPTURE(text);
    CHECK_FALSE(is_yaml_word(text));
  }
}

}  // namespace weir::config
