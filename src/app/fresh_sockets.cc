#include "app/fresh_sockets.h"

#include <string>
#include <utility>

#include "weir/net/log.h"

namespace weir::app {

FreshSockets FreshSockets::take(std::vector<Worker::Change>& first) {
  FreshSockets fresh;
  for (Worker::Change& change : first) {
    Worker::Change& later = fresh.changes.emplace_back();
    later.config_generation = change.config_generation;
    for (Worker::ListenerChange& each : change.listeners) {
      Worker::ListenerChange begins{each.state, each.pool, each.access, {}, {}, {}};
      std::erase_if(each.opened, [&](Worker::Address& address) {
        if (address.socket.listens()) {
          fresh.served.insert(address.id);
          return false;
        }
        begins.opened.push_back(std::move(address));
        return true;
      });
      if (!begins.opened.empty()) later.listeners.push_back(std::move(begins));
    }
  }
  return fresh;
}

// Worker by worker: where nobody listens the first one's socket claims the port. When somebody else
// has it meanwhile, the others would join a program that is not ours.
std::set<proxy::AddressId> FreshSockets::listen() {
  std::set<proxy::AddressId> lost;
  for (Worker::Change& change : changes) {
    for (Worker::ListenerChange& each : change.listeners) {
      std::erase_if(each.opened, [&](Worker::Address& address) {
        if (lost.count(address.id) > 0) return true;
        const std::string where = address.socket.address().text();
        std::string error;
        if (address.socket.listen(error)) {
          served.insert(address.id);
          return false;
        }
        const bool others = served.count(address.id) > 0;
        if (!others) lost.insert(address.id);
        net::log(net::LogLevel::error, "listener " + each.state->name(), "{}: {}; {}", where, error,
                 others ? "one worker less accepts there" : "it is not served");
        return true;
      });
    }
  }
  return lost;
}

}  // namespace weir::app
