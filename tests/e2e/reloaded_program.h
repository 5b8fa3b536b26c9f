#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/program.h"

namespace weir::e2e {

// The program, whose file is written again and which is then told so by SIGHUP.
class ReloadedProgram {
 public:
  explicit ReloadedProgram(const ConfigText& text, At at = At::here());

  const Folder& folder() const { return weir_.folder(); }
  std::string file() const { return weir_.config_file(); }
  std::string access_log() const { return weir_.access_log(); }
  ServingProgram& weir() { return weir_; }
  Program& program() { return weir_.program; }

  // Writes the file and sends the signal, no more.
  void send(const ConfigText& text);
  // And waits until the new generation is in force.
  void reload(const ConfigText& text, At at = At::here());
  void wait_for_reload(At at = At::here());
  // Sends a file that is refused; answers what was logged about it.
  std::string refused(const std::string& file, At at = At::here());
  std::string refused(const ConfigText& text, At at = At::here());

  // Ends it, and answers the snapshot at its exit.
  admin::Snapshot end(At at = At::here());

  // As the file has it.
  static std::string whole(const ConfigText& text);

 private:
  ServingProgram weir_;
  std::uint64_t generation_ = 1;
};

// The inodes of the sockets that listen on a TCP port, IPv4 and IPv6, ascending.
std::vector<std::uint64_t> listening_inodes(std::uint16_t port);

}  // namespace weir::e2e
