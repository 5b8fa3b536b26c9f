#include "ctl/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace weir::ctl {

void Table::add(Line cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<Line> Table::lines() const {
  std::vector<Line> all{{}};
  for (const Column& column : columns_) all.front().push_back({column.title, Mark::heading});
  all.insert(all.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size());
  for (const Line& row : all) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  for (Line& row : all) {
    Line line;
    std::size_t gap = 0;  // spaces owed before the next text
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) gap += 2;
      const std::size_t room = widths[i] - width_of(row[i].text);
      if (columns_[i].align == Align::right) gap += room;
      if (!row[i].text.empty()) {
        if (gap > 0) line.push_back({std::string(gap, ' '), Mark::plain});
        line.push_back(std::move(row[i]));
        gap = 0;
      }
      if (columns_[i].align == Align::left) gap += room;
    }
    row = std::move(line);
  }
  return all;
}

}  // namespace weir::ctl
