#include "weir/net/descriptor_budget.h"

#include <dirent.h>
#include <sys/resource.h>

#include <utility>

namespace weir::net {

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur != limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') ++count;
  }
  ::closedir(folder);
  return count - 1;  // less the one that reading the folder took
}

bool DescriptorBudget::take(std::size_t count) {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used + count > capacity()) return false;
  } while (!used_.compare_exchange_weak(used, used + count, std::memory_order_relaxed));
  return true;
}

void DescriptorBudget::give_back(std::size_t count) {
  used_.fetch_sub(count, std::memory_order_relaxed);
}

DescriptorShare& DescriptorShare::operator=(DescriptorShare&& other) noexcept {
  std::swap(budget_, other.budget_);
  return *this;
}

DescriptorShare::~DescriptorShare() {
  if (budget_ != nullptr) budget_->give_back(kPerSession);
}

}  // namespace weir::net
