#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/doors.h"
#include "app/engine.h"
#include "app/errand.h"
#include "app/handover.h"
#include "app/operations.h"
#include "app/predecessors.h"
#include "weir/admin/snapshot.h"
#include "weir/app/program.h"
#include "weir/net/channel.h"
#include "weir/net/child.h"
#include "weir/net/timer.h"
#include "weir/net/watch.h"

namespace weir::app {

// An upgrade in place, seen from the process that goes: it starts the program again, and when that
// is ready hands over to it and drains. Until the new one serves, anything that goes wrong ends
// with the new one gone, and this one serving as before. Control thread.
class Succession {
 public:
  struct Process {
    Program program;
    bool owns_paths;
    Operations& operations;
    Predecessors& predecessors;
    std::function<Doors&()> doors;
    std::function<std::uint64_t()> generation;
    std::function<admin::Snapshot()> snapshot;  // of this process, and of those gone before it
    std::function<void()> drain;                // the new one serves
    std::function<void()> reload;               // it was asked for, and there is no new one
  };

  Succession(Engine& engine, Process process);
  ~Succession();

  // Nothing when it is under way already.
  void begin();
  // The new process serves.
  bool over() const { return phase_ == Phase::over; }
  // It does not yet, and may read the configuration at any moment, or has.
  bool under_way() const { return phase_ == Phase::preparing || phase_ == Phase::handing_over; }
  // A reload that was asked for meanwhile: the new process's to do, or ours when none comes of it.
  void reload_afterwards() { reload_afterwards_ = true; }
  // This process is told to end, and with it the new one.
  void give_up();
  // Told it all that there is to tell: this process is about to end.
  void last_report();

 private:
  enum class Phase : std::uint8_t {
    idle,
    preparing,     // the new process loads its configuration
    handing_over,  // we accept nobody any more, and it does not yet
    over,
  };

  std::string why_not() const;
  std::vector<int> collect();
  void on_message();
  void on_ready(const std::string& text);
  void on_serves(const std::string& text);
  void on_errand(const std::string& text);
  void on_timer();
  void fail(const std::string& why);
  void clean_up();

  State state();
  Report report();
  std::uint32_t places(const upstream::Backend& backend, std::uint32_t undialled, bool waits);
  void send_report(bool all);
  Answer run(const Errand& errand);
  void take_gift(const Errand& gift);

  Engine& engine_;
  const Process process_;
  Phase phase_ = Phase::idle;
  std::unique_ptr<net::Child> child_;
  net::Channel channel_;
  net::Descriptor watched_;
  std::unique_ptr<net::Watch> watch_;
  net::Timer timer_;     // how long we wait for it, and then when to report
  net::Timer clean_up_;  // not from the watch itself
  bool failed_ = false;
  bool reload_afterwards_ = false;

  struct Offered {
    std::optional<proxy::AddressId> address;  // none: one of the doors
    std::string text;                         // where it listens
    net::ListenSocket socket;
  };
  std::vector<Offered> offered_;
  std::set<std::size_t> adopted_;
  std::uint64_t last_session_ = 0;
  std::map<const upstream::Backend*, std::uint32_t> ceilings_;
  std::string reported_;
  core::TimePoint all_told_{};
  std::uint64_t gifts_ = 0;
};

}  // namespace weir::app
