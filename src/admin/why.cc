#include "weir/admin/why.h"

#include <fmt/format.h>

#include <algorithm>

#include "admin/moments.h"

namespace weir::admin {
namespace {

using Backend = Snapshot::Backend;

bool unhealthy(const Backend& backend) {
  return backend.health && backend.health->state == core::HealthState::unhealthy;
}

// One backend on its way to an explanation.
class Explanation {
 public:
  Explanation(const Backend& backend, const std::string& pool, const Snapshot& snapshot)
      : backend_(backend), path_(pool + "/" + backend.name), snapshot_(snapshot) {
    made_.name = backend.name;
    made_.priority = backend.priority;
    made_.state = backend.state;
    made_.gate = refusing_gate(backend);
  }

  // `in_use`: the tier that new sessions go to.
  BackendWhy make(std::optional<std::uint32_t> in_use) && {
    if (!made_.gate) {
      eligible(in_use);
      return std::move(made_);
    }
    switch (*made_.gate) {
      case Gate::administrative:
        administrative();
        break;
      case Gate::health:
        health();
        break;
      case Gate::circuit:
        circuit();
        break;
      case Gate::capacity:
        made_.hint = fmt::format(
            "one of its {} sessions ends, or raise max_active_per_backend or the backend's "
            "max_active (now {}) and reload",
            backend_.active, backend_.max_active);
        break;
    }
    return std::move(made_);
  }

 private:
  void eligible(std::optional<std::uint32_t> in_use) {
    const core::CircuitStatus& circuit = backend_.circuit;
    if (in_use && *in_use < backend_.priority) {
      made_.hint = fmt::format("stands by: priority {} is in use", *in_use);
    } else if (!circuit.enabled || circuit.bypassed ||
               circuit.phase == core::CircuitPhase::closed) {
      if (circuit.bypassed) {
        made_.hint = fmt::format("its circuit is bypassed: weirctl circuit {} auto", path_);
      }
    } else {
      made_.hint = "the next client is a probe";
    }
  }

  // It stays so until somebody changes it: the end of a drain lets nobody in.
  void administrative() {
    if (backend_.removed) {
      made_.hint = "gone from the configuration: put it back and reload";
    } else if (!backend_.disabled && !backend_.draining) {
      made_.hint = "set its weight above 0 and reload";
      return;
    } else {
      made_.hint = "weirctl enable " + path_;
      if (backend_.weight == 0) made_.hint += ", and set its weight above 0 and reload";
    }
    if (backend_.drain_until != core::kNever) {
      made_.hint += fmt::format("; what still runs on it ends at {}",
                                text(time_of_day(snapshot_, backend_.drain_until)));
    }
  }

  void health() {
    made_.hint = "its checks must succeed again";
    if (backend_.health->last) {
      made_.hint += fmt::format("; the last one, at {}: {}",
                                text(time_of_day(snapshot_, backend_.health->last_at)),
                                core::name(*backend_.health->last));
    }
  }

  void circuit() {
    const core::CircuitStatus& circuit = backend_.circuit;
    if (circuit.forced_open) {
      made_.hint = fmt::format("opened by an operator: weirctl circuit {} auto", path_);
      return;
    }
    const bool open = circuit.phase == core::CircuitPhase::open;
    made_.until = time_of_day(snapshot_, open ? circuit.open_until : circuit.half_open_until);
    made_.hint =
        open ? fmt::format(
                   "the next client after {} is the probe; weirctl circuit {} close lets "
                   "clients in now",
                   text(*made_.until), path_)
             : fmt::format("its probe decides by {}; weirctl circuit {} close lets clients in now",
                           text(*made_.until), path_);
  }

  const Backend& backend_;
  const std::string path_;
  const Snapshot& snapshot_;
  BackendWhy made_;
};

}  // namespace

std::string_view name(Gate gate) {
  switch (gate) {
    case Gate::administrative:
      return "administrative";
    case Gate::health:
      return "health";
    case Gate::circuit:
      return "circuit";
    case Gate::capacity:
      return "capacity";
  }
  return {};
}

std::string_view name(PoolVerdict verdict) {
  switch (verdict) {
    case PoolVerdict::ok:
      return "ok";
    case PoolVerdict::degraded:
      return "degraded";
    case PoolVerdict::down:
      return "down";
  }
  return {};
}

std::optional<Gate> refusing_gate(const Backend& backend) {
  if (backend.removed || backend.disabled || backend.draining || backend.weight == 0) {
    return Gate::administrative;
  }
  if (unhealthy(backend)) return Gate::health;
  if (!backend.circuit.admits()) return Gate::circuit;
  if (backend.full) return Gate::capacity;
  return std::nullopt;
}

Why why(const Snapshot::Pool& pool, const Snapshot& snapshot) {
  Why made;
  std::optional<std::uint32_t> preferred;
  std::optional<std::uint32_t> in_use;
  const auto least = [](std::optional<std::uint32_t>& so_far, std::uint32_t priority) {
    so_far = std::min(so_far.value_or(priority), priority);
  };
  for (const Backend& backend : pool.backends) {
    if (backend.removed) continue;
    least(preferred, backend.priority);
    const auto gate = refusing_gate(backend);
    if (gate == Gate::health || gate == Gate::circuit) made.verdict = PoolVerdict::degraded;
    if (gate) continue;
    least(in_use, backend.priority);
    ++made.eligible;
  }
  if (in_use != preferred) made.verdict = PoolVerdict::degraded;
  if (!in_use) made.verdict = PoolVerdict::down;
  for (const Backend& backend : pool.backends) {
    made.backends.push_back(Explanation(backend, pool.name, snapshot).make(in_use));
  }
  return made;
}

}  // namespace weir::admin
