#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/errand.h"
#include "app/handover.h"
#include "app/inheritance.h"
#include "weir/admin/snapshot.h"
#include "weir/app/serving.h"
#include "weir/net/channel.h"
#include "weir/net/journal.h"
#include "weir/net/loop.h"
#include "weir/net/timer.h"
#include "weir/net/watch.h"

namespace weir::app {

// The processes that drain after an upgrade: what they have of the limits, which this one leaves to
// them, and a way to ask for their sessions. Control thread; append() on any.
class Predecessors {
 public:
  Predecessors(net::Loop& loop, Serving& serving, net::Journal& journal);
  ~Predecessors();

  // In the order in which they came; of the last one the channel is had later.
  void add(std::vector<Inheritance::Draining> draining);
  void watch_newest(net::Channel channel);
  // Leaves to them what they have, also of pools and backends that a reload has made.
  void apply();

  // Adds their sessions and all they ever counted; or only what those counted that are gone.
  void append(admin::Snapshot& snapshot) const;
  void append_past(admin::Snapshot& snapshot) const;
  std::uint64_t sessions() const;

  // Asks all of them. Of those that do not answer in time the sessions are missing, and orders are
  // carried out when they go on; what they have of the limits stays theirs.
  Answer ask(const Errand& errand);

  // For the next upgrade: nothing is read until go_on(), and these are theirs to read, and what
  // each has said last.
  struct Handed {
    std::vector<int> channels;
    std::vector<Report> reports;
    bool whole = true;  // otherwise one cannot be handed on: it stopped in the middle of something
  };
  Handed hold();
  void go_on();
  // They are the next process's.
  void let_go();

 private:
  // Of what one that drains has left, to another where clients wait who were here before ours.
  struct Process {
    net::Channel channel;
    Report report;
    std::vector<Errand> gifts;  // that it has not confirmed
    std::uint64_t given = 0;    // the number of the last
    bool silent = false;        // it did not answer, and has said nothing since
    admin::Snapshot snapshot;
    net::Descriptor watched;  // outlives the channel, which closes itself
    std::unique_ptr<net::Watch> watch;
  };

  void watch(Process& process);
  void on_readable(Process& process);
  void hear(Process& process, const std::string& text);
  void take(Process& process, const std::string& text);
  void await_answer(Process& process, std::uint64_t asked, Answer& all);
  void fall_silent(Process& process);
  void pass_on(const Process& from, const Report& before);
  Process* heir(const Process& of, const std::string& pool);
  void bury_dead();

  net::Loop& loop_;
  Serving& serving_;
  net::Journal& journal_;
  mutable std::mutex mutex_;  // guards the snapshots
  std::list<Process> processes_;
  std::vector<admin::Snapshot> past_;  // of those that are gone
  bool held_ = false;
  std::uint64_t asked_;  // the number of the last errand; other processes have others
  net::Timer bury_;
};

}  // namespace weir::app
