#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weir/admin/control.h"

namespace weir::admin {

// A weir that a test has made up. Shows what it was given, and notes what it was ordered to do.
class FakeControl : public Control {
 public:
  Status status() override { return status_; }
  Snapshot snapshot() override { return snapshot_; }
  Sessions sessions(const proxy::SessionFilter& filter, std::size_t most) override {
    filter_ = filter;
    Sessions found;
    for (const proxy::SessionView& each : sessions_) {
      if (!filter.listener.empty() && each.listener != filter.listener) continue;
      if (!filter.pool.empty() && each.pool != filter.pool) continue;
      if (!filter.backend.empty() && each.backend != filter.backend) continue;
      if (found.sessions.size() == most) {
        found.truncated = true;
        break;
      }
      found.sessions.push_back(each);
    }
    return found;
  }
  std::optional<proxy::SessionView> session(std::uint64_t id) override {
    for (const proxy::SessionView& each : sessions_) {
      if (each.id == id) return each;
    }
    return std::nullopt;
  }
  const config::Configuration& configuration() override { return configuration_; }
  const net::Journal& journal() override { return journal_; }

  Reload plan(std::optional<std::string_view> text) override {
    note("plan " + std::string(text.value_or("the file")));
    return reload_;
  }
  Reload reload(std::optional<std::string_view> text) override {
    note("reload " + std::string(text.value_or("the file")));
    return reload_;
  }

  bool drain(const std::string& pool, const std::string& backend,
             std::optional<core::Duration> deadline) override {
    const auto ms = deadline ? deadline->count() / 1'000'000 : -1;
    return obeyed("drain " + pool + " " + backend + " " + std::to_string(ms));
  }
  bool disable(const std::string& pool, const std::string& backend) override {
    return obeyed("disable " + pool + " " + backend);
  }
  bool enable(const std::string& pool, const std::string& backend) override {
    return obeyed("enable " + pool + " " + backend);
  }
  bool order(const std::string& pool, const std::string& backend, CircuitOrder order) override {
    return obeyed("circuit " + pool + " " + backend + " " +
                  std::to_string(static_cast<int>(order)));
  }
  bool kill(std::uint64_t session) override {
    note("kill " + std::to_string(session));
    return this->session(session).has_value();
  }
  std::size_t kill(const std::string& pool, const std::string& backend) override {
    note("kill " + pool + " " + backend);
    return 7;
  }
  void shut_down() override { note("shut down"); }

  // The orders since the last call.
  std::vector<std::string> orders() { return std::exchange(orders_, {}); }

  Status status_;
  Snapshot snapshot_;
  std::vector<proxy::SessionView> sessions_;
  config::Configuration configuration_;
  net::Journal journal_;
  Reload reload_;
  proxy::SessionFilter filter_;
  bool obeys_ = true;

 private:
  void note(std::string order) { orders_.push_back(std::move(order)); }
  bool obeyed(std::string order) {
    note(std::move(order));
    return obeys_;
  }

  std::vector<std::string> orders_;
};

}  // namespace weir::admin
