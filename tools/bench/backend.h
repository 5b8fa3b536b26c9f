#pragma once

#include <cstddef>

namespace weir::bench {

// Answers messages on `listeners` free ports of 127.0.0.1, all in this thread, until its standard
// input ends: so it never outlives the one who started it. First prints {"ports": [...]}.
void run_backend(std::size_t listeners);

}  // namespace weir::bench
