#include "weir/core/admission.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace weir::core {
namespace {

// The word: bit 63 says that somebody waits, bits 32 to 62 how many are active, bits 0 to 31 how
// many may be.
constexpr std::uint64_t kWaits = std::uint64_t{1} << 63;
constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
constexpr std::uint64_t kLimitBits = kOne - 1;

// More than any machine has descriptors. Unlimited means this, and so neither can the count run
// over into the flag nor does the way in ask whether there is a limit.
constexpr std::uint32_t kMostActive = 0x7fff'ffff;

constexpr bool waits(std::uint64_t word) { return (word & kWaits) != 0; }
constexpr std::uint64_t active_in(std::uint64_t word) { return (word & ~kWaits) >> 32; }
constexpr std::uint64_t limit_in(std::uint64_t word) { return word & kLimitBits; }
constexpr bool below_limit(std::uint64_t word) { return active_in(word) < limit_in(word); }
constexpr bool admits(std::uint64_t word) { return !waits(word) && below_limit(word); }

constexpr std::uint64_t limit_bits(AdmissionLimits limits, std::uint32_t taken_elsewhere = 0) {
  if (limits.max_active == 0) return kMostActive;
  const std::uint32_t most = std::min(limits.max_active, kMostActive);
  return most - std::min(most, taken_elsewhere);
}

}  // namespace

void Slot::give_back(Admission& from) noexcept { from.release(); }

Admission::Admission(AdmissionLimits limits) : word_(limit_bits(limits)), limits_(limits) {}

Admission::~Admission() { assert(active() == 0 && queue_.empty()); }

Admitted Admission::admit(Waiter& waiter) {
  assert(!waiter.waiting());
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  if (claim(word)) return {Admitted::Outcome::granted, Slot(*this)};

  const std::lock_guard lock(mutex_);
  word = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (claim(word)) return {Admitted::Outcome::granted, Slot(*this)};
    if (queue_.size() >= limits_.max_pending) {
      count(CloseReason::proxy_overloaded);
      return {Admitted::Outcome::refused, {}, CloseReason::proxy_overloaded};
    }
    if (shut_down_) {
      count(CloseReason::shutdown);
      return {Admitted::Outcome::refused, {}, CloseReason::shutdown};
    }
    // The first to wait says so in the word that showed no free slot, or looks again.
    if (word_.compare_exchange_weak(word, word | kWaits, std::memory_order_relaxed)) break;
  }
  waiter.at_ = this;
  waiter.outcome_ = Admitted::Outcome::parked;
  queue_.push_back(waiter);
  return {Admitted::Outcome::parked};
}

Slot Admission::try_admit() {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  if (claim(word)) return Slot(*this);
  const std::lock_guard lock(mutex_);
  count(CloseReason::proxy_overloaded);
  return {};
}

void Admission::set_limits(AdmissionLimits limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  apply_limit();
  while (queue_.size() > limits.max_pending) refuse(*queue_.tail(), CloseReason::proxy_overloaded);
}

void Admission::take_from_elsewhere(std::uint32_t slots) {
  const std::lock_guard lock(mutex_);
  taken_elsewhere_ -= std::min(slots, taken_elsewhere_);
  apply_limit();
}

void Admission::set_taken_elsewhere(std::uint32_t slots) {
  const std::lock_guard lock(mutex_);
  taken_elsewhere_ = slots;
  apply_limit();
}

void Admission::apply_limit() {
  const std::uint64_t limit = limit_bits(limits_, taken_elsewhere_);
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (
      !word_.compare_exchange_weak(word, (word & ~kLimitBits) | limit, std::memory_order_relaxed)) {
  }
  while (!queue_.empty() && below_limit(word_.load(std::memory_order_relaxed))) {
    word_.fetch_add(kOne, std::memory_order_relaxed);
    grant(*queue_.head());
  }
}

void Admission::retire(const void* generation) {
  const std::lock_guard lock(mutex_);
  for (Waiter* waiter = queue_.head(); waiter != nullptr;) {
    Waiter* const next = WaiterQueue::behind(*waiter);
    if (waiter->generation_ == generation) refuse(*waiter, CloseReason::upstream_unavailable);
    waiter = next;
  }
}

void Admission::shut_down() {
  const std::lock_guard lock(mutex_);
  shut_down_ = true;
  while (!queue_.empty()) refuse(*queue_.head(), CloseReason::shutdown);
}

std::uint64_t Admission::active() const { return active_in(word_.load(std::memory_order_relaxed)); }

AdmissionSnapshot Admission::snapshot() const {
  const std::lock_guard lock(mutex_);
  // While anyone waits the word stands still; while nobody does, any moment of it will do.
  return {active(), queue_.size(), limits_.max_active, limits_.max_pending, rejected_};
}

Admitted Admission::take(Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (waiter.outcome_ == Admitted::Outcome::parked) return {Admitted::Outcome::parked};
  waiter.at_ = nullptr;
  if (waiter.outcome_ == Admitted::Outcome::granted) return {waiter.outcome_, Slot(*this)};
  return {waiter.outcome_, {}, waiter.reason_};
}

// Without a reason it is not counted.
CloseReason Admission::leave(Waiter& waiter, std::optional<CloseReason> reason) {
  const std::lock_guard lock(mutex_);
  waiter.at_ = nullptr;
  if (waiter.outcome_ == Admitted::Outcome::refused) return waiter.reason_;
  if (waiter.outcome_ == Admitted::Outcome::parked) leave_queue(waiter);
  if (waiter.outcome_ == Admitted::Outcome::granted) hand_over();
  if (reason) count(*reason);
  return reason.value_or(waiter.reason_);
}

// On failure `word` is what was found: no free slot, or somebody waits.
// Acquire, and release in unclaim(): what a session did with its slot happens before what the next
// one does with it. (The mutex says the same of a slot that is handed over.)
bool Admission::claim(std::uint64_t& word) noexcept {
  while (admits(word)) {
    if (word_.compare_exchange_weak(word, word + kOne, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// Fails if somebody waits.
bool Admission::unclaim(std::uint64_t& word) noexcept {
  while (!waits(word)) {
    assert(active_in(word) > 0);
    if (word_.compare_exchange_weak(word, word - kOne, std::memory_order_release,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void Admission::release() noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  if (unclaim(word)) return;
  const std::lock_guard lock(mutex_);
  hand_over();
}

void Admission::hand_over() noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  if (unclaim(word)) return;  // the last one waiting left before the mutex was ours
  assert(active_in(word) > 0);
  if (active_in(word) - 1 < limit_in(word)) {
    grant(*queue_.head());
  } else {
    word_.fetch_sub(kOne, std::memory_order_relaxed);
  }
}

// The slot is counted already: it is the one that was given back, or set_limits() has added it.
void Admission::grant(Waiter& waiter) noexcept {
  leave_queue(waiter);
  waiter.outcome_ = Admitted::Outcome::granted;
  waiter.watcher_.on_decided();
}

void Admission::refuse(Waiter& waiter, CloseReason reason) noexcept {
  leave_queue(waiter);
  count(reason);
  waiter.outcome_ = Admitted::Outcome::refused;
  waiter.reason_ = reason;
  waiter.watcher_.on_decided();
}

void Admission::leave_queue(Waiter& waiter) noexcept {
  queue_.remove(waiter);
  if (queue_.empty()) word_.fetch_and(~kWaits, std::memory_order_relaxed);
}

}  // namespace weir::core
