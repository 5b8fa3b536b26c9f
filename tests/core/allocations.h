#pragma once

#include <cstdint>

// How often this thread called operator new so far; always 0 under a sanitizer, which brings its
// own operator new and finds more with it.
std::uint64_t allocations();
