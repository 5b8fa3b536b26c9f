#include "weir/net/descriptor.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

using weir::net::Descriptor;

namespace {

Descriptor duplicate() { return Descriptor(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100)); }

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

}  // namespace

TEST_CASE("a descriptor is closed when its owner goes") {
  int fd = -1;
  {
    const Descriptor owner = duplicate();
    fd = owner.get();
    CHECK(owner);
    CHECK(is_open(fd));
  }
  CHECK_FALSE(is_open(fd));
}

TEST_CASE("a moved descriptor has one owner, and assigning over one closes what was there") {
  Descriptor first = duplicate();
  const int fd = first.get();
  Descriptor second(std::move(first));
  CHECK_FALSE(first);
  CHECK(second.get() == fd);
  Descriptor third = duplicate();
  const int replaced = third.get();
  third = std::move(second);
  CHECK_FALSE(is_open(replaced));
  CHECK(third.get() == fd);
  CHECK(is_open(fd));
}

TEST_CASE("a released descriptor is left open for its taker") {
  Descriptor owner = duplicate();
  const int fd = owner.release();
  CHECK_FALSE(owner);
  owner.reset();
  CHECK(is_open(fd));
  ::close(fd);
}
