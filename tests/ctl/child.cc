#include "tests/ctl/child.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace weir::ctl {
namespace {

using Clock = std::chrono::steady_clock;
// Long enough for a busy machine; nothing waits for it that works.
constexpr std::chrono::seconds kPatience{20};

// After the fork: becomes the program.
[[noreturn]] void become(std::vector<char*>& arguments, std::vector<char*>& environment) {
  for (char* variable : environment) ::putenv(variable);
  ::execvp(arguments.front(), arguments.data());
  ::_exit(127);
}

}  // namespace

Child::Child(std::vector<std::string> arguments, At at, std::vector<std::string> environment) {
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  std::vector<char*> variables;
  for (std::string& variable : environment) variables.push_back(variable.data());

  if (at == At::terminal) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 100;
    pid_ = ::forkpty(&out_descriptor_, nullptr, nullptr, &size);
    if (pid_ == 0) become(words, variables);
  } else {
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipe");
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      ::close(STDIN_FILENO);
      ::open("/dev/null", O_RDONLY);
      become(words, variables);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_descriptor_ = out[0];
    err_descriptor_ = err[0];
  }
  if (pid_ < 0) throw std::runtime_error("no child");
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (out_descriptor_ >= 0) ::close(out_descriptor_);
  if (err_descriptor_ >= 0) ::close(err_descriptor_);
}

void Child::signal(int number) const { ::kill(pid_, number); }

void Child::type(const std::string& keys) const {
  if (::write(out_descriptor_, keys.data(), keys.size()) < 0) throw std::runtime_error("no write");
}

void Child::resize(unsigned short rows, unsigned short columns) const {
  winsize size{};
  size.ws_row = rows;
  size.ws_col = columns;
  ::ioctl(out_descriptor_, TIOCSWINSZ, &size);  // which signals SIGWINCH to the child
}

bool Child::shows(const std::string& text) {
  const auto until = Clock::now() + kPatience;
  while (out_.find(text) == std::string::npos) {
    if (!read_some(until)) return false;
  }
  return true;
}

Child::Ended Child::end() {
  const auto until = Clock::now() + kPatience;
  while (read_some(until)) {
  }
  if (Clock::now() >= until) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out_, err_};
}

bool Child::read_some(Clock::time_point until) {
  std::array<pollfd, 2> watched{{{out_descriptor_, POLLIN, 0}, {err_descriptor_, POLLIN, 0}}};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  if ((out_descriptor_ < 0 && err_descriptor_ < 0) || left.count() <= 0) return false;
  ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
  const auto take = [](const pollfd& one, int& descriptor, std::string& text) {
    if (one.revents == 0) return;
    std::array<char, 4096> part{};
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    // A terminal whose program has ended reads as EIO.
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
    } else {
      ::close(descriptor);
      descriptor = -1;
    }
  };
  take(watched[0], out_descriptor_, out_);
  take(watched[1], err_descriptor_, err_);
  return true;
}

}  // namespace weir::ctl
