#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "weir/net/loop.h"
#include "weir/net/run_queue.h"

namespace weir::proxy {

class Session;

// All live sessions of one worker, by id: their owner. A session that has ended is retired here and
// destroyed at the end of the turn, when nothing of it is on the stack any more.
class SessionTable final : public net::Resumable {
 public:
  // One of `workers` tables, whose first id is the one after `last`; `gauge` shows the number of
  // live sessions to other threads.
  SessionTable(net::Loop& loop, std::uint64_t last, std::size_t workers,
               std::atomic<std::size_t>& gauge);
  ~SessionTable() override;

  // Unique in the process: each table counts in steps of their number, so that ids stay short
  // enough to be typed.
  std::uint64_t next_id();
  Session& add(std::unique_ptr<Session> session);
  void retire(Session& session);
  Session* find(std::uint64_t id);  // null when it has ended
  // No session has had a higher id.
  std::uint64_t last_id() const { return next_id_ - 1; }

  std::size_t size() const { return live_.size(); }
  bool empty() const { return live_.empty(); }
  // Calls `visit` for every session that was live at the start; a visit may end sessions.
  void for_each(const std::function<void(Session&)>& visit);
  // Called whenever the last session has been retired.
  void on_empty(std::function<void()> callback) { on_empty_ = std::move(callback); }

 private:
  void resume() override;

  void show_size() { gauge_.store(live_.size(), std::memory_order_relaxed); }

  net::Loop& loop_;
  std::atomic<std::size_t>& gauge_;
  std::uint64_t next_id_;
  const std::size_t workers_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Session>> live_;
  std::vector<std::unique_ptr<Session>> retired_;
  std::function<void()> on_empty_;
};

}  // namespace weir::proxy
