#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/access_log.h"
#include "tests/e2e/folder.h"
#include "tests/e2e/peer.h"
#include "tests/e2e/script.h"
#include "weir/admin/snapshot.h"

namespace weir::e2e {

// The weir program as a child process. It is killed when this goes, if it still runs.
class Program {
 public:
  struct Options {
    std::vector<std::string> arguments = {};    // after the program's name
    std::size_t descriptors = 0;                // their limit, soft and hard; 0 = as here
    int output = -1;                            // its stdout; -1 = a file, read by output()
    int errors = -1;                            // its stderr; -1 = a file, read by errors()
    std::string path = {};                      // of the program; empty = the one that was built
    std::vector<std::string> environment = {};  // `NAME=VALUE`, beside the test's own
  };

  explicit Program(const Options& options, At at = At::here());
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  bool running();
  // Its exit code. Not to have ended in time is a failure, and so is to have been killed.
  int wait_for_exit(At at = At::here());

  std::string output() const;
  std::string errors() const;
  // Waits until stderr contains `text` (with errors() a file).
  void wait_for_error_text(const std::string& text, At at = At::here());

  pid_t pid() const { return pid_; }
  // As the kernel counts.
  std::size_t descriptors() const;
  milliseconds cpu_time() const;
  // Whether it handles the signals that are for operators.
  bool handles_signals() const;

  // Waits until it has so many descriptors open and all of its threads sleep: it has dealt with
  // whatever came to its sockets.
  void wait_until_idle(std::size_t descriptors, At at = At::here()) const;
  // Stops it for as long as this is kept: what the script does meanwhile, it meets in one turn of
  // its loops.
  class Stopped {
   public:
    explicit Stopped(const Program& program, At at = At::here());
    ~Stopped();
    Stopped(const Stopped&) = delete;
    Stopped& operator=(const Stopped&) = delete;

   private:
    const Program& program_;
  };

 private:
  bool every_thread_is(char state) const;
  bool reap(int flags);

  const Folder folder_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// The program serving a configuration; made when it serves and handles signals. Its access log is a
// file unless `log` says otherwise.
class ServingProgram {
 public:
  struct Options {
    std::string yaml;                   // all but `log`
    std::string log = {};               // keys of `log`: `level: error`
    std::string access = "access.log";  // `log.access`; relative to the configuration file
    Program::Options program = {};      // `arguments` are given
  };

  explicit ServingProgram(const Options& options, At at = At::here());

  const Folder& folder() const { return folder_; }
  std::string access_log() const { return folder_.file("access.log"); }
  std::string config_file() const { return folder_.file("weir.yaml"); }
  std::string admin_socket() const { return folder_.file("admin.sock"); }
  // The access log once it has so many lines.
  std::vector<LogEntry> log(std::size_t lines, At at = At::here()) const;

  // Demands exit code 0, and a snapshot at the exit with every gauge at 0; answers it.
  admin::Snapshot wait_for_clean_exit(At at = At::here());

 private:
  const Folder folder_;

 public:
  Program program;
};

// The descriptor limit under which a weir with this configuration has room for so many sessions: as
// a weir with more room says, since only it knows what it keeps for itself.
std::size_t descriptor_limit_for(const std::string& yaml, std::size_t sessions, At at = At::here());

// The snapshot that weir writes at its exit, from its stderr.
admin::Snapshot exit_snapshot(const std::string& errors, At at = At::here());

// A weir that ends by itself.
struct Ended {
  int code;
  std::string output;
  std::string errors;
};
Ended run_weir(const std::vector<std::string>& arguments, At at = At::here());

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);
std::size_t count_of(const std::string& text, const std::string& part);

}  // namespace weir::e2e
