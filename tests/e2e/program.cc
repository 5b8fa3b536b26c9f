#include "tests/e2e/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "weir/net/descriptor_budget.h"

namespace weir::e2e {
namespace {

// How often a condition is looked at.
constexpr milliseconds kLook(1);

// In the child, between fork and exec: only what a signal handler may call.
[[noreturn]] void become(char* const* arguments, char* const* environment, std::size_t descriptors,
                         int output, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  if (descriptors > 0) {
    const rlimit limit{descriptors, descriptors};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ::execve(arguments[0], arguments, environment);
  ::_exit(126);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

PeerDescriptor file_for(int given, const std::string& path) {
  if (given >= 0) return PeerDescriptor(::fcntl(given, F_DUPFD_CLOEXEC, 3));
  return PeerDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

}  // namespace

Program::Program(const Options& options, At at) {
  std::vector<std::string> words{options.path.empty() ? WEIR_BINARY : options.path};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> variables = options.environment;
  for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const PeerDescriptor output = file_for(options.output, folder_.file("stdout"));
  const PeerDescriptor errors = file_for(options.errors, folder_.file("stderr"));
  pid_ = ::fork();
  if (pid_ == 0) {
    become(arguments.data(), environment.data(), options.descriptors, output.get(), errors.get());
  }
  if (pid_ < 0) throw ScriptFailure("fork", at);
}

Program::~Program() {
  if (!running()) return;
  signal(SIGKILL);
  reap(0);
}

bool Program::reap(int flags) {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, flags) == pid_) status_ = status;
  return status_.has_value();
}

void Program::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

bool Program::running() { return !reap(WNOHANG); }

int Program::wait_for_exit(At at) {
  const auto until = Clock::now() + patience();
  while (running()) {
    if (Clock::now() >= until) throw ScriptFailure("weir does not exit; it said\n" + errors(), at);
    silence(kLook);
  }
  if (WIFSIGNALED(*status_)) {
    throw ScriptFailure(
        fmt::format("killed by signal {}; it said\n{}", WTERMSIG(*status_), errors()), at);
  }
  return WEXITSTATUS(*status_);
}

std::string Program::output() const { return read_file(folder_.file("stdout")); }

std::string Program::errors() const { return read_file(folder_.file("stderr")); }

void Program::wait_for_error_text(const std::string& text, At at) {
  const auto until = Clock::now() + patience();
  while (errors().find(text) == std::string::npos) {
    if (Clock::now() >= until || !running()) {
      throw ScriptFailure(fmt::format("weir did not say '{}', but\n{}", text, errors()), at);
    }
    silence(kLook);
  }
}

std::size_t Program::descriptors() const {
  const std::filesystem::directory_iterator entries(fmt::format("/proc/{}/fd", pid_));
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

milliseconds Program::cpu_time() const {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid_));
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;  // numbered as in proc(5)
  long user = 0;
  long system = 0;
  fields >> user >> system;
  return milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK));
}

bool Program::handles_signals() const {
  const std::string status = read_file(fmt::format("/proc/{}/status", pid_));
  constexpr std::string_view kCaught = "SigCgt:";
  const auto at = status.find(kCaught);
  if (at == std::string::npos) return false;
  const auto caught = std::stoull(status.substr(at + kCaught.size()), nullptr, 16);
  const std::vector<int> wanted{SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
  return std::all_of(wanted.begin(), wanted.end(), [caught](int number) {
    return (caught >> static_cast<unsigned>(number - 1) & 1) != 0;
  });
}

bool Program::every_thread_is(char state) const {
  std::error_code ended;
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", pid_), ended);
  if (ended) return false;
  return std::all_of(begin(threads), end(threads), [state](const auto& thread) {
    const std::string stat = read_file(thread.path().string() + "/stat");
    const auto at = stat.rfind(')');  // the name before it may contain anything
    return at != std::string::npos && at + 2 < stat.size() && stat[at + 2] == state;
  });
}

void Program::wait_until_idle(std::size_t count, At at) const {
  const auto until = Clock::now() + patience();
  while (!every_thread_is('S') || descriptors() != count) {
    if (Clock::now() >= until) {
      throw ScriptFailure(
          fmt::format("not idle with {} descriptors, but has {}", count, descriptors()), at);
    }
    silence(kLook);
  }
}

Program::Stopped::Stopped(const Program& program, At at) : program_(program) {
  program_.signal(SIGSTOP);
  const auto until = Clock::now() + patience();
  while (!program_.every_thread_is('T')) {
    if (Clock::now() >= until) throw ScriptFailure("weir does not stop", at);
    silence(kLook);
  }
}

Program::Stopped::~Stopped() { program_.signal(SIGCONT); }

ServingProgram::ServingProgram(const Options& options, At at)
    : program(
          [&] {
            // Not the default one, which is the machine's.
            const bool admin = options.yaml.find("admin:") != std::string::npos;
            write_file(folder_.file("weir.yaml"),
                       fmt::format("{}log: {{access: \"{}\"{}{}}}\n{}",
                                   admin ? "" : "admin: {socket: admin.sock}\n", options.access,
                                   options.log.empty() ? "" : ", ", options.log, options.yaml));
            Program::Options with = options.program;
            with.arguments = {"-c", folder_.file("weir.yaml")};
            return with;
          }(),
          at) {
  const auto until = Clock::now() + patience();
  while (!program.handles_signals()) {
    if (Clock::now() >= until || !program.running()) {
      throw ScriptFailure("weir did not start; it said\n" + program.errors(), at);
    }
    silence(kLook);
  }
}

std::size_t descriptor_limit_for(const std::string& yaml, std::size_t sessions, At at) {
  constexpr std::size_t kAmple = 250;
  constexpr std::size_t kPerSession = net::DescriptorShare::kPerSession;
  ServingProgram weir({.yaml = yaml, .program = {.descriptors = kAmple}}, at);
  const std::string before = "descriptors allow ";
  weir.program.wait_for_error_text("sessions at once", at);
  const std::string said = weir.program.errors();
  const std::size_t room = std::stoul(said.substr(said.find(before) + before.size()));
  if (room < sessions) throw ScriptFailure(fmt::format("room for {} sessions only", room), at);
  return kAmple - kPerSession * (room - sessions);
}

std::vector<LogEntry> ServingProgram::log(std::size_t lines, At at) const {
  const auto until = Clock::now() + patience();
  for (;;) {
    std::vector<LogEntry> entries = read_access_log(access_log());
    if (entries.size() == lines) return entries;
    if (entries.size() > lines || Clock::now() >= until) {
      throw ScriptFailure(
          fmt::format("{} lines in the access log instead of {}", entries.size(), lines), at);
    }
    silence(kLook);
  }
}

admin::Snapshot ServingProgram::wait_for_clean_exit(At at) {
  const int code = program.wait_for_exit(at);
  if (code != 0) {
    throw ScriptFailure(fmt::format("exit code {}; it said\n{}", code, program.errors()), at);
  }
  admin::Snapshot last = exit_snapshot(program.errors(), at);
  bool rest = last.sessions == 0;
  for (const auto& listener : last.listeners) {
    rest = rest && listener.connections == 0 && listener.accepted == listener.closed_total();
  }
  for (const auto& pool : last.pools) {
    rest = rest && pool.consistent && pool.active == 0;
    for (const auto& backend : pool.backends) {
      rest = rest && backend.active == 0 && backend.dialing == 0;
    }
  }
  if (!rest) throw ScriptFailure("something is left at the exit: " + last.json(), at);
  return last;
}

Ended run_weir(const std::vector<std::string>& arguments, At at) {
  Program program({.arguments = arguments}, at);
  const int code = program.wait_for_exit(at);
  return {code, program.output(), program.errors()};
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace weir::e2e
