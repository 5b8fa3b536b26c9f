#include "app/predecessors.h"

#include <fcntl.h>

#include <chrono>
#include <exception>
#include <map>
#include <tuple>
#include <utility>

#include "weir/net/log.h"

namespace weir::app {
namespace {

// For an answer of a process that has nothing else to do.
constexpr std::chrono::seconds kPatience(2);

}  // namespace

Predecessors::Predecessors(net::Loop& loop, Serving& serving, net::Journal& journal)
    : loop_(loop), serving_(serving), journal_(journal), bury_(loop, [this] { bury_dead(); }) {}

Predecessors::~Predecessors() = default;

void Predecessors::add(std::vector<Inheritance::Draining> draining) {
  for (Inheritance::Draining& each : draining) {
    Process& process = processes_.emplace_back();
    process.channel = std::move(each.channel);
    process.report = std::move(each.report);
    if (!process.report.snapshot.empty()) {
      process.snapshot = admin::Snapshot::from_json(process.report.snapshot);
    }
    if (process.channel) watch(process);
  }
  apply();
}

void Predecessors::watch_newest(net::Channel channel) {
  if (processes_.empty()) return;  // it has ended already
  Process& process = processes_.back();
  process.channel = std::move(channel);
  watch(process);
  on_readable(process);  // what came with what was read before
  apply();
}

void Predecessors::watch(Process& process) {
  process.watched = net::Descriptor(::fcntl(process.channel.fd(), F_DUPFD_CLOEXEC, 3));
  if (!process.watched) return;
  process.watch = std::make_unique<net::Watch>(loop_, process.watched.get(),
                                               [this, &process] { on_readable(process); });
}

void Predecessors::on_readable(Process& process) {
  while (const auto message = process.channel.poll()) take(process, message->text);
  if (!process.channel) bury_.arm(loop_.refresh_now());  // not from its own watch
}

void Predecessors::take(Process& process, const std::string& text) {
  try {
    Report report = read_report(text);
    admin::Snapshot snapshot = admin::Snapshot::from_json(report.snapshot);
    process.report = std::move(report);
    const std::lock_guard lock(mutex_);
    process.snapshot = std::move(snapshot);
  } catch (const std::exception& error) {
    net::log(net::LogLevel::warning, "upgrade", "a process that drains makes no sense: {}",
             error.what());
    process.channel.close();
  }
  apply();
}

void Predecessors::bury_dead() {
  processes_.remove_if([this](Process& process) {
    if (process.channel) return false;
    process.watch.reset();
    const std::lock_guard lock(mutex_);
    past_.push_back(std::move(process.snapshot));
    net::log(net::LogLevel::info, "upgrade", "a process before this one has ended");
    journal_.add(net::EventKind::upgrade, "", "", "ended", "a process before this one");
    return true;
  });
  apply();
}

void Predecessors::apply() {
  std::map<std::string, std::uint32_t> pools;
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> backends;
  for (const Process& process : processes_) {
    for (const Report::Pool& each : process.report.pools) pools[each.name] += each.active;
    for (const Report::Backend& each : process.report.backends) {
      backends[{each.pool, each.name, each.address}] += each.places;
    }
  }
  for (const auto& pool : serving_.all_pools()) {
    const std::string& name = pool->options().name;
    for (const auto& backend : pool->backends()) {
      backend->set_taken_elsewhere(backends[{name, backend->name(), backend->address_text()}]);
    }
    pool->admission().set_taken_elsewhere(pools[name]);
  }
}

void Predecessors::append_past(admin::Snapshot& snapshot) const {
  const std::lock_guard lock(mutex_);
  for (const admin::Snapshot& each : past_) snapshot.add(each, false);
}

void Predecessors::append(admin::Snapshot& snapshot) const {
  append_past(snapshot);
  const std::lock_guard lock(mutex_);
  for (const Process& process : processes_) snapshot.add(process.snapshot, true);
}

std::uint64_t Predecessors::sessions() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const Process& process : processes_) sum += process.snapshot.sessions;
  return sum;
}

Answer Predecessors::ask(const Errand& errand) {
  Answer all;
  for (Process& process : processes_) {
    process.channel.send(text(errand), kPatience);
    while (auto message = process.channel.receive(kPatience)) {
      if (!is_answer(message->text)) {
        take(process, message->text);
        continue;
      }
      try {
        Answer answer = read_answer(message->text);
        all.sessions.insert(all.sessions.end(), answer.sessions.begin(), answer.sessions.end());
        all.ended += answer.ended;
      } catch (const std::exception&) {
        process.channel.close();
      }
      break;
    }
    if (!process.channel) bury_.arm(loop_.refresh_now());
  }
  return all;
}

Predecessors::Handed Predecessors::hold() {
  Handed handed;
  for (Process& process : processes_) {
    process.watch.reset();
    // Whoever reads next begins with a whole message.
    while (process.channel && !process.channel.between_messages()) {
      if (const auto message = process.channel.receive(kPatience)) take(process, message->text);
    }
    if (!process.channel) continue;
    handed.channels.push_back(process.channel.fd());
    handed.reports.push_back(process.report);
  }
  return handed;
}

void Predecessors::let_go() {
  const std::lock_guard lock(mutex_);
  processes_.clear();
}

void Predecessors::go_on() {
  for (Process& process : processes_) watch(process);
}

}  // namespace weir::app
