#include "weir/net/line_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "net/patient_writer.h"
#include "weir/net/log.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;

// What a worker may have queued: about 4,000 lines, half a second of connections at full speed.
constexpr std::size_t kLaneBytes = 1 << 20;

// After a pass the writer rests, so that a busy worker wakes it 50 times a second and not once a
// line. A line is in the file this much later at the most.
constexpr milliseconds kRest(20);

std::uint64_t lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

Descriptor open_file(const std::string& name, int how) {
  return Descriptor(::open(name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | how, 0640));
}

Descriptor open_for_appending(const std::string& name) {
  if (name == "stdout") return Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  return open_file(name, O_CREAT);
}

}  // namespace

LineTarget LineTarget::open(const std::string& name) {
  LineTarget target{name, {}};
  if (name == "off") return target;
  if (name != "stdout") {
    target.file = open_file(name, O_CREAT | O_EXCL);
    target.made = static_cast<bool>(target.file);
  }
  if (!target.made) target.file = open_for_appending(name);
  if (!target.file) throw std::system_error(errno, std::generic_category(), name);
  return target;
}

void LineTarget::take_back() {
  struct stat ours {};
  struct stat there {};
  const bool unused = made && ::fstat(file.get(), &ours) == 0 && ours.st_size == 0 &&
                      ::lstat(name.c_str(), &there) == 0 && there.st_dev == ours.st_dev &&
                      there.st_ino == ours.st_ino;
  if (unused) ::unlink(name.c_str());
  file.reset();
}

void LineLog::Lane::write(std::string_view line) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    if (pending_.size() + line.size() > kLaneBytes) {
      dropped_.add();
      return;
    }
    was_empty = pending_.empty();
    pending_ += line;
  }
  if (was_empty) log_.wake();
}

LineLog::LineLog(LineTarget target, std::size_t workers)
    : enabled_(static_cast<bool>(target.file)), file_(std::make_unique<PatientWriter>()) {
  for (std::size_t worker = 0; worker < workers; ++worker) {
    lanes_.push_back(std::make_unique<Lane>(*this));
  }
  if (enabled()) start_writing(std::move(target));
}

void LineLog::start_writing(LineTarget target) {
  target_ = std::move(target.name);
  file_->replace(std::move(target.file));
  writer_ = std::thread([this] { run(); });
}

void LineLog::retarget(LineTarget target) {
  const bool on = static_cast<bool>(target.file);
  if (on && !writer_.joinable()) {
    start_writing(std::move(target));
  } else if (writer_.joinable()) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(target);
    reopen_ = true;
    file_->interrupt();
  }
  enabled_.store(on, std::memory_order_relaxed);
  woken_.notify_one();
}

LineLog::~LineLog() { finish(); }

void LineLog::finish() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  woken_.notify_one();
  file_->hurry();
  writer_.join();
}

void LineLog::reopen() {
  {
    const std::lock_guard lock(mutex_);
    reopen_ = true;
    file_->interrupt();
  }
  woken_.notify_one();
}

std::uint64_t LineLog::dropped() const {
  std::uint64_t sum = lost_.value();
  for (const auto& lane : lanes_) sum += lane->dropped_.value();
  return sum;
}

void LineLog::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(work_, true)) return;
  }
  woken_.notify_one();
}

void LineLog::run() {
  std::string scratch;
  for (;;) {
    bool reopening = false;
    bool stopping = false;
    std::optional<LineTarget> next;
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [this] { return work_ || reopen_ || stop_; });
      stopping = stop_;
      work_ = false;
      reopening = std::exchange(reopen_, false);
      next = std::exchange(next_, std::nullopt);
      reopening = reopening && !next;
      // Its reason is known now. To open the file anew the old one gets only what it has room for.
      if (!reopening) file_->resume();
    }
    const bool off = next && !next->file;
    const bool stuck = !kept_.empty();
    if (next && !off) go_on(*next);
    if (off) file_->hurry_here();
    if (reopening && stuck) open_again();
    drain(scratch);
    if (off) {  // once all is written
      lose(std::exchange(kept_, {}));
      go_on(*next);
    }
    if (reopening && !stuck) {
      open_again();
      drain(scratch);  // what the old one had no room for
    }
    if (stopping && kept_.empty()) return;
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, kRest, [this] { return stop_ || reopen_; });
  }
}

void LineLog::open_again() {
  if (*file_) open();
  file_->resume();
}

void LineLog::go_on(LineTarget& next) {
  target_ = std::move(next.name);
  file_->replace(std::move(next.file));
}

// What is left over when somebody has another file for it comes first in the next round.
void LineLog::drain(std::string& scratch) {
  put(std::exchange(kept_, {}));
  for (const auto& lane : lanes_) {
    if (!kept_.empty()) return;
    scratch.clear();
    {
      const std::lock_guard lock(lane->mutex_);
      scratch.swap(lane->pending_);
    }
    put(scratch);
  }
}

void LineLog::put(std::string_view text) {
  if (!*file_) return;  // it was switched off meanwhile
  int error = 0;
  std::string_view rest = file_->write(text, error);
  if (rest.empty()) return;
  if (error == 0 && file_->interrupted()) {
    // The end of a line whose beginning is elsewhere is no line.
    if (rest.size() < text.size() && rest.data()[-1] != '\n') {
      const std::size_t end = rest.find('\n') + 1;
      lose(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    kept_ = rest;
    return;
  }
  lose(rest);
  static LogRate rate{std::chrono::seconds(10)};
  std::uint64_t held_back = 0;
  if (error != 0 && rate.admit(std::chrono::steady_clock::now(), held_back)) {
    log(LogLevel::error, "log file", "cannot write to {}: {}; lines are dropped", target_,
        std::strerror(error));
  }
}

void LineLog::lose(std::string_view text) { lost_.add(lines(text)); }

void LineLog::open() {
  Descriptor opened = open_for_appending(target_);
  if (!opened) {
    if (*file_) {
      log(LogLevel::error, "log file", "cannot reopen {}: {}; the old file is kept", target_,
          std::strerror(errno));
    }
    return;
  }
  file_->replace(std::move(opened));
}

}  // namespace weir::net
