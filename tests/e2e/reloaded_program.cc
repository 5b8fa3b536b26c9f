#include "tests/e2e/reloaded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sstream>

namespace weir::e2e {
namespace {

const std::string kLog = "log: {access: access.log}\n";

std::string without_log(const ConfigText& text) {
  const bool admin = text.process.find("admin:") != std::string::npos;
  return (admin ? "" : "admin: {socket: admin.sock}\n") + text.yaml();
}

// `0100007F:1F90`: the port is what follows the last colon.
bool is_port(const std::string& address, std::uint16_t port) {
  return std::stoul(address.substr(address.rfind(':') + 1), nullptr, 16) == port;
}

void add_listening(const std::string& file, std::uint16_t port,
                   std::vector<std::uint64_t>& inodes) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line);  // the titles
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; fields >> word;) words.push_back(word);
    constexpr std::size_t kLocal = 1;
    constexpr std::size_t kState = 3;
    constexpr std::size_t kInode = 9;
    if (words.size() <= kInode || words[kState] != "0A" || !is_port(words[kLocal], port)) continue;
    inodes.push_back(std::stoull(words[kInode]));
  }
}

}  // namespace

std::string ReloadedProgram::whole(const ConfigText& text) {
  const bool log = text.process.find("log:") != std::string::npos;
  return (log ? "" : kLog) + without_log(text);
}

ReloadedProgram::ReloadedProgram(const ConfigText& text, At at)
    : weir_({.yaml = without_log(text)}, at) {}

void ReloadedProgram::send(const ConfigText& text) {
  write_file(file(), whole(text));
  program().signal(SIGHUP);
}

void ReloadedProgram::reload(const ConfigText& text, At at) {
  send(text);
  wait_for_reload(at);
}

void ReloadedProgram::wait_for_reload(At at) {
  program().wait_for_error_text(fmt::format("generation {} is in force (SIGHUP", ++generation_),
                                at);
}

std::string ReloadedProgram::refused(const std::string& text, At at) {
  const std::string before = program().errors();
  const std::string said = "nothing has changed (SIGHUP)";
  write_file(file(), text);
  program().signal(SIGHUP);
  const auto until = Clock::now() + patience();
  while (count_of(program().errors(), said) == count_of(before, said)) {
    if (Clock::now() >= until) {
      throw ScriptFailure("not refused:\n" + text + "\n" + program().errors(), at);
    }
    silence(1ms);
  }
  return program().errors().substr(before.size());
}

std::string ReloadedProgram::refused(const ConfigText& text, At at) {
  return refused(whole(text), at);
}

admin::Snapshot ReloadedProgram::end(At at) {
  program().signal(SIGTERM);
  return weir_.wait_for_clean_exit(at);
}

std::vector<std::uint64_t> listening_inodes(std::uint16_t port) {
  std::vector<std::uint64_t> inodes;
  add_listening("/proc/self/net/tcp", port, inodes);
  add_listening("/proc/self/net/tcp6", port, inodes);
  std::sort(inodes.begin(), inodes.end());
  return inodes;
}

}  // namespace weir::e2e
