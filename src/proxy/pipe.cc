#include "weir/proxy/pipe.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

namespace weir::proxy {
namespace {

using net::IoResult;

// The first reads of a direction, and those after a sink refused some: what a stuck direction
// holds is then small.
constexpr std::uint32_t kFirstRead = 16 * 1024;

// Reads grow to this while the sink takes everything: half the cost of 64 KiB
// (docs/performance.md).
constexpr std::uint32_t kLargestRead = 512 * 1024;

// A turn ends after this many bytes, somewhat less than a millisecond of copying.
constexpr std::uint32_t kTurnBytes = 2 * 1024 * 1024;

// How often within its bound a stalled sink is looked at: it is cut off between one bound and one
// and a quarter after its peer last took something.
constexpr int kLooks = 4;

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

}  // namespace

Pipe::Pipe() : read_size_(kFirstRead) {}

Pipe::Next Pipe::pump(net::Socket& source, net::Socket& sink, std::span<char> scratch,
                      core::TimePoint now, core::Counter& total, bool opposite_finished) {
  moved_this_turn_ = 0;
  for (Step step = Step::again; step == Step::again;) {
    if (moved_this_turn_ >= kTurnBytes) return Next::resume;
    switch (state_) {
      case State::flowing:
        step = held_size_ > 0 ? flush(sink, now, total) : move(source, sink, scratch, now, total);
        break;
      case State::ending:
        if (!opposite_finished) sink.shutdown_write();
        state_ = State::finished;
        step = Step::wait;
        break;
      case State::sink_broken:
        step = discard(source, scratch);
        break;
      case State::source_reset:
      case State::finished:
        step = Step::wait;
        break;
    }
  }
  return Next::wait;
}

Pipe::Step Pipe::flush(net::Socket& sink, core::TimePoint now, core::Counter& total) {
  if (!sink.writable()) return Step::wait;
  const IoResult written = sink.write({held_.get() + held_begin_, held_size_});
  if (written.status == IoResult::Status::failed) {
    drop_held();
    state_ = State::sink_broken;
    return Step::again;
  }
  if (written.status != IoResult::Status::done) return Step::wait;
  took(written.bytes, now, total);
  held_begin_ += static_cast<std::uint32_t>(written.bytes);
  held_size_ -= static_cast<std::uint32_t>(written.bytes);
  if (held_size_ > 0) {
    stall(now);
    return Step::wait;
  }
  drop_held();
  return Step::again;
}

Pipe::Step Pipe::move(net::Socket& source, net::Socket& sink, std::span<char> scratch,
                      core::TimePoint now, core::Counter& total) {
  if (!source.readable()) return Step::wait;
  if (!sink.writable()) {
    // The kernel's buffer towards the sink is full and the source has more: the sink is what we
    // wait for.
    if (!stalled()) stall(now);
    return Step::wait;
  }
  stalled_since_ = core::kNever;
  const std::span<char> into = scratch.first(next_read(sink, scratch.size()));
  const IoResult got = source.read(into);
  if (got.status == IoResult::Status::blocked) return Step::wait;
  if (got.status != IoResult::Status::done) {
    source_ended(got.status);
    return Step::again;
  }
  heard_ = true;
  const std::span<char> bytes = into.first(got.bytes);
  const IoResult written = sink.write(bytes);
  if (written.status == IoResult::Status::failed) {
    state_ = State::sink_broken;
    return Step::again;
  }
  const std::size_t taken = written.status == IoResult::Status::done ? written.bytes : 0;
  if (taken > 0) took(taken, now, total);
  if (taken == bytes.size()) {
    if (bytes.size() == into.size()) read_size_ = std::min(read_size_ * 2, kLargestRead);
    return Step::again;
  }
  read_size_ = kFirstRead;
  hold(bytes.subspan(taken));
  stall(now);
  return Step::wait;
}

// How much to read at once. Beyond what may be held, only as much as the sink has room for: the
// rest would be memory.
std::size_t Pipe::next_read(const net::Socket& sink, std::size_t most) const {
  const std::size_t wanted = std::min<std::size_t>(read_size_, most);
  if (wanted <= kMostHeld) return wanted;
  // The accounts charge a few per cent beside the bytes.
  const std::size_t room = sink.room();
  return std::clamp(room - room / 16, kMostHeld, wanted);
}

Pipe::Step Pipe::discard(net::Socket& source, std::span<char> scratch) {
  if (!source.readable()) return Step::wait;
  const IoResult got = source.read(scratch);
  if (got.status == IoResult::Status::blocked) return Step::wait;
  if (got.status != IoResult::Status::done) {
    state_ = got.status == IoResult::Status::end ? State::finished : State::source_reset;
    return Step::wait;
  }
  heard_ = true;
  moved_this_turn_ += static_cast<std::uint32_t>(got.bytes);
  return Step::again;
}

void Pipe::source_ended(IoResult::Status status) {
  state_ = status == IoResult::Status::end ? State::ending : State::source_reset;
}

void Pipe::took(std::size_t bytes, core::TimePoint now, core::Counter& total) {
  bytes_ += bytes;
  moved_this_turn_ += static_cast<std::uint32_t>(bytes);
  total.add(bytes);
  moved_ = now;
  stalled_since_ = core::kNever;
}

void Pipe::hold(std::span<const char> rest) {
  assert(held_size_ == 0);
  held_ = std::make_unique_for_overwrite<char[]>(rest.size());
  std::memcpy(held_.get(), rest.data(), rest.size());
  held_begin_ = 0;
  held_size_ = static_cast<std::uint32_t>(rest.size());
}

void Pipe::drop_held() {
  held_.reset();
  held_begin_ = held_size_ = 0;
  stalled_since_ = core::kNever;
}

void Pipe::stall(core::TimePoint now) {
  stalled_since_ = looked_at_ = now;
  unacknowledged_ = kUnknown;
}

core::TimePoint Pipe::stall_check(core::Duration bound) const {
  if (!stalled()) return core::kNever;
  return std::min(stalled_since_ + bound, looked_at_ + bound / kLooks);
}

bool Pipe::stalled_for(core::Duration bound, const net::Socket& sink, core::TimePoint now) {
  if (!stalled()) return false;
  const std::size_t unacknowledged = sink.unacknowledged();
  looked_at_ = now;
  if (unacknowledged < unacknowledged_) stalled_since_ = now;
  unacknowledged_ = unacknowledged;
  return now >= stalled_since_ + bound;
}

}  // namespace weir::proxy
