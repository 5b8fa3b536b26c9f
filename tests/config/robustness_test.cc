#include <algorithm>
#include <random>

#include "tests/config/loading.h"

namespace weir::config {
namespace {

// One random damage: a flipped bit, another byte, a cut end, a line twice, a piece left out.
void damage(std::string& text, std::mt19937& random) {
  if (text.empty()) return;
  const std::size_t at = random() % text.size();
  const std::size_t length = random() % 20;
  switch (random() % 6) {
    case 0:
      text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << (random() % 8)));
      break;
    case 1: {
      const std::string_view odd = "{}[]:,&*!|>'\"%@`#-?~<\n\t \\$0";
      text[at] = odd[random() % odd.size()];
      break;
    }
    case 2:
      text.resize(at);
      break;
    case 3: {
      const std::size_t start = text.rfind('\n', at) + 1;  // npos + 1 is the beginning
      const std::size_t end = std::min(text.find('\n', at), text.size());
      text.insert(start, text.substr(start, end - start) + "\n");
      break;
    }
    case 4:
      text.erase(at, length);
      break;
    default:
      text.insert(random() % text.size(), text.substr(at, length));
  }
}

}  // namespace

TEST_CASE("a damaged file is loaded or refused with a place within it, and never anything else") {
  const std::string whole = read_source_file("conf/full.yaml");
  std::string bare;  // the same without comments, so that more of the damage counts
  std::istringstream lines(whole);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line[first] != '#') bare += line + "\n";
  }

  std::mt19937 random(20240229);  // always the same damage
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 3 == 0 ? whole : bare;
    for (auto i = random() % 4 + 1; i > 0; --i) damage(text, random);
    const LoadResult result = load_text(text);
    CAPTURE(text);
    REQUIRE(result.configuration.has_value() == result.problems.empty());
    refused += result.configuration ? 0 : 1;
    const auto last_line = std::count(text.begin(), text.end(), '\n') + 1;
    for (const Problem& problem : result.problems) {
      REQUIRE(problem.line >= 1);
      REQUIRE(problem.line <= last_line);
      REQUIRE(problem.column >= 1);
      REQUIRE_FALSE(problem.message.empty());
    }
  }
  CHECK(refused > 1000);
}

}  // namespace weir::config
