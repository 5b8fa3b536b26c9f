#include "weir/core/outcome_window.h"

#include <algorithm>

namespace weir::core {

void OutcomeWindow::set_length(Duration length) {
  const Duration width = length <= Duration::zero()
                             ? Duration::zero()
                             : std::max(length / static_cast<int>(kSlices), Duration(1));
  if (width == width_) return;
  OutcomeWindow old = *this;
  clear();
  width_ = width;
  newest_ = 0;
  if (width == Duration::zero()) return;
  // What an old slice holds is taken to be as old as its beginning: it may be forgotten a little
  // early, never late.
  const std::int64_t oldest = old.newest_ - static_cast<std::int64_t>(kSlices) + 1;
  for (std::int64_t index = std::max<std::int64_t>(oldest, 0); index <= old.newest_; ++index) {
    slide_to(TimePoint(old.width_ * index));
    slice(newest_).samples += old.slice(index).samples;
    slice(newest_).failures += old.slice(index).failures;
  }
}

void OutcomeWindow::slide_to(TimePoint now) {
  const std::int64_t index = now.time_since_epoch() / width_;
  if (index - newest_ >= static_cast<std::int64_t>(kSlices)) {
    clear();
    newest_ = index;
  }
  while (newest_ < index) slice(++newest_) = {};
}

void OutcomeWindow::add(TimePoint now, bool failed) {
  if (width_ == Duration::zero()) return;
  slide_to(now);
  slice(newest_).samples += 1;
  slice(newest_).failures += failed ? 1 : 0;
}

OutcomeWindow::Tally OutcomeWindow::tally(TimePoint now) {
  if (width_ == Duration::zero()) return {};
  slide_to(now);
  Tally sum;
  for (const Tally& slice : slices_) {
    sum.samples += slice.samples;
    sum.failures += slice.failures;
  }
  return sum;
}

void OutcomeWindow::clear() { slices_ = {}; }

}  // namespace weir::core
