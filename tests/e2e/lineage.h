#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>

#include "tests/e2e/admin_socket.h"
#include "tests/e2e/program.h"

namespace weir::e2e {

// All processes of one weir that is upgraded in place, from the one that the test has started.
// Those whose parent has ended become the test's own children. Whichever run at the end are killed.
class Lineage {
 public:
  explicit Lineage(const ServingProgram::Options& options, At at = At::here());
  ~Lineage();
  Lineage(const Lineage&) = delete;
  Lineage& operator=(const Lineage&) = delete;

  // Tells the one that serves to upgrade, and waits until another serves; answers that one.
  pid_t upgrade(At at = At::here());
  // The same of one that must not come about: waits until the one that serves has said why.
  void upgrade_in_vain(const std::string& why, At at = At::here());

  pid_t serving(At at = At::here()) const { return serving_at(socket(), at); }
  std::string socket() const { return first.admin_socket(); }
  std::string admin(const std::string& request, const std::string& body = {},
                    At at = At::here()) const {
    return ask_admin(socket(), request, body, at);
  }
  Json json(const std::string& request, At at = At::here()) const {
    return ask_json(socket(), request, {}, at);
  }
  // Waits until the one that serves answers as wished.
  using Wish = std::function<bool(const Json&)>;
  Json wait_until(const std::string& request, const Wish& wish, At at = At::here()) const;
  // Of the metrics: `weir_x_total{pool="servers"}`. One that is not there is a failure.
  double metric(const std::string& series, At at = At::here()) const;

  bool running(pid_t process);
  void signal(pid_t process, int number);
  // SIGSTOP, and waits until every thread of it does nothing any more.
  void stop(pid_t process, At at = At::here());
  // Its exit code. Also of one whose parent is another weir, once that has ended.
  int wait_for_exit(pid_t process, At at = At::here());
  // Waits until it has ended, however.
  void wait_for_end(pid_t process, At at = At::here());
  // The one that serves ends by SIGTERM, and with it everything, each with code 0.
  void shut_down(At at = At::here());

  // All of them say the same in one file, in turn.
  std::string errors() const { return first.program.errors(); }
  // Waits until that has been said so many times.
  void wait_for_error_text(const std::string& text, std::size_t times = 1,
                           At at = At::here()) const;

  ServingProgram first;

 private:
  std::set<pid_t> processes() const;

  std::set<pid_t> known_;
};

// A program's path that can be changed: what is started there next.
class ProgramPath {
 public:
  ProgramPath() { be_weir(); }

  std::string path() const { return folder_.file("weir"); }
  void be_weir();  // the one that was built, by a link
  void be_copy();  // a file of its own
  void be_script(const std::string& text);
  void be_nothing();

 private:
  void replace();

  const Folder folder_;
};

}  // namespace weir::e2e
