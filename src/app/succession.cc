#include "app/succession.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <utility>

#include "app/inheritance.h"
#include "weir/net/log.h"

namespace weir::app {
namespace {

using net::LogLevel;

constexpr const char* kAbout = "upgrade";

// A new process loads a file and binds sockets: moments, unless its machine is overloaded.
constexpr std::chrono::seconds kReadyIn(15);
// Clients wait meanwhile. It has all that it needs, and is to start threads.
constexpr std::chrono::seconds kServesIn(5);
constexpr std::chrono::seconds kSend(2);

// How far behind the new process's knowledge of our counts may be, which only makes it careful.
constexpr std::chrono::milliseconds kReportEvery(10);
constexpr std::chrono::seconds kAllEvery(1);

// It may find out at last what keeps it from it.
std::string why_it_does_not_serve(const std::string& text) {
  try {
    return "it cannot serve: " + read_ready(text).failure;
  } catch (const std::exception& error) {
    return std::string("it makes no sense: ") + error.what();
  }
}

}  // namespace

Succession::Succession(Engine& engine, Process process)
    : engine_(engine),
      process_(std::move(process)),
      timer_(engine.control, [this] { on_timer(); }),
      clean_up_(engine.control, [this] { clean_up(); }) {}

Succession::~Succession() = default;

std::string Succession::why_not() const {
  if (engine_.draining || engine_.ended) return "this process drains already";
  if (phase_ != Phase::idle) return "one is under way";
  if (process_.program.path.empty())
    return "there is no program to start: this is a demo or a test";
  if (::getpid() == 1) {
    return "this is process 1 of its container, which ends with it: start a new container";
  }
  return {};
}

void Succession::begin() {
  if (const std::string why = why_not(); !why.empty()) {
    net::log(LogLevel::error, kAbout, "refused: {}", why);
    engine_.journal.add(net::EventKind::upgrade, "", "", "refused", why);
    return;
  }
  clean_up_.cancel();
  clean_up();
  failed_ = false;
  auto [ours, theirs] = net::Channel::make();
  if (!ours) return fail("there are no descriptors left");
  std::string error;
  std::optional<net::Child> child =
      net::Child::start(process_.program.path, process_.program.arguments, theirs.fd(),
                        {Inheritance::kVariable, "1"}, error);
  if (!child) return fail(fmt::format("cannot start {}: {}", process_.program.path, error));
  child_ = std::make_unique<net::Child>(std::move(*child));
  channel_ = std::move(ours);
  theirs.close();
  phase_ = Phase::preparing;
  net::log(LogLevel::info, kAbout, "started {} as process {}", process_.program.path,
           child_->pid());
  engine_.journal.add(net::EventKind::upgrade, "", "", "started",
                      fmt::format("{} as process {}", process_.program.path, child_->pid()));
  const std::vector<int> descriptors = collect();
  if (!channel_.send(text(Welcome{descriptors.size(), process_.owns_paths}), kSend, descriptors)) {
    return fail("it does not listen");
  }
  watched_ = net::Descriptor(::fcntl(channel_.fd(), F_DUPFD_CLOEXEC, 3));
  watch_ = std::make_unique<net::Watch>(engine_.control, watched_.get(), [this] { on_message(); });
  timer_.arm(engine_.control.refresh_now() + kReadyIn);
}

// All listening sockets, each once: of a unix one the workers have copies.
std::vector<int> Succession::collect() {
  offered_.clear();
  std::set<proxy::AddressId> unix_sockets;
  for (auto& share : engine_.of_all_workers([](Worker& worker) { return worker.share(); })) {
    for (Worker::Address& each : share) {
      if (each.socket.is_unix() && !unix_sockets.insert(each.id).second) continue;
      offered_.push_back({each.id, each.socket.address().text(), std::move(each.socket)});
    }
  }
  for (net::ListenSocket& door : process_.doors().share()) {
    const std::string address = door.address().text();
    offered_.push_back({std::nullopt, address, std::move(door)});
  }
  std::vector<int> descriptors;
  for (const Offered& each : offered_) descriptors.push_back(each.socket.fd());
  return descriptors;
}

void Succession::on_message() {
  while (auto message = channel_.poll()) {
    switch (phase_) {
      case Phase::preparing:
        on_ready(message->text);
        break;
      case Phase::handing_over:
        on_serves(message->text);
        break;
      case Phase::over:
        on_errand(message->text);
        break;
      case Phase::idle:
        break;
    }
  }
  if (channel_ || failed_ || phase_ == Phase::idle) return;
  if (phase_ == Phase::over) {
    // It has gone after all. We drain, and there is nobody to tell.
    timer_.cancel();
    clean_up_.arm(engine_.control.refresh_now());
    return;
  }
  fail("it has ended");
}

void Succession::on_ready(const std::string& text) {
  Ready ready;
  try {
    ready = read_ready(text);
  } catch (const std::exception& error) {
    return fail(std::string("it makes no sense: ") + error.what());
  }
  if (!ready.failure.empty()) return fail("it cannot take over: " + ready.failure);
  adopted_ = {ready.adopted.begin(), ready.adopted.end()};
  phase_ = Phase::handing_over;
  for (const auto last : engine_.of_all_workers([](Worker& worker) { return worker.hold(); })) {
    last_session_ = std::max(last_session_, last);
  }
  const Predecessors::Handed handed = process_.predecessors.hold();
  if (!handed.whole) return fail("a process that drains does not answer: try again when it does");
  Report first = report();
  first.snapshot = process_.snapshot().json();
  reported_ = app::text(first);
  bool sent = channel_.send(app::text(state()), kSend, handed.channels);
  sent = sent && channel_.send(reported_, kSend);
  for (const Report& each : handed.reports) sent = sent && channel_.send(app::text(each), kSend);
  if (!sent) return fail("it does not listen");
  timer_.arm(engine_.control.refresh_now() + kServesIn);
}

void Succession::on_serves(const std::string& text) {
  if (text != kServes) return fail(why_it_does_not_serve(text));
  phase_ = Phase::over;
  std::set<proxy::AddressId> left;
  std::set<std::string> doors;
  for (const std::size_t number : adopted_) {
    if (number >= offered_.size()) continue;
    if (offered_[number].address) {
      left.insert(*offered_[number].address);
    } else {
      doors.insert(offered_[number].text);
    }
  }
  engine_.of_all_workers([&left](Worker& worker) { return worker.leave(left); });
  process_.doors().leave(doors);
  process_.predecessors.let_go();
  offered_.clear();
  net::log(LogLevel::info, kAbout, "process {} serves", child_->pid());
  if (std::exchange(reload_afterwards_, false)) ::kill(child_->pid(), SIGHUP);
  process_.drain();
  timer_.arm(engine_.control.refresh_now() + kReportEvery);
}

void Succession::on_errand(const std::string& text) {
  Answer answer;
  try {
    const Errand errand = read_errand(text);
    if (errand.kind == Errand::Kind::give) {
      take_gift(errand);
      return send_report(false);
    }
    answer = run(errand);
    answer.asked = errand.asked;
  } catch (const std::exception& error) {
    net::log(LogLevel::warning, kAbout, "the process after this one makes no sense: {}",
             error.what());
  }
  channel_.offer(app::text(answer), core::Duration::zero());
}

Answer Succession::run(const Errand& errand) {
  Answer answer;
  switch (errand.kind) {
    case Errand::Kind::sessions:
      answer.sessions = process_.operations.sessions(errand.filter, errand.most);
      break;
    case Errand::Kind::session:
      if (auto view = process_.operations.session(errand.id)) answer.sessions.push_back(*view);
      break;
    case Errand::Kind::kill_session:
      answer.ended = process_.operations.kill(errand.id);
      break;
    case Errand::Kind::end_sessions:
      answer.ended =
          process_.operations.end_sessions(errand.filter.pool, errand.filter.backend,
                                           errand.reason == core::name(core::CloseReason::killed)
                                               ? core::CloseReason::killed
                                               : core::CloseReason::backend_drained);
      break;
    case Errand::Kind::set_duty:
      process_.operations.set_duty(errand.filter.pool, errand.filter.backend,
                                   errand.takes_sessions);
      break;
    case Errand::Kind::give:
      break;  // not answered
  }
  send_report(true);
  return answer;
}

// A process that was kept from its work may find both: the time is over, and the message is here.
void Succession::on_timer() {
  const Phase before = phase_;
  if (before == Phase::preparing || before == Phase::handing_over) on_message();
  if (phase_ != before) return;
  switch (phase_) {
    case Phase::idle:
      return;
    case Phase::preparing:
      return fail("it was not ready in time");
    case Phase::handing_over:
      return fail("it did not begin to serve in time");
    case Phase::over:
      send_report(false);
      timer_.arm(engine_.control.refresh_now() + kReportEvery);
  }
}

// All counts are much to say: every second, and when an operator has asked.
// One that does not take it will find the next, which says the same and more: it may have stopped
// for a while, and is not gone.
void Succession::send_report(bool all) {
  if (!channel_ || !channel_.flush(core::Duration::zero())) return;
  Report now = report();
  std::string places = app::text(now);
  const core::TimePoint moment = engine_.control.refresh_now();
  all = all || moment >= all_told_ + kAllEvery;
  if (!all && places == reported_) return;
  reported_ = std::move(places);
  if (!all) {
    channel_.offer(reported_, core::Duration::zero());
    return;
  }
  all_told_ = moment;
  now.snapshot = process_.snapshot().json();
  channel_.offer(app::text(now), core::Duration::zero());
}

void Succession::last_report() {
  if (phase_ != Phase::over) return;
  channel_.flush(kSend);
  send_report(true);
  channel_.flush(kSend);
}

// From anywhere before the new process serves: back to how it was.
void Succession::fail(const std::string& why) {
  const bool held = phase_ == Phase::handing_over;
  std::string how = why;
  if (child_) {
    child_->kill();
    // Where it went first it was too late to kill it: how it ended is the better reason.
    if (channel_.peer_gone()) how += ", " + child_->ended().value_or("");
  }
  failed_ = true;
  phase_ = Phase::idle;
  timer_.cancel();
  offered_.clear();
  ceilings_.clear();
  for (const auto& pool : engine_.serving.all_pools()) {
    for (const auto& backend : pool->with_removed()) backend->set_ceiling(UINT32_MAX);
  }
  if (held) {
    engine_.of_all_workers([](Worker& worker) { return worker.go_on(); });
    process_.predecessors.go_on();
  }
  net::log(LogLevel::error, kAbout, "failed, this process goes on: {}", how);
  engine_.journal.add(net::EventKind::upgrade, "", "", "failed", how);
  clean_up_.arm(engine_.control.refresh_now());
}

void Succession::clean_up() {
  watch_.reset();
  watched_.reset();
  channel_.close();
  if (phase_ != Phase::idle) return;
  child_.reset();
  if (std::exchange(reload_afterwards_, false)) process_.reload();
}

// Its word that it serves may be here already: then it has clients, and is not ours to kill.
void Succession::give_up() {
  if (under_way()) on_message();
  if (!under_way()) return;
  reload_afterwards_ = false;
  fail("weir is told to end");
}

}  // namespace weir::app
