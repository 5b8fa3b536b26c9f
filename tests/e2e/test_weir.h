#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/access_log.h"
#include "tests/e2e/folder.h"
#include "tests/e2e/peer.h"
#include "tests/e2e/script.h"
#include "weir/app/instance.h"
#include "weir/core/close_reason.h"

namespace weir::e2e {

// A whole weir in this process, from the text of a configuration file. The text is loaded and
// validated as the program does it; then three things are changed: every TCP bind gets port 0 (the
// text needs some port: write 1, 2, ...), the access log goes to a file of the test's, and a
// `shutdown.deadline` of the default 30s becomes 200 ms, so that a test that failed ends soon.
//
// A test ends with settle(); the destructor drains and checks that weir comes to its end.
class TestWeir {
 public:
  explicit TestWeir(const std::string& yaml, At at = At::here());
  ~TestWeir();
  TestWeir(const TestWeir&) = delete;
  TestWeir& operator=(const TestWeir&) = delete;

  // Where a listener listens, for the `place`th of its binds.
  net::SocketAddress address(const std::string& listener = "front", std::size_t place = 0) const;
  Stream connect(Buffers buffers = {}, At at = At::here()) const {
    return Stream::connect(address(), buffers, at);
  }

  // Replaces the configuration, with the same changes to the text. Binds are the same when they are
  // written the same, port included.
  admin::Reload reload(const std::string& yaml, At at = At::here());
  admin::Reload try_reload(const std::string& yaml);  // may be refused
  // What reload() would do.
  config::Plan plan(const std::string& yaml);
  // Does something with what the admin side has.
  void control(const std::function<void(admin::Control&)>& work) { instance_->control(work); }

  admin::Snapshot snapshot() const { return instance_->snapshot(); }
  // Waits until a snapshot is as wished, and answers it.
  using Wish = std::function<bool(const admin::Snapshot&)>;
  admin::Snapshot wait_until(const Wish& wish, const std::string& what, At at = At::here()) const;
  // The same, with a bound as for Stopwatch::expect_at_most().
  admin::Snapshot wait_until_within(milliseconds quiet_bound, const Wish& wish,
                                    const std::string& what, At at = At::here()) const;

  // The access log once it has `lines` lines; it must not get more.
  std::vector<LogEntry> log(std::size_t lines, At at = At::here()) const;

  // Waits until `count` sessions of all listeners have been closed, and demands that these are all
  // and that all of them have this reason, in the counters and in the access log; answers its
  // lines.
  std::vector<LogEntry> expect_closed(core::CloseReason reason, std::size_t count = 1,
                                      At at = At::here()) const;

  // SETTLE of the cases: within a second nothing is left of any session, gauges, descriptors and
  // all; every accepted client was closed and logged once; the process is quiet. Peers that the
  // script has not closed may still be open at their own ends.
  void settle(At at = At::here());
  // And then a fresh connection through the listener `front` to this backend works.
  void settle(Backend& backend, At at = At::here());

  void drain() { instance_->drain(); }
  // Waits for run() to return after drain(); answers the exit code.
  int wait_for_exit(At at = At::here());

 private:
  std::size_t own_descriptors() const;
  std::size_t listening_sockets();
  void serve_a_fresh_client(Backend& backend, At at);

  Folder folder_;
  std::unique_ptr<app::Instance> instance_;
  std::size_t descriptors_at_start_ = 0;
  std::future<int> exit_;
};

// `name` as in the access log.
inline std::string text(core::CloseReason reason) { return std::string(core::name(reason)); }

}  // namespace weir::e2e
