#include "app/fresh_sockets.h"

#include <set>
#include <string>
#include <utility>

#include "weir/net/log.h"

namespace weir::app {

std::vector<Worker::Change> take_fresh(std::vector<Worker::Change>& first) {
  std::vector<Worker::Change> fresh;
  for (Worker::Change& change : first) {
    Worker::Change& later = fresh.emplace_back();
    later.config_generation = change.config_generation;
    for (Worker::ListenerChange& each : change.listeners) {
      Worker::ListenerChange begins{each.state, each.pool, each.access, {}, {}, {}};
      std::erase_if(each.opened, [&begins](Worker::Address& address) {
        if (address.socket.listens()) return false;
        begins.opened.push_back(std::move(address));
        return true;
      });
      if (!begins.opened.empty()) later.listeners.push_back(std::move(begins));
    }
  }
  return fresh;
}

// Worker by worker: the first one's socket claims the port. When somebody else has it meanwhile,
// the others would join a program that is not ours.
void listen_on(std::vector<Worker::Change>& fresh) {
  std::set<proxy::AddressId> lost;
  for (Worker::Change& change : fresh) {
    for (Worker::ListenerChange& each : change.listeners) {
      std::erase_if(each.opened, [&](Worker::Address& address) {
        if (lost.count(address.id) > 0) return true;
        const std::string where = address.socket.address().text();
        std::string error;
        if (address.socket.listen(error)) return false;
        lost.insert(address.id);
        net::log(net::LogLevel::error, "listener " + each.state->name(), "{}: {}; it is not served",
                 where, error);
        return true;
      });
    }
  }
}

}  // namespace weir::app
