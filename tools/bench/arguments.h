#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

namespace weir::bench {

// Whole numbers given as name=value. What cannot be used is thrown as std::invalid_argument.
class Arguments {
 public:
  // The words and the usage must outlive it.
  Arguments(const std::vector<std::string_view>& words, std::string_view usage);

  // Each name is asked for once; what is left at the end was not meant for anybody.
  template <typename Number>
  Number take(std::string_view name, Number otherwise) {
    const auto found = values_.find(name);
    if (found == values_.end()) return otherwise;
    const std::uint64_t value = found->second;
    if (value > std::numeric_limits<Number>::max()) refuse(name);
    values_.erase(found);
    return static_cast<Number>(value);
  }

  void expect_nothing_left() const;

 private:
  [[noreturn]] void refuse(std::string_view word) const;
  std::uint64_t number(std::string_view word, std::string_view text) const;

  std::string_view usage_;
  std::map<std::string_view, std::uint64_t> values_;
};

}  // namespace weir::bench
