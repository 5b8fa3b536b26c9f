#include "weir/net/resolver.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "net/ares_channel.h"
#include "weir/net/log.h"
#include "weir/net/loop.h"
#include "weir/net/timer.h"

namespace weir::net {
namespace {

// How long a known name waits for its renewal before its last good addresses are used: far below
// any sensible `timeouts.connect`, well above a name server's round trip.
constexpr core::Duration kPatience = std::chrono::milliseconds(250);

// One asker's wish for an answer. `wanted` is touched on the asker's thread only.
struct Wish {
  Loop& asker;
  Resolver::Answer answer;
  bool wanted = true;
};

struct Ticket final : Resolver::Lookup {
  explicit Ticket(std::shared_ptr<Wish> w) : wish(std::move(w)) {}
  ~Ticket() override {
    wish->wanted = false;
    wish->answer = nullptr;
  }
  std::shared_ptr<Wish> wish;
};

void deliver(const std::shared_ptr<Wish>& wish, const Addresses& addresses) {
  wish->asker.post([wish, addresses] {
    if (!wish->wanted) return;
    // The answer usually destroys the ticket, and with it the function that is running.
    const Resolver::Answer answer = std::exchange(wish->answer, nullptr);
    answer(addresses);
  });
}

}  // namespace

// Shared with the tasks posted to the control loop, which may run after the resolver is gone.
class Resolver::Core {
 public:
  Core(Loop& loop, const ResolverOptions& options)
      : control(loop), options_(options), channel_(std::make_unique<AresChannel>(loop, options)) {}

  Addresses cached(const std::string& name, core::TimePoint now) {
    return fresh(name, now).value_or(nullptr);
  }

  // Control loop.
  void ask(const std::string& name, std::shared_ptr<Wish> wish) {
    if (!channel_) return deliver(wish, nullptr);
    if (const auto known = fresh(name, control.refresh_now())) return deliver(wish, *known);
    const auto [waiting, first] = asked_.try_emplace(name);
    // The name server is being asked again, and has not answered in good time.
    if (!first && overdue(name)) return deliver(wish, last_good(name));
    waiting->second.wishes.push_back(std::move(wish));
    if (!first) return;
    waiting->second.patience =
        std::make_unique<Timer>(control, [this, name] { overdue_now(name); });
    waiting->second.patience->arm(control.now() + kPatience);
    channel_->ask(name, [this, name](AresChannel::Result result) { answered(name, result); });
  }

  void close() { channel_.reset(); }

  Loop& control;

 private:
  struct Entry {
    Addresses addresses;  // the last good ones; null = there were none yet
    core::TimePoint fresh_until;
    LogRate failures{std::chrono::seconds(10)};
  };

  // A question under way, and who waits for its answer.
  struct Question {
    std::vector<std::shared_ptr<Wish>> wishes;
    std::unique_ptr<Timer> patience;  // until those who can go on without the answer do
  };

  // What need not be asked again yet; null addresses = the name failed a moment ago.
  std::optional<Addresses> fresh(const std::string& name, core::TimePoint now) {
    const std::lock_guard lock(mutex_);
    const auto found = cache_.find(name);
    if (found == cache_.end() || now >= found->second.fresh_until) return std::nullopt;
    return found->second.addresses;
  }

  Addresses last_good(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = cache_.find(name);
    return found == cache_.end() ? nullptr : found->second.addresses;
  }

  bool overdue(const std::string& name) {
    return !asked_[name].patience->armed() && last_good(name) != nullptr;
  }

  // Whoever waits is given the last good addresses; the answer still renews them when it comes.
  void overdue_now(const std::string& name) {
    const Addresses known = last_good(name);
    if (!known) return;
    for (const std::shared_ptr<Wish>& wish : std::exchange(asked_[name].wishes, {})) {
      deliver(wish, known);
    }
  }

  void answered(const std::string& name, AresChannel::Result& result) {
    Addresses addresses;
    bool say = false;
    {
      const std::lock_guard lock(mutex_);
      Entry& entry = cache_[name];
      if (!result.addresses.empty()) {
        entry.addresses =
            std::make_shared<const std::vector<SocketAddress>>(std::move(result.addresses));
      }
      // A failure too is believed for a while: not every client asks the name server again.
      entry.fresh_until = control.now() + std::max(result.ttl, options_.ttl_floor);
      addresses = entry.addresses;
      std::uint64_t held_back = 0;
      // Questions that the resolver's end cuts off are no failures.
      say = channel_ && !result.error.empty() && entry.failures.admit(control.now(), held_back);
    }
    if (say) {
      log(LogLevel::warning, "resolver", "cannot look up {}: {}{}", name, result.error,
          addresses ? "; its last known addresses are used on" : "");
    }
    const auto waiting = asked_.extract(name);
    for (const std::shared_ptr<Wish>& wish : waiting.mapped().wishes) deliver(wish, addresses);
  }

  const ResolverOptions options_;
  std::mutex mutex_;  // guards cache_, which data threads read
  std::map<std::string, Entry> cache_;
  // Control loop only from here on.
  std::map<std::string, Question> asked_;
  std::unique_ptr<AresChannel> channel_;
};

Resolver::Resolver(Loop& control, const ResolverOptions& options)
    : core_(std::make_shared<Core>(control, options)) {}

Resolver::~Resolver() { core_->close(); }

Addresses Resolver::cached(const std::string& name, core::TimePoint now) {
  return core_->cached(name, now);
}

std::unique_ptr<Resolver::Lookup> Resolver::lookup(const std::string& name, Loop& asker,
                                                   Answer answer) {
  auto wish = std::make_shared<Wish>(Wish{asker, std::move(answer)});
  core_->control.post([core = core_, name, wish] { core->ask(name, wish); });
  return std::make_unique<Ticket>(std::move(wish));
}

}  // namespace weir::net
