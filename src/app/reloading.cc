#include "app/reloading.h"

#include <fmt/format.h>

#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include "weir/app/binds.h"
#include "weir/net/log.h"

namespace weir::app {
namespace {

using config::PlanAction;
using config::PlanItem;

constexpr const char* kAbout = "reload";

std::size_t changes(const config::Plan& plan) {
  std::size_t sum = 0;
  for (const PlanItem& item : plan.items) sum += item.action != PlanAction::kept ? 1 : 0;
  return sum;
}

}  // namespace

Reloading::Reloading(Engine& engine, Process process, config::Configuration& in_force,
                     std::string file)
    : engine_(engine), process_(std::move(process)), in_force_(in_force), file_(std::move(file)) {}

config::LoadResult Reloading::load(std::optional<std::string_view> text) const {
  if (text) {
    return config::load(*text, config::folder_of(file_), config::process_environment());
  }
  if (!file_.empty()) return config::load_file(file_);
  config::LoadResult none;
  none.problems.push_back(
      none.problem("", "weir was started without a file: there is none to read"));
  return none;
}

admin::Reload Reloading::look_at(const config::LoadResult& loaded) const {
  admin::Reload reload;
  reload.generation = generation_;
  reload.problems = loaded.problems;
  if (!loaded.configuration) return reload;
  reload.plan = config::plan(in_force_, *loaded.configuration);
  engine_.serving.mark_resumed(*loaded.configuration, reload.plan);
  for (const config::Refusal& refusal : reload.plan.refusals) {
    reload.problems.push_back(loaded.problem(refusal.path, refusal.message));
  }
  reload.accepted = reload.plan.refusals.empty();
  return reload;
}

admin::Reload Reloading::plan(std::optional<std::string_view> text) { return look_at(load(text)); }

admin::Reload Reloading::reload(std::optional<std::string_view> text, const std::string& cause) {
  return reload(load(text), cause);
}

admin::Reload Reloading::reload(config::LoadResult loaded, const std::string& cause) {
  admin::Reload reload = look_at(loaded);
  if (const std::string why = process_.why_not_now(); !why.empty()) {
    reload.accepted = false;
    reload.problems.push_back(loaded.problem("", why));
  }
  if (!reload.accepted) return refuse(std::move(reload), cause);
  std::optional<net::LineTarget> access_log;
  if (auto problem = open(loaded, access_log)) {
    reload.accepted = false;
    reload.problems.push_back(std::move(*problem));
    return refuse(std::move(reload), cause);
  }
  reload.generation = ++generation_;
  ++accepted_;
  carry_out(*loaded.configuration, std::move(access_log));
  tell(reload, cause);
  return reload;
}

std::optional<config::Problem> Reloading::open(const config::LoadResult& loaded,
                                               std::optional<net::LineTarget>& access_log) {
  const config::Configuration& next = *loaded.configuration;
  // Listeners last: once their sockets listen, clients may wait there.
  if (const auto failure = process_.listen_http(next)) {
    return loaded.problem("http.listen", *failure);
  }
  const auto as_it_was = [this] { static_cast<void>(process_.listen_http(in_force_)); };
  if (next.app.access_log != in_force_.app.access_log) {
    try {
      access_log = net::LineTarget::open(next.app.access_log);
    } catch (const std::system_error& error) {
      as_it_was();
      return loaded.problem("log.access", fmt::format("cannot open {}: {}", next.app.access_log,
                                                      error.code().message()));
    }
  }
  if (const auto failure = engine_.serving.prepare(next)) {
    if (access_log) access_log->take_back();
    as_it_was();
    return loaded.problem(fmt::format("listeners[{}].bind[{}]", failure->listener, failure->bind),
                          failure->message);
  }
  return std::nullopt;
}

void Reloading::carry_out(const config::Configuration& next,
                          std::optional<net::LineTarget> access_log) {
  std::vector<std::future<void>> applied;
  std::vector<Worker::Change> changed = engine_.serving.take(next, generation_);
  for (std::size_t i = 0; i < engine_.workers.size(); ++i) {
    applied.push_back(engine_.workers[i]->apply(std::move(changed[i])));
  }
  for (auto& each : applied) each.get();
  engine_.serving.after_change();
  if (access_log) process_.access_log.retarget(std::move(*access_log));
  in_force_ = next;
  process_.adopt(in_force_);
}

admin::Reload Reloading::refuse(admin::Reload reload, const std::string& cause) {
  ++refused_;
  std::size_t errors = 0;
  for (const config::Problem& problem : reload.problems) {
    if (problem.warning) continue;
    ++errors;
    net::log(net::LogLevel::error, kAbout, "{}", problem.text(file_.empty() ? "-" : file_));
  }
  net::log(net::LogLevel::error, kAbout, "refused, {} errors; nothing has changed ({})", errors,
           cause);
  engine_.journal.add(net::EventKind::reload, "", "", "refused",
                      fmt::format("{}; {} errors", cause, errors));
  return reload;
}

void Reloading::tell(const admin::Reload& reload, const std::string& cause) {
  for (const config::Problem& problem : reload.problems) {
    net::log(net::LogLevel::warning, kAbout, "{}", problem.text(file_.empty() ? "-" : file_));
  }
  for (const PlanItem& item : reload.plan.items) {
    if (item.action != PlanAction::kept) {
      net::log(net::LogLevel::info, kAbout, "{}", config::text(item));
    }
  }
  const std::string what = fmt::format("{}; {} changes", cause, changes(reload.plan));
  net::log(net::LogLevel::info, kAbout, "generation {} is in force ({})", reload.generation, what);
  engine_.journal.add(net::EventKind::reload, "", "",
                      fmt::format("generation {}", reload.generation), what);
}

}  // namespace weir::app
