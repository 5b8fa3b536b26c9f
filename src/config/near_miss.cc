#include "config/near_miss.h"

#include <algorithm>
#include <cstddef>

namespace weir::config {
namespace {

// Number of letters to change, add, drop or swap with a neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string_view near_miss(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kMostLetters = 2;
  std::size_t least = kMostLetters + 1;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    if (word.size() > candidate.size() + kMostLetters) continue;
    const std::size_t letters = distance(word, candidate);
    if (letters >= least || 2 * letters >= candidate.size()) continue;
    least = letters;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace weir::config
