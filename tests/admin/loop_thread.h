#pragma once

#include <functional>
#include <future>
#include <thread>

#include "weir/net/loop.h"

namespace weir::admin {

// A control loop on a thread of its own, so that a test can be a client that waits. What lives on
// the loop is made and destroyed through it.
class LoopThread {
 public:
  LoopThread() {
    std::promise<net::Loop*> made;
    auto loop = made.get_future();
    thread_ = std::thread([&made] {
      net::Loop own;
      made.set_value(&own);
      own.run();
      own.run_once(false);  // what was closed last
    });
    loop_ = loop.get();
  }
  ~LoopThread() {
    loop_->post([this] { loop_->stop(); });
    thread_.join();
  }

  net::Loop& loop() { return *loop_; }

  // Runs it on the loop's thread and waits until it has.
  void on_loop(const std::function<void()>& task) {
    std::promise<void> done;
    loop_->post([&] {
      task();
      done.set_value();
    });
    done.get_future().get();
  }

 private:
  net::Loop* loop_ = nullptr;
  std::thread thread_;
};

}  // namespace weir::admin
