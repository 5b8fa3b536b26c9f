#include "weir/net/child.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "weir/net/descriptor.h"

using namespace weir::net;
using namespace std::chrono_literals;

namespace {

// What a shell writes into the descriptor that it is given.
struct Shell {
  explicit Shell(const std::string& script) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reader = Descriptor(ends[0]);
    const Descriptor writer(ends[1]);
    std::string error;
    child = Child::start("/bin/sh", {"sh", "-c", script, "name", "an argument"}, writer.get(),
                         {"WEIR_TEST_CHILD", "new"}, error);
    REQUIRE_MESSAGE(child, error);
  }

  std::string said() const {
    std::string text;
    char byte = 0;
    while (::read(reader.get(), &byte, 1) == 1) text += byte;
    return text;
  }
  std::string end() {
    for (const auto until = std::chrono::steady_clock::now() + 20s;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(1ms)) {
      if (const auto how = child->ended()) return *how;
    }
    return "not at all";
  }

  Descriptor reader;
  std::optional<Child> child;
};

}  // namespace

TEST_CASE("a child has its arguments, the descriptor and the variable in place of an older one") {
  ::setenv("WEIR_TEST_CHILD", "old", 1);
  ::setenv("WEIR_TEST_KEPT", "kept", 1);
  Shell shell("echo \"$0 $1 $WEIR_TEST_CHILD $WEIR_TEST_KEPT\" >&3");
  CHECK(shell.said() == "name an argument new kept\n");
  CHECK(shell.end() == "exit code 0");
  ::unsetenv("WEIR_TEST_CHILD");
  ::unsetenv("WEIR_TEST_KEPT");
}

TEST_CASE("a child has none of our descriptors but the standard ones and the one it is given") {
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor ours(::fcntl(null.get(), F_DUPFD_CLOEXEC, 150));
  const std::string place = "/proc/$$/fd/" + std::to_string(ours.get());
  Shell shell("if [ -e " + place + " ]; then echo there >&3; else echo not there >&3; fi");
  CHECK(shell.said() == "not there\n");
}

TEST_CASE("the descriptor may have the number already that the child finds it under") {
  const int kept = ::fcntl(Child::kInherited, F_DUPFD_CLOEXEC, 100);  // whatever lies there
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  Descriptor reader(::fcntl(ends[0], F_DUPFD_CLOEXEC, 200));
  REQUIRE(::dup2(ends[1], Child::kInherited) == Child::kInherited);
  ::fcntl(Child::kInherited, F_SETFD, FD_CLOEXEC);
  if (ends[0] != Child::kInherited) ::close(ends[0]);
  std::string error;
  auto child = Child::start("/bin/sh", {"sh", "-c", "echo here >&3"}, Child::kInherited,
                            {"WEIR_TEST_CHILD", "1"}, error);
  if (ends[1] != Child::kInherited) ::close(ends[1]);
  if (kept >= 0) {
    ::dup3(kept, Child::kInherited, O_CLOEXEC);
    ::close(kept);
  } else {
    ::close(Child::kInherited);
  }
  REQUIRE_MESSAGE(child, error);
  char text[5] = {};
  CHECK(::read(reader.get(), text, sizeof text) == 5);
  CHECK(std::string(text, 5) == "here\n");
  child->kill();
}

TEST_CASE("a child begins with no signal held, and with SIGPIPE as it was made") {
  sigset_t held;
  sigset_t before;
  ::sigemptyset(&held);
  ::sigaddset(&held, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &held, &before);
  const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  Shell shell("grep -E 'SigBlk|SigIgn' /proc/$$/status | tr -d '\\n\\t ' >&3");
  const std::string said = shell.said();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGPIPE, ignored);
  CHECK(said.find("SigBlk:0000000000000000") != std::string::npos);
  const auto at = said.find("SigIgn:");
  REQUIRE(at != std::string::npos);
  CHECK((std::stoull(said.substr(at + 7), nullptr, 16) & (1u << (SIGPIPE - 1))) == 0);
}

TEST_CASE("how a child ended is told for people, as often as it is asked for") {
  Shell exits("exit 3");
  CHECK(exits.end() == "exit code 3");
  CHECK(exits.child->ended() == "exit code 3");
  Shell dies("kill -TERM $$");
  CHECK(dies.end() == "signal 15");
}

TEST_CASE("a child is killed, and has ended when kill() returns") {
  Shell sleeps("exec sleep 300");
  CHECK_FALSE(sleeps.child->ended());
  sleeps.child->kill();
  CHECK(sleeps.child->ended() == "signal 9");
  CHECK(::kill(sleeps.child->pid(), 0) != 0);
  sleeps.child->kill();  // and once more does nothing
  CHECK(sleeps.child->ended() == "signal 9");
}

TEST_CASE("a program that cannot be run is told of, and there is no child") {
  std::string error;
  CHECK_FALSE(Child::start("/no/such/program", {"x"}, 2, {"A", "b"}, error));
  CHECK(error == "No such file or directory");
  CHECK_FALSE(Child::start("/dev/null", {"x"}, 2, {"A", "b"}, error));
  CHECK(error == "Permission denied");
}
