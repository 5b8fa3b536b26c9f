#pragma once

#include <vector>

#include "ctl/call.h"

// The commands that ask and change nothing. Each prints one answer; the functions that make it text
// are pure.
namespace weir::ctl {

int status(const Call& call);
int health(const Call& call);
int listeners(const Call& call);
int pools(const Call& call);
int backends(const Call& call);
int sessions(const Call& call);
int why(const Call& call);
int config(const Call& call);

std::vector<Line> status_lines(const Json& body, WallTime now);
std::vector<Line> health_lines(const Json& body, WallTime now);
std::vector<Line> listener_lines(const Json& body, WallTime now);
std::vector<Line> pool_lines(const Json& body, WallTime now);
std::vector<Line> backend_lines(const Json& body, WallTime now);  // of one pool, or of all
std::vector<Line> session_lines(const Json& body, WallTime now);
std::vector<Line> why_lines(const Json& body, WallTime now);
std::vector<Line> config_lines(const Json& body, WallTime now);

}  // namespace weir::ctl
