#pragma once

#include <chrono>

namespace weir::ctl {

// Ctrl-C as a wish that is asked for, not a death. For the main thread.
void hold_interrupts();
bool interrupted();
// Waits so long; false when Ctrl-C was pressed before or meanwhile.
bool pause_for(std::chrono::milliseconds duration);

}  // namespace weir::ctl
