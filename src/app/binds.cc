#include "weir/app/binds.h"

#include <algorithm>
#include <utility>

namespace weir::app {
namespace {

using core::Endpoint;

// Whether the listener has a `0.0.0.0` of the same port beside this address.
bool for_ipv6_only(const proxy::ListenerOptions& listener, const Endpoint& wanted) {
  if (wanted.kind != Endpoint::Kind::ipv6) return false;
  return std::any_of(listener.bind.begin(), listener.bind.end(), [&wanted](const Endpoint& bind) {
    return bind.kind == Endpoint::Kind::ipv4 && bind.host == "0.0.0.0" && bind.port == wanted.port;
  });
}

bool is_tcp(const Endpoint& endpoint) {
  return endpoint.kind == Endpoint::Kind::ipv4 || endpoint.kind == Endpoint::Kind::ipv6;
}

// Those that listen at this address. They are compared by what the kernel says of them.
std::vector<net::ListenSocket> take(std::vector<Rebinding::Inherited>& inherited,
                                    const Endpoint& wanted, bool ipv6_only) {
  const std::string address = net::SocketAddress::from(wanted).text();
  std::vector<net::ListenSocket> taken;
  std::erase_if(inherited, [&](Rebinding::Inherited& each) {
    const bool is_it =
        each.socket.address().text() == address &&
        (wanted.kind != Endpoint::Kind::ipv6 || each.socket.ipv6_only() == ipv6_only);
    if (is_it) taken.push_back(std::move(each.socket));
    return is_it;
  });
  return taken;
}

// The kernel's choice of a port is another one each time.
bool any_port(const Endpoint& endpoint) { return is_tcp(endpoint) && endpoint.port == 0; }

}  // namespace

Rebinding::Held* Rebinding::find(const Endpoint& endpoint, bool ipv6_only,
                                 const std::string* listener) {
  const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
    return !held.used && held.bind.written == endpoint && held.bind.ipv6_only == ipv6_only &&
           (listener != nullptr ? held.listener == *listener : !any_port(endpoint));
  });
  return found == held_.end() ? nullptr : &*found;
}

// Whether a socket of ours is where this one would be, as `0.0.0.0` is beside any address of its
// port. Another program's may be at other addresses of the port: that is not ours to join.
bool Rebinding::overlaps_ours(const Endpoint& wanted) const {
  const auto all = [](const Endpoint& endpoint) {
    return endpoint.host == "0.0.0.0" || endpoint.host == "::";
  };
  const auto has_it = [&](const Bind& bind) {
    return is_tcp(bind.written) && bind.written.port == wanted.port &&
           (bind.written.host == wanted.host || all(bind.written) || all(wanted));
  };
  return std::any_of(closing_.begin(), closing_.end(), has_it) ||
         std::any_of(held_.begin(), held_.end(),
                     [&has_it](const Held& held) { return has_it(held.bind); });
}

bool Rebinding::joins_ours(const Endpoint& endpoint) const {
  return is_tcp(endpoint) && endpoint.port != 0 && overlaps_ours(endpoint);
}

std::vector<Bind> Rebinding::closed() const {
  std::vector<Bind> closed;
  for (const Held& held : held_) {
    if (!held.used) closed.push_back(held.bind);
  }
  return closed;
}

// A port of ours may be joined: `0.0.0.0:5432` follows `127.0.0.1:5432` while that still serves.
// Inherited sockets go round: of more than there are workers none is left out.
bool Rebinding::open_new(const proxy::ListenerOptions& listener, std::size_t place,
                         std::size_t workers, std::vector<Inherited>& inherited, Listener& to,
                         std::string& error) const {
  const Endpoint& wanted = listener.bind[place];
  const proxy::AddressId id = to.binds[place].id;
  Endpoint bind = wanted;
  net::ListenOptions options;
  options.ipv6_only = for_ipv6_only(listener, bind);
  Listener::Opened opened{id, {}, {}};
  opened.sockets.resize(workers);
  std::size_t worker = 0;
  bool joins = joins_ours(bind);
  for (net::ListenSocket& socket : take(inherited, wanted, options.ipv6_only)) {
    opened.sockets[worker++ % workers].push_back(std::move(socket));
    joins = true;
  }
  const bool handed_over = worker > 0;
  for (; worker < workers; ++worker) {
    if (worker > 0 && opened.sockets[0][0].is_unix()) {
      opened.sockets[worker].push_back(opened.sockets[0][0].share());
      continue;
    }
    options.port = joins ? net::Port::join : net::Port::claim;
    const auto open =
        listening_ == Listening::later ? &net::ListenSocket::bind : &net::ListenSocket::open;
    net::ListenSocket socket = open(bind, options, error);
    if (!socket && handed_over) {
      // Clients wait there since before others might join: they, and so the port, let nobody.
      opened.sockets[worker].push_back(opened.sockets[0][0].share());
      continue;
    }
    if (!socket) return false;
    if (worker == 0) bind.port = socket.address().port();  // chosen by the kernel where it was 0
    joins = true;
    opened.sockets[worker].push_back(std::move(socket));
  }
  opened.text = bind.text();
  to.binds[place] = {id, wanted, options.ipv6_only, opened.sockets[0][0].address()};
  to.opened.push_back(std::move(opened));
  return true;
}

std::optional<BindFailure> Rebinding::open(const std::vector<BoundListener>& now,
                                           const std::vector<proxy::ListenerOptions>& next,
                                           std::size_t workers, proxy::AddressId& last_id,
                                           std::vector<Inherited>& inherited) {
  for (const BoundListener& listener : now) {
    for (const Bind& bind : listener.binds) held_.push_back({bind, listener.name});
  }
  // First what each listener has already: nobody else may take that over.
  std::vector<std::vector<Held*>> kept(next.size());
  for (std::size_t i = 0; i < next.size(); ++i) {
    for (const Endpoint& bind : next[i].bind) {
      Held* const own = find(bind, for_ipv6_only(next[i], bind), &next[i].name);
      if (own != nullptr) own->used = true;
      kept[i].push_back(own);
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> to_open;  // listener, place
  for (std::size_t i = 0; i < next.size(); ++i) {
    Listener& listener = listeners_.emplace_back();
    listener.binds.resize(next[i].bind.size());
    for (std::size_t place = 0; place < next[i].bind.size(); ++place) {
      const Endpoint& wanted = next[i].bind[place];
      if (kept[i][place] != nullptr) {
        listener.binds[place] = kept[i][place]->bind;
      } else if (Held* const taken = find(wanted, for_ipv6_only(next[i], wanted), nullptr)) {
        taken->used = true;
        listener.binds[place] = taken->bind;
        listener.taken_over.push_back(taken->bind.id);
      } else {
        to_open.emplace_back(i, place);
      }
    }
  }
  // Ports of ours at last: from its listen() on a socket there may be given clients of those that
  // serve, and if another address then failed it would take them along.
  std::stable_partition(to_open.begin(), to_open.end(), [&](const auto& each) {
    return !joins_ours(next[each.first].bind[each.second]);
  });
  for (const auto& [i, place] : to_open) {
    const Endpoint& wanted = next[i].bind[place];
    std::string error;
    listeners_[i].binds[place].id = ++last_id;
    if (!open_new(next[i], place, workers, inherited, listeners_[i], error)) {
      return BindFailure{i, place, wanted.text() + ": " + error};
    }
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    for (const Held& held : held_) {
      if (!held.used && held.listener == next[i].name) listeners_[i].closed.push_back(held.bind.id);
    }
  }
  return std::nullopt;
}

}  // namespace weir::app
