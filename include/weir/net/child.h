#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::net {

// Another process, begun by this one, that goes on by itself. Neither copied nor moved; it is left
// alone by the destructor. One thread.
class Child {
 public:
  // The descriptor that a child is given; it finds it under this number.
  static constexpr int kInherited = 3;

  // Runs `program` with these arguments, its name first. Of this process's descriptors it has the
  // standard ones and `inherited`; of its environment all, and `variable` beside. On failure
  // `error` says why.
  [[nodiscard]] static std::optional<Child> start(
      const std::string& program, const std::vector<std::string>& arguments, int inherited,
      const std::pair<std::string, std::string>& variable, std::string& error);

  pid_t pid() const { return pid_; }
  // Whether it has ended, and then how, for people: `exit code 2`, `signal 9`.
  std::optional<std::string> ended();
  // Ends it, and waits until it has.
  void kill();

 private:
  explicit Child(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  std::optional<std::string> how_;
};

}  // namespace weir::net
