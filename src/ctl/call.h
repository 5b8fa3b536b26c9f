#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ctl/client.h"
#include "ctl/fields.h"
#include "ctl/lines.h"
#include "ctl/shell.h"

namespace weir::ctl {

// One command as it was typed, and what it works with.
struct Call {
  Shell& shell;
  Client& client;
  bool json = false;
  // By the names in the table of commands: `POOL`, `--limit`; a flag that was given is "true".
  std::map<std::string, std::string, std::less<>> values = {};

  bool has(std::string_view name) const { return values.find(name) != values.end(); }
  // Empty when it was not given.
  std::string value(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }
};

// `orders/pg-a`, which the parser has checked, as pool and backend.
struct Target {
  std::string pool;
  std::string backend;
};
Target target_of(std::string_view text);

// An answer that is JSON, or why there is none.
struct Reply {
  int status = 0;
  Json body = {};
  std::string failure = {};  // empty: `body` is the answer, of any status
  bool interrupted = false;

  bool succeeded() const { return failure.empty() && status < 400; }
  // What went wrong, in weir's words where it has some; only after a failure.
  std::string message() const;
};
Reply fetch(Client& client, const Request& request);

// What `--json` prints.
std::string json_text(const Json& body);

// Asks, and prints the answer as JSON or as `text` makes it, or the error; answers the exit code.
using Text = std::vector<Line> (*)(const Json& body, WallTime now);
int show(const Call& call, const Request& request, Text text);

// Reports a reply that did not succeed: to stderr, and with --json what weir said to stdout too, as
// that is all that a script reads. Answers the exit code.
int refuse(const Call& call, const Reply& reply);

}  // namespace weir::ctl
