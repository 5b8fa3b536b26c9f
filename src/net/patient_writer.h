#pragma once

#include <atomic>
#include <chrono>
#include <string_view>

#include "weir/net/descriptor.h"

namespace weir::net {

// Writes to a file, pipe or terminal that somebody may have stopped reading: waits for room as long
// as it takes, but once hurried for a second in all, so that nobody's exit hangs on a reader. One
// thread writes; hurry() and interrupt() are for any thread.
class PatientWriter {
 public:
  PatientWriter() = default;
  explicit PatientWriter(Descriptor file) { replace(std::move(file)); }

  void replace(Descriptor file);
  explicit operator bool() const { return static_cast<bool>(file_); }

  // What could not be written of `text`, in whole lines where text has them: empty = nothing.
  // `error` is then errno, or 0 when it gave up waiting.
  [[nodiscard]] std::string_view write(std::string_view text, int& error);

  void hurry() { hurried_.store(true, std::memory_order_relaxed); }
  // The same for this file alone; of the thread that writes.
  void hurry_here();

  // Nothing is waited for until resume(): what does not go at once is given up. Somebody has
  // another file for the rest.
  void interrupt() { interrupted_.store(true, std::memory_order_relaxed); }
  void resume() { interrupted_.store(false, std::memory_order_relaxed); }
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  bool wait_for_room();

  Descriptor file_;
  bool may_block_ = false;  // anything but a regular file
  bool torn_ = false;       // what was written ends within a line, as a disk ran full there
  std::atomic<bool> hurried_{false};
  std::atomic<bool> interrupted_{false};
  bool hurried_here_ = false;
  Clock::time_point give_up_at_ = Clock::time_point::max();
};

}  // namespace weir::net
