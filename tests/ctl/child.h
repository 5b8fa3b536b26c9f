#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace weir::ctl {

// A program as a child process, with its output in pipes, or at a terminal of its own. It is killed
// when this goes, if it still runs.
class Child {
 public:
  enum class At { pipes, terminal };

  // `arguments` begin with the program. `environment` is added to what is inherited: `TERM=xterm`.
  explicit Child(std::vector<std::string> arguments, At at = At::pipes,
                 std::vector<std::string> environment = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number) const;
  // At a terminal only.
  void type(const std::string& keys) const;
  void resize(unsigned short rows, unsigned short columns) const;

  // Reads until stdout (with a terminal: all of it) holds `text`; false when it ends before, or
  // within 20 s does not.
  bool shows(const std::string& text);
  // Forgets what was read so far, so that `shows` is about what comes.
  void forget() { out_.clear(); }

  struct Ended {
    int code;  // -1 = a signal ended it, or it did not end
    std::string out;
    std::string err;
  };
  // Reads to the end, at most 20 s.
  Ended end();

 private:
  // One look at both streams; false when both have ended.
  bool read_some(std::chrono::steady_clock::time_point until);

  pid_t pid_ = -1;
  int out_descriptor_ = -1;
  int err_descriptor_ = -1;  // -1 at a terminal
  std::string out_;
  std::string err_;
};

}  // namespace weir::ctl
