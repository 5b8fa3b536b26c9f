#pragma once

#include <cstdint>

// How often this thread called operator new so far.
std::uint64_t allocations();
