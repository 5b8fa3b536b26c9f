#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "ctl/lines.h"
#include "ctl/rates.h"

namespace weir::ctl {

// What the live screen is drawn from.
struct View {
  Sample sample = {};
  Rates rates = {};
  std::deque<Json> events = {};  // the oldest first
  std::string failure = {};      // why the last poll failed; then the rest is older
};

struct ScreenSize {
  std::size_t rows = 0;  // 0 = without bound
  std::size_t columns = 0;
};

// One frame, at most as large as the screen. Pure.
std::vector<Line> frame(const View& view, WallTime now, ScreenSize size);

// How many of `rows` rows each section gets that would like `wishes`: all of them when they fit,
// otherwise the short ones first, and the long ones an even share.
std::vector<std::size_t> shares(const std::vector<std::size_t>& wishes, std::size_t rows);

}  // namespace weir::ctl
