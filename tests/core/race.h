#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WEIR_SLOW 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WEIR_SLOW 1
#endif
#endif

// What rounds are divided by, so that a test costs about the same under a sanitizer.
#ifdef WEIR_SLOW
inline constexpr std::size_t kScale = 4;
#else
inline constexpr std::size_t kScale = 1;
#endif

// Watches a loop that has nothing to do but to wait for other threads.
class Progress {
 public:
  void made() { last_ = std::chrono::steady_clock::now(); }
  // Call when there was nothing to do; true once that has been so for too long, which means that
  // somebody sleeps for ever. What one waits for is often done by then on another core, so the
  // core is given away only now and then.
  bool hopeless() {
    if (++idle_ % 64 != 0) return false;
    std::this_thread::yield();
    return std::chrono::steady_clock::now() - last_ > std::chrono::seconds(10);
  }

 private:
  std::uint32_t idle_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Calls `body` with 0, 1, ... on as many threads, all at the same time, to their end.
inline void run_together(std::size_t threads, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> ready{0};
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      body(i);
    });
  }
  for (std::thread& worker : workers) worker.join();
}

// A thread that does one act whenever it is told to, while the caller does something else.
class Opponent {
 public:
  explicit Opponent(std::function<void()> act) : act_(std::move(act)), thread_([this] { run(); }) {}
  ~Opponent() {
    over_ = true;
    thread_.join();
  }

  void go() { told_.fetch_add(1, std::memory_order_release); }
  void await() {
    for (std::uint32_t i = 1; done_.load(std::memory_order_acquire) < told_; ++i) rest(i);
  }

 private:
  void run() {
    for (std::size_t round = 1;; ++round) {
      for (std::uint32_t i = 1; told_.load(std::memory_order_acquire) < round; ++i) {
        if (over_) return;
        rest(i);
      }
      act_();
      done_.store(round, std::memory_order_release);
    }
  }
  // Mostly awake, to be quick on a core of its own, and polite where there is one for both.
  static void rest(std::uint32_t turn) {
    if (turn % 256 == 0) std::this_thread::yield();
  }

  std::function<void()> act_;
  std::atomic<std::size_t> told_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};
