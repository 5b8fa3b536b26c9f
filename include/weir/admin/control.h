#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/admin/snapshot.h"
#include "weir/config/configuration.h"
#include "weir/config/load.h"
#include "weir/config/plan.h"
#include "weir/core/time.h"
#include "weir/net/journal.h"
#include "weir/proxy/session_view.h"

namespace weir::admin {

struct Status {
  std::string version;
  pid_t pid = 0;
  core::Duration uptime{0};
  std::uint64_t config_generation = 1;  // counts the configurations that were in force
  std::size_t workers = 0;
  std::uint64_t sessions = 0;
  bool draining = false;
  std::uint64_t reloads = 0;          // that were carried out
  std::uint64_t reloads_refused = 0;  // and that were not
};

// What a reload does, would do, or why it is refused.
struct Reload {
  bool accepted = false;
  config::Plan plan;  // of an accepted one
  // Errors of a refused one, the plan's refusals among them; warnings of either.
  std::vector<config::Problem> problems;
  std::uint64_t generation = 0;  // in force afterwards
};

struct Sessions {
  std::vector<proxy::SessionView> sessions;  // by id, the oldest first
  bool truncated = false;                    // there are more than were asked for
};

enum class CircuitOrder : std::uint8_t { open, close, bypass, automatic };

// What the admin side may ask of a running weir and order it to do. Implemented by app, and by a
// fake in the tests. Control thread only; each call has taken effect on all workers when it
// returns. Orders about a pool, backend or session that does not exist answer false.
class Control {
 public:
  virtual ~Control() = default;

  virtual Status status() = 0;
  virtual Snapshot snapshot() = 0;
  virtual Sessions sessions(const proxy::SessionFilter& filter, std::size_t most) = 0;
  virtual std::optional<proxy::SessionView> session(std::uint64_t id) = 0;
  virtual const config::Configuration& configuration() = 0;
  virtual const net::Journal& journal() = 0;

  // Without a text the file that weir was started with is read again.
  virtual Reload plan(std::optional<std::string_view> text) = 0;
  virtual Reload reload(std::optional<std::string_view> text) = 0;

  // Takes no new sessions. With an end, what is left then ends as `backend_drained`; none = never.
  virtual bool drain(const std::string& pool, const std::string& backend,
                     std::optional<core::Duration> deadline) = 0;
  virtual bool disable(const std::string& pool, const std::string& backend) = 0;
  virtual bool enable(const std::string& pool, const std::string& backend) = 0;
  virtual bool order(const std::string& pool, const std::string& backend, CircuitOrder order) = 0;

  virtual bool kill(std::uint64_t session) = 0;
  // Those on one backend; answers how many.
  virtual std::size_t kill(const std::string& pool, const std::string& backend) = 0;

  virtual void shut_down() = 0;
};

}  // namespace weir::admin
