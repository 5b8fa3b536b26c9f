#pragma once

#include <sys/types.h>

#include <string>

#include "tests/e2e/script.h"
#include "tests/net/tiny_json.h"

namespace weir::e2e {

// One request on the admin socket at `path`, on a connection of its own; answers the body. A
// connection that is refused or ends without a whole answer, and any status but 200, throw.
std::string ask_admin(const std::string& path, const std::string& request,
                      const std::string& body = {}, At at = At::here());

// The same, of an answer that is JSON: `GET /v1/status`.
Json ask_json(const std::string& path, const std::string& request, const std::string& body = {},
              At at = At::here());

// The process that serves there.
pid_t serving_at(const std::string& path, At at = At::here());

}  // namespace weir::e2e
