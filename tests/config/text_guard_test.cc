#include "config/text_guard.h"

#include "tests/config/expect_problem.h"

namespace weir::config {

TEST_CASE("clean text is UTF-8 without control characters") {
  const std::string clean = "a\tb\nc\r\nd \xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80";
  CHECK(clean_prefix(clean) == clean.size());
  CHECK(clean_prefix("") == 0);
  for (const std::string& bad : {
           std::string("\0", 1),
           std::string("\x1B"),
           std::string("\x7F"),
           std::string("\r"),
           std::string("\x04"),      // yaml-cpp takes it for the end of the file
           std::string("\x80"),      // a continuation alone
           std::string("\xC3"),      // cut off
           std::string("\xC0\xAF"),  // an overlong slash
           std::string("\xE0\x80\xAF"),
           std::string("\xF0\x80\x80\xAF"),
           std::string("\xED\xA0\x80"),      // a surrogate
           std::string("\xF4\x90\x80\x80"),  // above U+10FFFF
           std::string("\xFF\xFE"),
       }) {
    CHECK(clean_prefix("ab" + bad + "c") == 2);
  }
}

TEST_CASE("a file that is not clean text is refused where that begins") {
  const std::string nul = "workers: 1\nlog: {level: in" + std::string("\0", 1) + "fo}\n";
  check_refused({
      {"NUL", nul, 2, 16, "", "control character 0x00"},
      {"Latin 1",
       "# gr\xFC\xDF"
       "e\n" +
           small_file(),
       1, 5, "", "byte 0xFC is not valid UTF-8"},
      {"UTF-16", std::string("\xFF\xFEw\0o\0", 6), 1, 1, "", "byte 0xFF is not valid UTF-8"},
      {"lone CR", "workers: 1\rlog: {}\n", 1, 11, "", "control character 0x0D"},
      {"end of transmission", "workers: 1\n\x04" + small_file(), 2, 1, "",
       "control character 0x04"},
  });
}

TEST_CASE("a file may have 4 MiB and not one byte more") {
  std::string text = small_file() + "#";
  text.resize(kLargestFile, 'x');
  must_load(text);
  check_refused({"one more", text + "x", 1, 1, "", "the file is too large (at most 4 MiB)"});
}

TEST_CASE("CFG-01: a flood of brackets is refused before it costs memory") {
  check_refused(
      {"flood", std::string(std::size_t{1} << 20, '['), 1, 1001, "", "too many open brackets"});
  must_load("# " + std::string(500, '[') + "\n" + small_file());
}

TEST_CASE("a hostile file has its first thousand problems reported") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "unknown" + std::to_string(i) + ": 1\n";
  const LoadResult result = load_text(text);
  CHECK_FALSE(result.configuration);
  REQUIRE(result.problems.size() == 1001);
  CHECK(result.problems.front().line == 1);
  CHECK(result.problems.back().message.find("more than 1000") != std::string::npos);
}

}  // namespace weir::config
