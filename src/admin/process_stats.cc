#include "admin/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace weir::admin {

ProcessStats process_stats() {
  ProcessStats stats;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_fds = limit.rlim_cur;
  std::uint64_t all = 0;
  std::uint64_t resident = 0;  // both in pages
  std::ifstream statm("/proc/self/statm");
  if (statm >> all >> resident) {
    stats.resident_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return stats;
}

}  // namespace weir::admin
