#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "weir/core/counter.h"
#include "weir/core/time.h"
#include "weir/net/socket.h"

namespace weir::proxy {

// One direction of a session: bytes from a source to a sink, in order, none lost, none kept longer
// than the sink makes it: nothing is read while something is held. Owns no memory while the sink
// takes everything; at most kMostHeld bytes when it does not. One thread.
class Pipe {
 public:
  // Held back for a sink that does not take them: the most that one direction costs. (When the
  // kernel runs out of memory for the sink's buffer in mid-write it can be one large read.)
  static constexpr std::size_t kMostHeld = 64 * 1024;

  enum class State : std::uint8_t {
    flowing,
    ending,        // the source sent its FIN, after everything before it went out
    finished,      // and the FIN was passed on
    source_reset,  // the source was reset; everything before it went out
    sink_broken,   // the sink takes nothing any more; what the source sends is thrown away
  };

  // What pump() leaves behind.
  enum class Next : std::uint8_t {
    wait,    // for the watcher of either socket
    resume,  // more could be moved at once, but others have waited long enough
  };

  Pipe();

  // Moves what can be moved now, up to about two MiB. `scratch` is the worker's buffer.
  // `opposite_finished`: the other direction is over, so that after this one both sockets are
  // closed, and the close will be the FIN.
  Next pump(net::Socket& source, net::Socket& sink, std::span<char> scratch, core::TimePoint now,
            core::Counter& total, bool opposite_finished);

  State state() const { return state_; }
  std::uint64_t bytes() const { return bytes_; }         // taken by the sink so far
  core::TimePoint last_moved() const { return moved_; }  // when the sink last took some
  std::size_t held() const { return held_size_; }
  // Whether the source has sent anything, taken by the sink or not.
  bool heard() const { return heard_; }
  // In a bulk copy, whose turns are long: it goes through the run queue from its first event on.
  bool bulk() const { return read_size_ > kMostHeld; }

  // Whether bytes wait for a sink that takes none of them.
  bool stalled() const { return stalled_since_ != core::kNever; }
  // When a stalled sink must be looked at next, if it may go without reading for `bound`.
  core::TimePoint stall_check(core::Duration bound) const;
  // Looks whether the sink's peer took anything since the last look, which the kernel's buffer can
  // hide for a long time. True when it has taken nothing for `bound`.
  bool stalled_for(core::Duration bound, const net::Socket& sink, core::TimePoint now);

 private:
  enum class Step : std::uint8_t { again, wait };

  Step flush(net::Socket& sink, core::TimePoint now, core::Counter& total);
  Step move(net::Socket& source, net::Socket& sink, std::span<char> scratch, core::TimePoint now,
            core::Counter& total);
  std::size_t next_read(const net::Socket& sink, std::size_t most) const;
  Step discard(net::Socket& source, std::span<char> scratch);
  void source_ended(net::IoResult::Status status);
  void took(std::size_t bytes, core::TimePoint now, core::Counter& total);
  void hold(std::span<const char> rest);
  void drop_held();
  void stall(core::TimePoint now);

  State state_ = State::flowing;
  bool heard_ = false;
  std::uint32_t read_size_;
  std::uint32_t held_begin_ = 0;
  std::uint32_t held_size_ = 0;
  std::uint32_t moved_this_turn_ = 0;
  std::unique_ptr<char[]> held_;
  std::uint64_t bytes_ = 0;
  core::TimePoint moved_{};

  // While stalled: since when nothing was taken, as far as is known, and what the kernel's buffer
  // held at the last look.
  core::TimePoint stalled_since_ = core::kNever;
  core::TimePoint looked_at_{};
  std::size_t unacknowledged_ = 0;
};

}  // namespace weir::proxy
