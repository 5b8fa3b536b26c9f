#include "weir/app/worker.h"

#include <pthread.h>

#include <array>
#include <cassert>
#include <random>
#include <string>
#include <utility>

#include "weir/proxy/context.h"
#include "weir/proxy/listener.h"
#include "weir/proxy/session.h"
#include "weir/proxy/session_table.h"

namespace weir::app {
namespace {

// Read into by one session at a time and written straight out: large, because a bulk copy then
// takes a third of the CPU that 16 KiB buffers take, and one, so that idle sessions own none.
constexpr std::size_t kScratch = 512 * 1024;

}  // namespace

class Worker::Thread {
 public:
  Thread(Worker& worker, const Shared& shared)
      : random_(std::random_device{}()),
        selector_(random_),
        scratch_(std::make_unique<std::array<char, kScratch>>()),
        context_{worker.loop_,
                 {{worker.loop_, shared.resolver, random_}, selector_, worker.index_},
                 shared.descriptors,
                 shared.access_log.enabled() ? &shared.access_log.lane(worker.index_) : nullptr,
                 clock_,
                 *scratch_,
                 random_,
                 worker.index_,
                 sessions_,
                 lone_dials_},
        lone_dials_(worker.loop_),
        sessions_(worker.loop_, worker.index_, worker.workers_, worker.sessions_) {}

  void listen(Listening& listening) {
    listeners_.push_back(std::make_unique<proxy::Listener>(context_, *listening.state,
                                                           std::move(listening.sockets)));
  }

  void drain(std::function<void()> drained) {
    drained_ = std::move(drained);
    sessions_.on_empty([this] { report_if_drained(); });
    listening_ = listeners_.size();
    for (const auto& listener : listeners_) {
      listener->drain([this] {
        if (listening_ > 0) --listening_;  // a cut may have been quicker
        report_if_drained();
      });
    }
    report_if_drained();
  }

  void cut(core::CloseReason reason, bool at_once) {
    if (at_once) {  // what still waits in a queue goes with the process
      listeners_.clear();
      listening_ = 0;
    }
    sessions_.for_each([=](proxy::Session& session) { session.cut(reason, at_once); });
    report_if_drained();
  }

 private:
  void report_if_drained() {
    if (!drained_ || listening_ > 0 || !sessions_.empty()) return;
    lone_dials_.cancel();
    std::exchange(drained_, nullptr)();
  }

  core::Rng random_;
  upstream::Selector selector_;
  net::WallClock clock_;
  std::unique_ptr<std::array<char, kScratch>> scratch_;
  proxy::Context context_;
  upstream::LoneDials lone_dials_;
  proxy::SessionTable sessions_;
  std::vector<std::unique_ptr<proxy::Listener>> listeners_;

  std::function<void()> drained_;  // set while a drain is under way and not yet reported
  std::size_t listening_ = 0;
};

Worker::Worker(std::size_t index, std::size_t workers) : index_(index), workers_(workers) {}

Worker::~Worker() { assert(!thread_.joinable()); }

void Worker::stop() {
  if (!thread_.joinable()) return running_.reset();
  cut(core::CloseReason::shutdown, true);
  join();
}

void Worker::start(const Shared& shared, std::vector<Listening> listening) {
  // Made here, where a failure can still be told.
  running_ = std::make_unique<Thread>(*this, shared);
  for (Listening& each : listening) running_->listen(each);
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), ("weir-" + std::to_string(index_)).c_str());
    loop_.run();
    running_.reset();
  });
}

void Worker::drain(std::function<void()> drained) {
  loop_.post([this, then = std::move(drained)]() mutable { running_->drain(std::move(then)); });
}

void Worker::cut(core::CloseReason reason, bool at_once) {
  loop_.post([this, reason, at_once] { running_->cut(reason, at_once); });
}

void Worker::join() {
  if (!thread_.joinable()) return;
  loop_.post([this] { loop_.stop(); });
  thread_.join();
}

}  // namespace weir::app
