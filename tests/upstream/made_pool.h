#pragma once

#include <string>
#include <vector>

#include "weir/core/endpoint.h"
#include "weir/upstream/pool_options.h"

namespace weir::upstream {

inline BackendOptions made_backend(const std::string& name, const std::string& address) {
  BackendOptions backend;
  backend.name = name;
  backend.address = core::parse_endpoint(address).endpoint;
  return backend;
}

// A pool of backends `a`, `b`, `c`... at those addresses, the first always preferred.
inline PoolOptions made_pool(const std::vector<std::string>& addresses) {
  PoolOptions pool;
  pool.name = "orders";
  pool.balance = core::Balance::first;
  pool.resilience.circuit.enabled = false;  // for stories about something else
  char name = 'a';
  for (const std::string& address : addresses) {
    pool.backends.push_back(made_backend(std::string(1, name++), address));
  }
  return pool;
}

// The same, for tests that dial nobody.
inline PoolOptions made_pool(std::size_t backends) {
  std::vector<std::string> addresses;
  for (std::size_t i = 1; i <= backends; ++i) addresses.push_back("127.0.0.1:" + std::to_string(i));
  return made_pool(addresses);
}

}  // namespace weir::upstream
