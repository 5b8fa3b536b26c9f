#include "weir/app/worker.h"

#include <pthread.h>

#include <cassert>
#include <string>
#include <utility>

#include "app/worker_thread.h"

namespace weir::app {

Worker::Worker(std::size_t index, std::size_t workers) : index_(index), workers_(workers) {}

Worker::~Worker() { assert(!thread_.joinable()); }

// A packaged task: a worker that ends before it comes to it breaks the promise, and nobody waits
// for ever.
template <typename Result, typename Work>
std::future<Result> Worker::on_thread(Work work) {
  auto task = std::make_shared<std::packaged_task<Result()>>(
      [this, does = std::move(work)]() mutable { return does(*running_); });
  std::future<Result> result = task->get_future();
  loop_.post([task] { (*task)(); });
  return result;
}

void Worker::stop() {
  if (!thread_.joinable()) return running_.reset();
  cut(core::CloseReason::shutdown, true);
  join();
}

void Worker::start(const Shared& shared, Change first, std::uint64_t last_session, Begin begin) {
  // Made here, where a failure can still be told.
  running_ = std::make_unique<Thread>(*this, shared, last_session);
  running_->apply(first);
  if (begin == Begin::held) running_->hold();
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), ("weir-" + std::to_string(index_)).c_str());
    loop_.run();
    running_.reset();
  });
}

std::future<void> Worker::apply(Change change) {
  auto held = std::make_shared<Change>(std::move(change));
  return on_thread<void>([held](Thread& thread) { thread.apply(*held); });
}

std::future<std::vector<proxy::SessionView>> Worker::sessions(proxy::SessionFilter filter,
                                                              std::size_t most) {
  return on_thread<std::vector<proxy::SessionView>>(
      [meant = std::move(filter), most](Thread& thread) { return thread.views(meant, most); });
}

std::future<std::unique_ptr<proxy::SessionView>> Worker::session(std::uint64_t id) {
  return on_thread<std::unique_ptr<proxy::SessionView>>(
      [id](Thread& thread) { return thread.view(id); });
}

std::future<std::size_t> Worker::end_session(std::uint64_t id, core::CloseReason reason) {
  return on_thread<std::size_t>(
      [id, reason](Thread& thread) { return thread.end_session(id, reason); });
}

std::future<std::size_t> Worker::end_sessions(std::shared_ptr<upstream::Backend> backend,
                                              core::CloseReason reason) {
  return on_thread<std::size_t>([there = std::move(backend), reason](Thread& thread) {
    return thread.end_sessions(*there, reason);
  });
}

std::future<std::vector<Worker::Address>> Worker::share() {
  return on_thread<std::vector<Address>>([](Thread& thread) { return thread.share(); });
}

std::future<std::uint64_t> Worker::hold() {
  return on_thread<std::uint64_t>([](Thread& thread) { return thread.hold(); });
}

std::future<void> Worker::go_on() {
  return on_thread<void>([](Thread& thread) { thread.go_on(); });
}

std::future<void> Worker::leave(std::set<proxy::AddressId> ids) {
  return on_thread<void>([left = std::move(ids)](Thread& thread) { thread.leave(left); });
}

std::future<void> Worker::take_paths() {
  return on_thread<void>([](Thread& thread) { thread.take_paths(); });
}

std::future<void> Worker::drain(std::function<void()> drained) {
  return on_thread<void>(
      [then = std::move(drained)](Thread& thread) mutable { thread.drain(std::move(then)); });
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
