#include "tests/core/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local std::uint64_t count = 0;
}

std::uint64_t allocations() { return count; }

void* operator new(std::size_t size) {
  ++count;
  if (void* block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
