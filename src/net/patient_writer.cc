#include "net/patient_writer.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace weir::net {
namespace {

constexpr int kLookMs = 20;  // how soon hurry() and interrupt() are noticed
constexpr std::chrono::milliseconds kHurriedFor(1000);

}  // namespace

void PatientWriter::replace(Descriptor file) {
  file_ = std::move(file);
  struct stat kind {};
  may_block_ = ::fstat(file_.get(), &kind) != 0 || !S_ISREG(kind.st_mode);
  if (std::exchange(hurried_here_, false)) give_up_at_ = Clock::time_point::max();
}

void PatientWriter::hurry_here() {
  if (give_up_at_ != Clock::time_point::max()) return;
  hurried_here_ = true;
  give_up_at_ = Clock::now() + kHurriedFor;
}

std::string_view PatientWriter::write(std::string_view text, int& error) {
  error = 0;
  if (torn_ && !text.empty()) {
    torn_ = false;  // a line of nothing, rather than two in one
    const std::string_view rest = write("\n", error);
    if (!rest.empty()) {
      torn_ = true;
      return text;
    }
  }
  const char* const begin = text.data();
  while (!text.empty()) {
    std::size_t size = text.size();
    if (may_block_) {
      if (!wait_for_room()) {
        torn_ = text.data() != begin && text.data()[-1] != '\n';
        return text;
      }
      // What polls as writable takes PIPE_BUF bytes without blocking. Cut after a line, so that
      // what is given up later is whole lines.
      size = std::min<std::size_t>(size, PIPE_BUF);
      if (const auto cut = text.rfind('\n', size - 1); cut != std::string_view::npos) {
        size = cut + 1;
      }
    }
    const ssize_t written = ::write(file_.get(), text.data(), size);
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      error = errno;
      torn_ = text.data() != begin && text.data()[-1] != '\n';
      return text;
    }
  }
  return text;
}

bool PatientWriter::wait_for_room() {
  for (;;) {
    pollfd ready{file_.get(), POLLOUT, 0};
    const bool over = interrupted() || Clock::now() >= give_up_at_;
    if (::poll(&ready, 1, over ? 0 : kLookMs) > 0) return true;
    if (over) return false;
    if (give_up_at_ == Clock::time_point::max() && hurried_.load(std::memory_order_relaxed)) {
      give_up_at_ = Clock::now() + kHurriedFor;
    }
  }
}

}  // namespace weir::net
