#include "weir/core/time.h"

#include <fmt/format.h>

namespace weir::core {

std::string seconds_text(Duration span) {
  return fmt::format("{:g} s", std::chrono::duration<double>(span).count());
}

}  // namespace weir::core
