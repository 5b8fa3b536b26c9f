#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

namespace weir::net {

class Loop;

// Delivers signals as ordinary calls on one loop, for as long as it lives. Loop thread only.
class Signals {
 public:
  Signals(Loop& loop, std::initializer_list<int> numbers, std::function<void(int)> on_signal);
  ~Signals();

 private:
  struct Handle;
  std::function<void(int)> on_signal_;
  std::vector<std::unique_ptr<Handle>> handles_;
};

}  // namespace weir::net
