#include "admin/metrics.h"

#include <algorithm>
#include <array>

#include "admin/exposition.h"
#include "weir/admin/why.h"

namespace weir::admin {
namespace {

using Type = Exposition::Type;
using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;

// What an admission refuses with; a closed list of its own.
constexpr std::array kRefusals = {CloseReason::proxy_overloaded, CloseReason::pending_timeout,
                                  CloseReason::client_left_queue, CloseReason::upstream_unavailable,
                                  CloseReason::shutdown};
constexpr std::array kPhases = {CircuitPhase::closed, CircuitPhase::open, CircuitPhase::half_open};

// The metrics of one snapshot.
class Metrics {
 public:
  explicit Metrics(const Snapshot& snapshot) : snapshot_(snapshot) {}

  void listeners();
  void pools();
  void circuits();
  void dials();
  void process(const Status& status, const ProcessStats& stats);
  std::string text() && { return std::move(to_).text(); }

 private:
  using Listener = Snapshot::Listener;
  using Pool = Snapshot::Pool;
  using Backend = Snapshot::Backend;

  void family(std::string_view name, Type type, std::string_view help) {
    to_.family(name, type, help);
  }
  template <typename Each>
  void each_listener(const Each& each) {
    for (const Listener& listener : snapshot_.listeners) each(listener);
  }
  template <typename Each>
  void each_pool(const Each& each) {
    for (const Pool& pool : snapshot_.pools) each(pool);
  }
  template <typename Each>
  void each_backend(const Each& each) {
    for (const Pool& pool : snapshot_.pools) {
      for (const Backend& backend : pool.backends) each(pool, backend);
    }
  }
  // How many of a pool's backends are so; those that are leaving are none of them any more.
  template <typename Is>
  static std::uint64_t count(const Pool& pool, const Is& is) {
    std::uint64_t number = 0;
    for (const Backend& backend : pool.backends) {
      if (!backend.removed && is(backend)) ++number;
    }
    return number;
  }

  static bool has_checks(const Pool& pool) {
    return std::any_of(pool.backends.begin(), pool.backends.end(),
                       [](const Backend& backend) { return backend.health.has_value(); });
  }

  const Snapshot& snapshot_;
  Exposition to_;
};

void Metrics::listeners() {
  family("weir_listener_connections", Type::gauge, "Client connections that are open.");
  each_listener([this](const Listener& each) {
    to_.sample({{"listener", each.name}}, each.connections);
  });
  family("weir_listener_accepted_total", Type::counter, "Client connections accepted.");
  each_listener([this](const Listener& each) {
    to_.sample({{"listener", each.name}}, each.accepted);
  });
  family("weir_listener_accept_errors_total", Type::counter, "Tries to accept that failed.");
  each_listener([this](const Listener& each) {
    for (std::size_t i = 0; i < net::kAcceptErrors; ++i) {
      to_.sample({{"listener", each.name}, {"reason", name(static_cast<net::AcceptError>(i))}},
                 each.accept_errors[i]);
    }
  });
  family("weir_sessions_closed_total", Type::counter, "Sessions that have ended, by reason.");
  each_listener([this](const Listener& each) {
    for (std::size_t i = 0; i < core::kCloseReasons; ++i) {
      to_.sample({{"listener", each.name}, {"reason", name(static_cast<CloseReason>(i))}},
                 each.closed[i]);
    }
  });
  family("weir_bytes_total", Type::counter, "Bytes relayed; in is from client to backend.");
  each_listener([this](const Listener& each) {
    to_.sample({{"listener", each.name}, {"direction", "in"}}, each.bytes_in);
    to_.sample({{"listener", each.name}, {"direction", "out"}}, each.bytes_out);
  });
}

void Metrics::pools() {
  family("weir_pool_active_requests", Type::gauge, "Sessions from admission to their end.");
  each_pool([this](const Pool& each) { to_.sample({{"pool", each.name}}, each.active); });
  family("weir_pool_pending_requests", Type::gauge, "Clients that wait for admission.");
  each_pool([this](const Pool& each) { to_.sample({{"pool", each.name}}, each.pending); });
  family("weir_pool_admission_rejected_total", Type::counter,
         "Clients that the admission refused, by reason.");
  each_pool([this](const Pool& each) {
    for (const CloseReason reason : kRefusals) {
      to_.sample({{"pool", each.name}, {"reason", name(reason)}}, each.rejected_as(reason));
    }
  });
  family("weir_pool_queue_wait_seconds", Type::histogram,
         "How long those clients waited for admission that had to.");
  each_pool([this](const Pool& each) { to_.histogram(each.name, each.queue_times); });
  family("weir_pool_backends_eligible", Type::gauge, "Backends that take new sessions.");
  each_pool([this](const Pool& each) {
    to_.sample({{"pool", each.name}},
               count(each, [](const Backend& backend) { return !refusing_gate(backend); }));
  });
  family("weir_pool_backends_healthy", Type::gauge,
         "Backends that active checks do not find down; all where there are no checks.");
  each_pool([this](const Pool& each) {
    to_.sample({{"pool", each.name}}, count(each, [](const Backend& backend) {
                 return !backend.health || backend.health->state == core::HealthState::healthy;
               }));
  });
  family("weir_health_checks_total", Type::counter, "Active checks that have ended, by outcome.");
  each_pool([this](const Pool& each) {
    if (!has_checks(each)) return;
    for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
      to_.sample({{"pool", each.name}, {"outcome", name(static_cast<DialOutcome>(i))}},
                 each.totals.checks[i]);
    }
  });
}

void Metrics::circuits() {
  family("weir_pool_circuit_state", Type::gauge, "Backends whose circuit is in a state.");
  each_pool([this](const Pool& each) {
    for (const CircuitPhase phase : kPhases) {
      to_.sample(
          {{"pool", each.name}, {"state", name(phase)}},
          count(each, [phase](const Backend& backend) { return backend.circuit.phase == phase; }));
    }
  });
  family("weir_pool_circuit_transitions_total", Type::counter,
         "Changes of state of the backends' circuits, by the state they led to.");
  each_pool([this](const Pool& each) {
    for (const CircuitPhase phase : kPhases) {
      to_.sample({{"pool", each.name}, {"to", name(phase)}},
                 each.totals.transitions[static_cast<std::size_t>(phase)]);
    }
  });
  family("weir_backend_circuit_state", Type::gauge, "0 closed, 1 open, 2 half-open.");
  each_backend([this](const Pool& pool, const Backend& backend) {
    if (backend.removed) return;
    static_assert(static_cast<int>(CircuitPhase::closed) == 0);
    static_assert(static_cast<int>(CircuitPhase::open) == 1);
    static_assert(static_cast<int>(CircuitPhase::half_open) == 2);
    to_.sample({{"pool", pool.name}, {"backend", backend.name}},
               static_cast<std::uint64_t>(backend.circuit.phase));
  });
  family("weir_backend_circuit_rejects_total", Type::counter,
         "Times a circuit kept a session away from a backend.");
  each_backend([this](const Pool& pool, const Backend& backend) {
    to_.sample({{"pool", pool.name}, {"backend", backend.name}}, backend.circuit.rejects);
  });
}

void Metrics::dials() {
  family("weir_backend_active_requests", Type::gauge, "Dials and sessions on a backend.");
  each_backend([this](const Pool& pool, const Backend& backend) {
    to_.sample({{"pool", pool.name}, {"backend", backend.name}}, backend.active);
  });
  family("weir_dials_total", Type::counter, "Dials that have ended, by outcome.");
  each_pool([this](const Pool& each) {
    for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
      to_.sample({{"pool", each.name}, {"outcome", name(static_cast<DialOutcome>(i))}},
                 each.totals.dials[i]);
    }
  });
  family("weir_dial_seconds", Type::histogram, "How long dials took, however they ended.");
  each_pool([this](const Pool& each) { to_.histogram(each.name, each.dial_times); });
  family("weir_backend_dials_total", Type::counter, "Dials of a backend that have ended.");
  each_backend([this](const Pool& pool, const Backend& backend) {
    for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
      const auto outcome = static_cast<DialOutcome>(i);
      if (backend.dials[i] == 0 && outcome != DialOutcome::connected) continue;
      to_.sample({{"pool", pool.name}, {"backend", backend.name}, {"outcome", name(outcome)}},
                 backend.dials[i]);
    }
  });
  family("weir_retries_total", Type::counter,
         "Dials that were not the first of their session, by outcome.");
  each_pool([this](const Pool& each) {
    for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
      to_.sample({{"pool", each.name}, {"outcome", name(static_cast<DialOutcome>(i))}},
                 each.retries[i]);
    }
  });
  family("weir_retry_budget_denied_total", Type::counter,
         "Sessions that the retry budget refused a further dial.");
  each_pool([this](const Pool& each) {
    to_.sample({{"pool", each.name}}, each.retry_budget_denied);
  });
}

void Metrics::process(const Status& status, const ProcessStats& stats) {
  family("weir_access_log_dropped_total", Type::counter,
         "Lines that the access log could not take.");
  to_.sample({}, snapshot_.access_log_dropped);
  family("weir_config_generation", Type::gauge, "Counts the configurations that were in force.");
  to_.sample({}, status.config_generation);
  family("weir_reloads_total", Type::counter, "Reloads, by what came of them.");
  to_.sample({{"outcome", "accepted"}}, status.reloads);
  to_.sample({{"outcome", "refused"}}, status.reloads_refused);
  family("weir_build_info", Type::gauge, "Always 1; the version is its label.");
  to_.sample({{"version", status.version}}, 1);
  family("process_open_fds", Type::gauge, "Open file descriptors.");
  to_.sample({}, snapshot_.open_fds);
  family("process_max_fds", Type::gauge, "The limit on open file descriptors.");
  to_.sample({}, stats.max_fds);
  family("process_resident_memory_bytes", Type::gauge, "Resident memory in bytes.");
  to_.sample({}, stats.resident_bytes);
}

}  // namespace

std::string metrics(const Snapshot& snapshot, const Status& status, const ProcessStats& process) {
  Metrics made(snapshot);
  made.listeners();
  made.pools();
  made.circuits();
  made.dials();
  made.process(status, process);
  return std::move(made).text();
}

}  // namespace weir::admin
