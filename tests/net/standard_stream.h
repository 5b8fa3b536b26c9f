#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "weir/net/descriptor.h"

namespace weir::net {

// Puts another descriptor in the place of stdout or stderr for as long as it lives.
class Redirected {
 public:
  Redirected(int stream, int other)
      : stream_(stream), before_(::fcntl(stream, F_DUPFD_CLOEXEC, 100)) {
    REQUIRE(before_);
    REQUIRE(::dup2(other, stream) == stream);
  }
  ~Redirected() { ::dup2(before_.get(), stream_); }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  const int stream_;
  Descriptor before_;
};

// Both ends of a pipe.
struct PipeEnds {
  PipeEnds() {
    int both[2];
    REQUIRE(::pipe2(both, O_CLOEXEC) == 0);
    reading = Descriptor(both[0]);
    writing = Descriptor(both[1]);
  }
  Descriptor reading;
  Descriptor writing;
};

}  // namespace weir::net
