#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"
#include "tests/upgrade/notify_socket.h"

// weir under a service manager, played by the test.
namespace weir::e2e {
namespace {

std::string yaml(const std::vector<std::string>& bind, const Service& service, int workers = 2) {
  return Setup{.workers = workers, .bind = bind, .backends = {service.address()}}.yaml();
}

std::string ready(pid_t process) { return fmt::format("READY=1\nMAINPID={}", process); }

void serves(const net::SocketAddress& address, At at = At::here()) {
  Stream client = Stream::connect(address, {}, at);
  ask(client, at);
}

TEST_CASE("service manager: it is told when weir is ready, reloads, and stops") {
  Service service;
  const Port port;
  const NotifySocket manager;
  ServingProgram weir(
      {.yaml = yaml({port.on()}, service), .program = {.environment = {manager.variable()}}});
  CHECK(manager.hear() == ready(weir.program.pid()));
  serves(port.address());
  for (int i = 0; i < 2; ++i) {
    weir.program.signal(SIGHUP);
    const std::string reloading = manager.hear();
    CHECK(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(std::stoull(reloading.substr(reloading.rfind('=') + 1)) > 0);
    CHECK(manager.hear() == ready(weir.program.pid()));
  }
  write_file(weir.config_file(), "nonsense");
  weir.program.signal(SIGHUP);
  CHECK(manager.hear().starts_with("RELOADING=1\n"));
  CHECK(manager.hear() == ready(weir.program.pid()));  // as before, that is
  CHECK(manager.silent());
  weir.program.signal(SIGTERM);
  CHECK(manager.hear() == "STOPPING=1");
  weir.wait_for_clean_exit();
  CHECK(manager.silent());
}

TEST_CASE("service manager: in an upgrade the new process says that it is the one to watch") {
  Service service;
  const Port port;
  const NotifySocket manager;
  ProgramPath program;
  Lineage weir({.yaml = yaml({port.on()}, service),
                .program = {.path = program.path(), .environment = {manager.variable()}}});
  CHECK(manager.hear() == ready(weir.serving()));
  program.be_script("#!/bin/sh\nexit 1\n");
  weir.upgrade_in_vain("failed, this process goes on");
  CHECK(manager.silent());
  program.be_weir();
  const pid_t old = weir.serving();
  const pid_t now = weir.upgrade();
  CHECK(manager.hear() == ready(now));
  CHECK(weir.wait_for_exit(old) == 0);
  CHECK(manager.silent());  // the end of the old process is not that of the service
  weir.signal(now, SIGTERM);
  CHECK(manager.hear() == "STOPPING=1");
  CHECK(weir.wait_for_exit(now) == 0);
}

// Sockets that were opened for weir before it began.
class Activation {
 public:
  explicit Activation(const std::vector<net::SocketAddress>& addresses) {
    for (const net::SocketAddress& address : addresses) {
      sockets_.emplace_back(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
      REQUIRE(::bind(sockets_.back().get(), address.generic(), address.length()) == 0);
      REQUIRE(::listen(sockets_.back().get(), 1024) == 0);
    }
  }

  // A program that gives them their places and their variables, and becomes weir.
  std::string script() const {
    return fmt::format(
        "#!/usr/bin/python3\nimport os, sys\n"
        "for i in range({0}):\n    os.dup2({1} + i, 3 + i)\n    os.close({1} + i)\n"
        "os.environ['LISTEN_PID'] = str(os.getpid())\nos.environ['LISTEN_FDS'] = '{0}'\n"
        "os.execv('{2}', sys.argv)\n",
        sockets_.size(), kFirst, WEIR_BINARY);
  }

  // For the time in which the program is started.
  class Given {
   public:
    explicit Given(const Activation& activation) : count_(activation.sockets_.size()) {
      for (std::size_t i = 0; i < count_; ++i) {
        ::dup2(activation.sockets_[i].get(), static_cast<int>(kFirst + i));
      }
    }
    ~Given() {
      for (std::size_t i = 0; i < count_; ++i) ::close(static_cast<int>(kFirst + i));
    }
    Given(const Given&) = delete;
    Given& operator=(const Given&) = delete;

   private:
    const std::size_t count_;
  };

  void close() { sockets_.clear(); }

 private:
  static constexpr std::size_t kFirst = 200;  // far above what the test itself has open

  std::vector<PeerDescriptor> sockets_;
};

TEST_CASE("service manager: sockets that it has opened are served, others are opened by weir") {
  Service service;
  const Folder folder;
  const Port passed;
  const Port own;
  const Port unwanted;
  const auto path =
      net::SocketAddress::from({core::Endpoint::Kind::unix_path, folder.file("front"), {}, 0});
  Activation activation({passed.address(), path, unwanted.address()});
  // Whoever connects before weir begins is served by it.
  Stream early = Stream::connect(passed.address());
  early.say("q");
  ProgramPath program;
  program.be_script(activation.script());
  std::unique_ptr<Lineage> weir;
  {
    const Activation::Given given(activation);
    weir = std::make_unique<Lineage>(ServingProgram::Options{
        .yaml = yaml({passed.on(), own.on(), "unix:" + folder.file("front")}, service, 4),
        .program = {.path = program.path()}});
  }
  activation.close();
  early.hear("q");
  early.close();
  for (int i = 0; i < 10; ++i) {
    serves(passed.address());
    serves(own.address());
    serves(path);
  }
  weir->wait_for_error_text("a socket was passed on that no listener binds: " + unwanted.on());
  CHECK(count_of(weir->errors(), "a socket was passed on") == 1);
  CHECK_THROWS_AS(Stream::connect(unwanted.address()), ScriptFailure);
  // They go on to the next process like any other.
  program.be_weir();
  weir->upgrade();
  for (int i = 0; i < 5; ++i) {
    serves(passed.address());
    serves(path);
  }
  weir->shut_down();
  // Whoever made it removes it.
  CHECK(std::filesystem::exists(folder.file("front")));
}

TEST_CASE("service manager: the units in conf are what systemd takes them for") {
  if (std::system("systemd-analyze --version >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: there is no systemd-analyze");
    return;
  }
  const Folder folder;
  // It wants the program to be there.
  const std::string program = folder.file("weir");
  std::filesystem::create_symlink(WEIR_BINARY, program);
  for (const char* name : {"weir.service", "weir.socket"}) {
    std::string text = read_file(std::string(WEIR_SOURCE_DIR "/conf/") + name);
    REQUIRE(!text.empty());
    const std::string installed = "/usr/local/bin/weir";
    for (auto at = text.find(installed); at != std::string::npos; at = text.find(installed)) {
      text.replace(at, installed.size(), program);
    }
    write_file(folder.file(name), text);
  }
  const std::string said = folder.file("said");
  const int code = std::system(fmt::format("systemd-analyze --man=no verify {0}/weir.service "
                                           "{0}/weir.socket >{1} 2>&1",
                                           folder.path(), said)
                                   .c_str());
  INFO(read_file(said));
  CHECK(code == 0);
  CHECK(count_of(read_file(said), "weir.s") == 0);
}

}  // namespace
}  // namespace weir::e2e
