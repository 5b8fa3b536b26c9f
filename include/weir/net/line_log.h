#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "weir/core/counter.h"
#include "weir/net/descriptor.h"

namespace weir::net {

class PatientWriter;

// Where lines go: `stdout`, `off`, or a file that is open for appending.
struct LineTarget {
  // Throws std::system_error when the file cannot be opened.
  static LineTarget open(const std::string& name);
  // Closes it, and removes the file if open() has made it and nobody has written to it.
  void take_back();

  std::string name;
  Descriptor file;    // none for `off`
  bool made = false;  // there was no such file before
};

// Lines from many workers into one file, through a bounded buffer per worker and one writer thread.
// A pipe nobody reads or a full disk costs lines, which are counted, and never stalls a worker.
class LineLog {
 public:
  // One worker's way in. Owned by the log; used by its worker's thread only, but for dropped().
  class Lane {
   public:
    explicit Lane(LineLog& log) : log_(log) {}
    // Queues the line, which ends in '\n', or drops and counts it when the writer is behind.
    void write(std::string_view line);
    // False while the log is off: nobody needs to make a line.
    bool wanted() const { return log_.enabled(); }

   private:
    friend class LineLog;
    LineLog& log_;
    std::mutex mutex_;  // guards pending_; the writer holds it for a swap only
    std::string pending_;
    core::Counter dropped_;
  };

  LineLog(LineTarget target, std::size_t workers);
  // Throws as LineTarget::open() does.
  LineLog(const std::string& target, std::size_t workers)
      : LineLog(LineTarget::open(target), workers) {}
  ~LineLog();  // finish()
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  // Writes what is queued, for a second at most, and ends the writer; what workers write after it
  // is lost. Called by one thread.
  void finish();

  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  Lane& lane(std::size_t worker) { return *lanes_[worker]; }

  // Opens the file anew, after a rotation. Any thread; done by the writer, who waits no longer for
  // somebody to read the old one.
  void reopen();
  // Goes on elsewhere, and what is still queued goes there too, also when nobody reads the file
  // that it was meant for; with `off`, where it was meant to go, for a second at most, and the file
  // is closed. One thread, that of finish().
  void retarget(LineTarget target);
  // Lines dropped since the start. Any thread.
  std::uint64_t dropped() const;

 private:
  void wake();
  void run();
  void go_on(LineTarget& next);
  void drain(std::string& scratch);
  void put(std::string_view text);
  void lose(std::string_view text);
  void open();
  void open_again();
  void start_writing(LineTarget target);

  std::atomic<bool> enabled_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  std::mutex mutex_;  // guards the wishes below
  std::condition_variable woken_;
  bool work_ = false;
  bool reopen_ = false;
  bool stop_ = false;
  std::optional<LineTarget> next_;

  // Writer thread from here on.
  std::string target_;
  std::unique_ptr<PatientWriter> file_;
  std::string kept_;    // taken over and not written, since somebody has another file for it
  core::Counter lost_;  // lines taken over but never written
  std::thread writer_;
};

}  // namespace weir::net
