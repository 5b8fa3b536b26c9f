#include "tests/e2e/lineage.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace weir::e2e {
namespace {

constexpr milliseconds kLook(1);

// An upgrade that waits for nothing takes moments; one that hangs is given up after a time of
// weir's own, which is longer than a script's patience.
milliseconds upgrade_patience() { return patience() + 20s; }

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Of a process or a thread, as ps(1) has it; 0 when there is none.
char state_in(const std::string& folder) {
  const std::string stat = read_file(folder + "/stat");
  const auto at = stat.rfind(')');
  return at != std::string::npos && at + 2 < stat.size() ? stat[at + 2] : '\0';
}

// A zombie has ended.
bool lives(pid_t process) {
  const char state = state_in(fmt::format("/proc/{}", process));
  return state != '\0' && state != 'Z';
}

}  // namespace

Lineage::Lineage(const ServingProgram::Options& options, At at)
    : first(
          [&]() -> const ServingProgram::Options& {
            ::prctl(PR_SET_CHILD_SUBREAPER, 1);
            return options;
          }(),
          at),
      known_{first.program.pid()} {}

// By what they were started with: no other process has this folder in its arguments.
std::set<pid_t> Lineage::processes() const {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!is_number(name) || std::stoi(name) == ::getpid()) continue;
    const std::string arguments = read_file(entry.path().string() + "/cmdline");
    if (arguments.find(first.config_file()) != std::string::npos) found.insert(std::stoi(name));
  }
  return found;
}

Lineage::~Lineage() {
  const auto until = Clock::now() + patience();
  for (std::set<pid_t> left = processes(); !left.empty() && Clock::now() < until;
       left = processes()) {
    for (const pid_t process : left) {
      ::kill(process, SIGKILL);
      if (process != first.program.pid()) ::waitpid(process, nullptr, WNOHANG);
    }
    if (left.count(first.program.pid()) > 0) first.program.running();
    silence(kLook);
  }
  for (const pid_t process : known_) {
    if (process != first.program.pid()) ::waitpid(process, nullptr, WNOHANG);
  }
}

pid_t Lineage::upgrade(At at) {
  const pid_t before = serving(at);
  ::kill(before, SIGUSR2);
  for (const auto until = Clock::now() + upgrade_patience(); Clock::now() < until; silence(kLook)) {
    const pid_t now = serving(at);
    if (now == before) continue;
    known_.insert(now);
    return now;
  }
  throw ScriptFailure("no other process serves; weir said\n" + errors(), at);
}

void Lineage::upgrade_in_vain(const std::string& why, At at) {
  const pid_t before = serving(at);
  const std::size_t said = count_of(errors(), why);
  ::kill(before, SIGUSR2);
  for (const auto until = Clock::now() + upgrade_patience(); count_of(errors(), why) <= said;
       silence(kLook)) {
    if (Clock::now() >= until) {
      throw ScriptFailure(fmt::format("weir did not say '{}', but\n{}", why, errors()), at);
    }
  }
  if (serving(at) != before) throw ScriptFailure("another process serves", at);
}

Json Lineage::wait_until(const std::string& request, const Wish& wish, At at) const {
  for (const auto until = Clock::now() + patience();; silence(kLook)) {
    Json answer = json(request, at);
    if (wish(answer)) return answer;
    if (Clock::now() >= until) {
      throw ScriptFailure("it is not as wished, but " + admin(request, {}, at), at);
    }
  }
}

double Lineage::metric(const std::string& series, At at) const {
  const std::string text = "\n" + admin("GET /metrics", {}, at);
  const auto found = text.find("\n" + series + " ");
  if (found == std::string::npos) throw ScriptFailure("no " + series + " in\n" + text, at);
  return std::stod(text.substr(found + series.size() + 2));
}

bool Lineage::running(pid_t process) {
  if (process == first.program.pid()) return first.program.running();
  return lives(process);
}

void Lineage::signal(pid_t process, int number) { ::kill(process, number); }

void Lineage::stop(pid_t process, At at) {
  signal(process, SIGSTOP);
  const auto stopped = [process] {
    const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", process));
    return std::all_of(begin(threads), end(threads),
                       [](const auto& thread) { return state_in(thread.path().string()) == 'T'; });
  };
  for (const auto until = Clock::now() + patience(); !stopped(); silence(kLook)) {
    if (Clock::now() >= until) throw ScriptFailure("it does not stop", at);
  }
}

int Lineage::wait_for_exit(pid_t process, At at) {
  if (process == first.program.pid()) return first.program.wait_for_exit(at);
  for (const auto until = Clock::now() + patience(); Clock::now() < until; silence(kLook)) {
    int status = 0;
    if (::waitpid(process, &status, WNOHANG) != process) continue;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    throw ScriptFailure(fmt::format("killed by signal {}", WTERMSIG(status)), at);
  }
  throw ScriptFailure("it does not exit; weir said\n" + errors(), at);
}

void Lineage::wait_for_end(pid_t process, At at) {
  for (const auto until = Clock::now() + patience(); running(process); silence(kLook)) {
    if (Clock::now() >= until) throw ScriptFailure("it does not end", at);
  }
}

void Lineage::shut_down(At at) {
  signal(serving(at), SIGTERM);
  for (const pid_t process : known_) {
    const int code = wait_for_exit(process, at);
    if (code != 0) {
      throw ScriptFailure(fmt::format("exit code {}; weir said\n{}", code, errors()), at);
    }
  }
}

void Lineage::wait_for_error_text(const std::string& text, std::size_t times, At at) const {
  for (const auto until = Clock::now() + patience(); count_of(errors(), text) < times;
       silence(kLook)) {
    if (Clock::now() >= until) {
      throw ScriptFailure(fmt::format("weir did not say '{}', but\n{}", text, errors()), at);
    }
  }
}

// As an installation does it: the new file takes the old one's name in one step.
void ProgramPath::replace() { std::filesystem::rename(folder_.file("next"), path()); }

void ProgramPath::be_weir() {
  std::filesystem::create_symlink(WEIR_BINARY, folder_.file("next"));
  replace();
}

void ProgramPath::be_copy() {
  std::filesystem::copy_file(WEIR_BINARY, folder_.file("next"));
  replace();
}

void ProgramPath::be_script(const std::string& text) {
  write_file(folder_.file("next"), text);
  ::chmod(folder_.file("next").c_str(), 0755);
  replace();
}

void ProgramPath::be_nothing() { std::filesystem::remove(path()); }

}  // namespace weir::e2e
