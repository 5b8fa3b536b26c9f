#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "weir/core/admission.h"

namespace weir::simulation {

// What an admission is, said as plainly as possible: two numbers and a queue of clients, without
// threads. Whoever is decided while waiting is told later, and may have left by then.
class AdmissionBooks {
 public:
  struct Decision {
    std::size_t client;
    std::optional<core::CloseReason> refused;  // none = granted
  };
  enum class Answer { granted, parked, refused };
  struct Arrival {
    Answer answer;
    core::CloseReason reason;  // of a refusal
  };

  explicit AdmissionBooks(core::AdmissionLimits limits) { set_limits(limits); }

  Arrival arrives(std::size_t client, std::size_t generation);
  void gives_back();
  // Answers the reason that counts.
  core::CloseReason leaves(std::size_t client, core::CloseReason reason);
  void set_limits(core::AdmissionLimits limits);
  void retire(std::size_t generation);
  void shut_down();

  // The client is told what was decided.
  std::optional<Decision> tell(std::size_t client);
  // Those decided since the last call, in order.
  std::vector<Decision> take_decided() { return std::exchange(decided_, {}); }

  bool anyone_waits() const { return !queue_.empty(); }
  std::uint64_t untold_grants() const;
  core::AdmissionSnapshot snapshot() const;

 private:
  struct Waiting {
    std::size_t client;
    std::size_t generation;
  };

  bool slot_free() const {
    return snapshot_.max_active == 0 || snapshot_.active < snapshot_.max_active;
  }
  void count(core::CloseReason reason) { ++snapshot_.rejected[static_cast<std::size_t>(reason)]; }
  void grant_next();
  void refuse(std::deque<Waiting>::iterator who, core::CloseReason reason);

  core::AdmissionSnapshot snapshot_;  // but for `pending`
  bool shut_down_ = false;
  std::deque<Waiting> queue_;
  std::vector<Decision> decided_;
  std::map<std::size_t, Decision> untold_;
};

}  // namespace weir::simulation
