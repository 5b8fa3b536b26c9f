#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::simulation {

// Keeps the first law that was broken: what comes after it follows from it.
class Laws {
 public:
  void check(bool holds, std::string_view law) {
    if (!holds && !broken_) broken_ = law;
  }
  const std::optional<std::string>& broken() const { return broken_; }

 private:
  std::optional<std::string> broken_;
};

}  // namespace weir::simulation
