#pragma once

#include <string>

#include "ctl/call.h"

// The commands that change what a running weir does.
namespace weir::ctl {

int kill(const Call& call);
int drain(const Call& call);
int disable(const Call& call);
int enable(const Call& call);
int circuit(const Call& call);
int shutdown(const Call& call);

// `orders/pg-a: draining, circuit closed, 3 active, ends in 30s`.
std::string backend_sentence(const std::string& name, const Json& backend, WallTime now);

}  // namespace weir::ctl
