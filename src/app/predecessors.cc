#include "app/predecessors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <tuple>
#include <utility>

#include "weir/net/log.h"
#include "weir/net/steady_clock.h"

namespace weir::app {
namespace {

// For an answer of a process that has nothing else to do.
constexpr std::chrono::seconds kPatience(2);
constexpr core::Duration kAtOnce = core::Duration::zero();

// Of one that does not answer it is not asked again; an order it finds when it goes on.
bool is_question(Errand::Kind kind) {
  return kind == Errand::Kind::sessions || kind == Errand::Kind::session;
}

std::uint32_t active_of(const Report& report, const std::string& pool) {
  for (const Report::Pool& each : report.pools) {
    if (each.name == pool) return each.active;
  }
  return 0;
}

std::uint32_t places_of(const Report& report, const Report::Backend& backend) {
  for (const Report::Backend& each : report.backends) {
    if (each.pool == backend.pool && each.name == backend.name && each.address == backend.address) {
      return each.places;
    }
  }
  return 0;
}

}  // namespace

Predecessors::Predecessors(net::Loop& loop, Serving& serving, net::Journal& journal)
    : loop_(loop),
      serving_(serving),
      journal_(journal),
      asked_(static_cast<std::uint64_t>(::getpid()) << 32),
      bury_(loop, [this] { bury_dead(); }) {}

Predecessors::~Predecessors() = default;

void Predecessors::add(std::vector<Inheritance::Draining> draining) {
  for (Inheritance::Draining& each : draining) {
    Process& process = processes_.emplace_back();
    process.channel = std::move(each.channel);
    process.report = std::move(each.report);
    process.given = process.report.gifts;
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
  while (const auto message = process.channel.poll()) hear(process, message->text);
  process.channel.flush(kAtOnce);
  if (!process.channel) bury_.arm(loop_.refresh_now());  // not from its own watch
}

void Predecessors::hear(Process& process, const std::string& text) {
  if (std::exchange(process.silent, false)) {
    net::log(net::LogLevel::info, "upgrade", "the process that drains answers again");
  }
  if (!is_answer(text)) take(process, text);  // an answer that comes late is of no use any more
}

void Predecessors::fall_silent(Process& process) {
  process.silent = true;
  net::log(net::LogLevel::warning, "upgrade",
           "a process that drains does not answer: its sessions are not shown, and count against "
           "the limits as before");
}

void Predecessors::take(Process& process, const std::string& text) {
  try {
    Report report = read_report(text);
    std::optional<admin::Snapshot> all;  // of all counts it tells now and then
    if (!report.snapshot.empty()) all = admin::Snapshot::from_json(report.snapshot);
    const Report before = std::exchange(process.report, std::move(report));
    std::erase_if(process.gifts,
                  [&process](const Errand& gift) { return gift.number <= process.report.gifts; });
    {
      const std::lock_guard lock(mutex_);
      if (all) process.snapshot = std::move(*all);
    }
    pass_on(process, before);
  } catch (const std::exception& error) {
    net::log(net::LogLevel::warning, "upgrade", "a process that drains makes no sense: {}",
             error.what());
    process.channel.close();
  }
  apply();
}

// The first of those where somebody waits.
Predecessors::Process* Predecessors::heir(const Process& of, const std::string& pool) {
  const auto found = std::find_if(processes_.begin(), processes_.end(), [&](const Process& each) {
    return &each != &of && each.channel && !each.silent &&
           std::any_of(each.report.pools.begin(), each.report.pools.end(),
                       [&pool](const auto& one) { return one.name == pool && one.pending > 0; });
  });
  return found == processes_.end() ? nullptr : &*found;
}

// What it had before and has no more. The sum stays what it was: none of it is ours in between.
void Predecessors::pass_on(const Process& from, const Report& before) {
  if (held_) return;
  for (const Report::Pool& pool : before.pools) {
    Process* const to = heir(from, pool.name);
    if (to == nullptr) continue;
    Errand gift;
    gift.kind = Errand::Kind::give;
    gift.filter.pool = pool.name;
    gift.slots = pool.active - std::min(pool.active, active_of(from.report, pool.name));
    for (const Report::Backend& each : before.backends) {
      if (each.pool != pool.name) continue;
      const std::uint32_t now = places_of(from.report, each);
      if (now < each.places) gift.places.push_back({each.name, each.address, each.places - now});
    }
    if (gift.slots == 0 && gift.places.empty()) continue;
    gift.number = ++to->given;
    to->channel.offer(text(gift), kAtOnce);
    to->gifts.push_back(std::move(gift));
    if (!to->channel) bury_.arm(loop_.refresh_now());
  }
}

void Predecessors::bury_dead() {
  for (Process& process : processes_) {
    if (!process.channel) pass_on(process, std::exchange(process.report, {}));
  }
  const auto buried = [this](Process& process) {
    if (process.channel) return false;
    process.watch.reset();
    past_.push_back(std::move(process.snapshot));
    net::log(net::LogLevel::info, "upgrade", "a process before this one has ended");
    journal_.add(net::EventKind::upgrade, "", "", "ended", "a process before this one");
    return true;
  };
  {
    const std::lock_guard lock(mutex_);
    processes_.remove_if(buried);
  }
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
    for (const Errand& gift : process.gifts) {
      pools[gift.filter.pool] += gift.slots;
      for (const Errand::Places& each : gift.places) {
        backends[{gift.filter.pool, each.backend, each.address}] += each.places;
      }
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
  if (held_) return all;  // the next process may be reading already
  Errand numbered = errand;
  numbered.asked = ++asked_;
  for (Process& process : processes_) {
    on_readable(process);  // it may have gone on
    if (process.silent && is_question(errand.kind)) continue;
    process.channel.offer(text(numbered), kAtOnce);
    if (!process.silent) await_answer(process, numbered.asked, all);
    if (!process.channel) bury_.arm(loop_.refresh_now());
  }
  return all;
}

void Predecessors::await_answer(Process& process, std::uint64_t asked, Answer& all) {
  const core::TimePoint until = net::steady_now() + kPatience;
  while (process.channel) {
    const core::Duration left = std::max(until - net::steady_now(), kAtOnce);
    const auto message = process.channel.await(left);
    if (!message && process.channel) return fall_silent(process);
    if (!message) return;
    hear(process, message->text);
    if (!is_answer(message->text)) continue;
    try {
      Answer answer = read_answer(message->text);
      if (answer.asked != asked) continue;
      all.sessions.insert(all.sessions.end(), answer.sessions.begin(), answer.sessions.end());
      all.ended += answer.ended;
      return;
    } catch (const std::exception&) {
      process.channel.close();
    }
  }
}

Predecessors::Handed Predecessors::hold() {
  held_ = true;
  Handed handed;
  for (Process& process : processes_) {
    process.watch.reset();
    // Whoever reads next begins with a whole message, and knows all that it has.
    const core::TimePoint until = net::steady_now() + kPatience;
    while (process.channel && !(process.channel.between_messages() && process.gifts.empty())) {
      process.channel.flush(kAtOnce);
      const auto message = process.channel.await(std::max(until - net::steady_now(), kAtOnce));
      if (message) {
        hear(process, message->text);
      } else if (process.channel) {
        handed.whole = false;
        break;
      }
    }
  }
  bury_dead();
  for (const Process& process : processes_) {
    handed.channels.push_back(process.channel.fd());
    handed.reports.push_back(process.report);
  }
  return handed;
}

void Predecessors::let_go() {
  bury_.cancel();
  const std::lock_guard lock(mutex_);
  processes_.clear();
}

void Predecessors::go_on() {
  held_ = false;
  for (Process& process : processes_) {
    if (process.channel) watch(process);
  }
  bury_.arm(loop_.refresh_now());
}

}  // namespace weir::app
