#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

namespace weir::net {

class Loop;

// Holds signals back, in the thread that makes it and in all threads made from there while it
// lives; destroyed, it lets those that came meanwhile through to its own thread.
class HeldSignals {
 public:
  explicit HeldSignals(std::initializer_list<int> numbers);
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t held_;
};

// From now on they do nothing to this process: for its last steps, when nobody asks for them any
// more and what they do by default would take the exit code away.
void ignore_signals(std::initializer_list<int> numbers);

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
