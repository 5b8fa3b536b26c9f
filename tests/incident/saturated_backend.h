#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/peer.h"

namespace weir::e2e {

// A backend with so many hands and a queue without an end: it takes every connection, reads its one
// request, and works on the requests in their order, each for `service`, whether or not somebody
// still waits for the answer. It works by the clock of its schedule and not by when its thread gets
// its turn, so that its capacity is exact on a busy machine as well.
class SaturatedBackend {
 public:
  SaturatedBackend(std::size_t hands, milliseconds service);
  ~SaturatedBackend();
  SaturatedBackend(const SaturatedBackend&) = delete;
  SaturatedBackend& operator=(const SaturatedBackend&) = delete;

  const std::string& address() const { return address_; }
  std::size_t accepted() const;  // connections, in all

 private:
  struct Request {
    PeerDescriptor client;
    Clock::time_point done;
  };

  void run();
  void accept_all();
  void read_all();
  void schedule(PeerDescriptor client);
  void answer_all();

  Backend backend_;
  const std::string address_;
  const milliseconds service_;
  PeerDescriptor wake_;
  std::vector<PeerDescriptor> silent_;   // have not asked yet
  std::vector<Clock::time_point> free_;  // when each hand is
  std::deque<Request> queue_;            // in the order of `done`
  mutable std::mutex mutex_;             // guards what follows
  std::size_t accepted_ = 0;
  std::thread thread_;
};

}  // namespace weir::e2e
