#pragma once

#include <string>
#include <vector>

#include "ctl/lines.h"

namespace weir::ctl {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

// Rows under a heading, each column as wide as its widest cell, two spaces between them. No line
// ends in spaces.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(Line cells);
  std::size_t rows() const { return rows_.size(); }

  // The heading first.
  std::vector<Line> lines() const;

 private:
  std::vector<Column> columns_;
  std::vector<Line> rows_;
};

}  // namespace weir::ctl
