#include "weir/upstream/lone_dials.h"

#include <algorithm>
#include <utility>

#include "weir/net/loop.h"
#include "weir/net/timer.h"

namespace weir::upstream {

class LoneDials::Entry {
 public:
  Entry(LoneDials& table, std::shared_ptr<Pool> pool, net::DescriptorShare descriptors)
      : table_(table), pool_(std::move(pool)), descriptors_(std::move(descriptors)) {}
  virtual ~Entry() = default;
  // Null once it is over.
  virtual const Backend* backend() const = 0;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 protected:
  LoneDials& table_;

 private:
  const std::shared_ptr<Pool> pool_;  // outlives what dials by it
  net::DescriptorShare descriptors_;
};

class LoneDials::Connecting final : public Entry, private ClientDial::Owner {
 public:
  Connecting(LoneDials& table, std::unique_ptr<ClientDial> dial, std::shared_ptr<Pool> pool,
             net::DescriptorShare descriptors)
      : Entry(table, std::move(pool), std::move(descriptors)),
        timer_(table.loop_, [this] { dial_->on_timer(); }),
        dial_(std::move(dial)) {
    dial_->hand_over(timer_, *this);
  }
  const Backend* backend() const override { return dial_ ? &dial_->backend() : nullptr; }

 private:
  // With `first_byte` nothing was asked, so nothing is decided: the verdict goes unsaid.
  void on_dial_connected(Connection) override { over(); }
  void on_dial_ended(core::DialResult) override { over(); }

  void over() {
    dial_.reset();
    table_.retire(*this);
  }

  net::Timer timer_;
  std::unique_ptr<ClientDial> dial_;
};

class LoneDials::Awaiting final : public Entry, private net::SocketWatcher {
 public:
  Awaiting(LoneDials& table, Connection connection, std::shared_ptr<Pool> pool,
           core::TimePoint deadline, bool told_of_end, net::DescriptorShare descriptors)
      : Entry(table, std::move(pool), std::move(descriptors)),
        told_of_end_(told_of_end),
        connection_(std::move(connection)),
        dialing_(connection_.lease->count_dial()),
        timer_(table.loop_, [this] { look(true); }) {
    connection_.socket.set_watcher(*this);
    timer_.arm(deadline);
  }
  ~Awaiting() override { connection_.socket.abort(); }
  const Backend* backend() const override {
    return connection_.lease ? &*connection_.lease : nullptr;
  }

  void look(bool late) {
    if (!connection_.verdict) return;
    const core::TimePoint now = table_.loop_.now();
    switch (connection_.socket.peek()) {
      case net::IoResult::Status::done:
        connection_.verdict.answered(now);
        break;
      case net::IoResult::Status::end:
        if (told_of_end_) {
          connection_.verdict = {};
          break;
        }
        [[fallthrough]];
      case net::IoResult::Status::failed:
        connection_.verdict.failed(core::DialOutcome::closed_early, now);
        break;
      case net::IoResult::Status::blocked:
        if (!late) return;
        connection_.verdict.failed(core::DialOutcome::first_byte_timeout, now);
        break;
    }
    connection_.socket.abort();
    dialing_ = {};
    connection_.lease = {};
    table_.retire(*this);
  }

 private:
  void on_ready() override { look(false); }

  const bool told_of_end_;
  Connection connection_;
  GaugeGuard dialing_;
  net::Timer timer_;
};

LoneDials::LoneDials(net::Loop& loop) : loop_(loop) {}

LoneDials::~LoneDials() = default;

void LoneDials::go_on(std::unique_ptr<ClientDial> dial, std::shared_ptr<Pool> pool,
                      net::DescriptorShare descriptors) {
  live_.push_back(std::make_unique<Connecting>(*this, std::move(dial), std::move(pool),
                                               std::move(descriptors)));
}

void LoneDials::go_on(Connection connection, std::shared_ptr<Pool> pool, core::TimePoint deadline,
                      bool told_of_end, net::DescriptorShare descriptors) {
  auto entry = std::make_unique<Awaiting>(*this, std::move(connection), std::move(pool), deadline,
                                          told_of_end, std::move(descriptors));
  Awaiting& awaiting = *entry;
  live_.push_back(std::move(entry));
  awaiting.look(false);  // its answer may be here already, and no further edge tells of it
}

void LoneDials::cancel() {
  live_.clear();
  retired_.clear();
}

void LoneDials::cancel(const Backend& backend) {
  live_.remove_if([&backend](const auto& each) { return each->backend() == &backend; });
}

void LoneDials::retire(Entry& entry) {
  const auto found = std::find_if(live_.begin(), live_.end(),
                                  [&entry](const auto& each) { return each.get() == &entry; });
  if (found == live_.end()) return;
  retired_.splice(retired_.end(), live_, found);
  loop_.sockets().resume_later(*this);
}

void LoneDials::resume() { retired_.clear(); }

}  // namespace weir::upstream
