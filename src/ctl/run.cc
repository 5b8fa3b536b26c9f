#include "ctl/run.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "ctl/arguments.h"

namespace weir::ctl {
namespace {

using namespace std::chrono_literals;

int run(Invocation invocation, Shell& shell) {
  Client client(
      {.socket = invocation.socket, .timeout = shell.timeout, .interrupted = shell.interrupted});
  const Call call{shell, client, invocation.json, std::move(invocation.values)};
  return invocation.command->run(call);
}

}  // namespace

int run(std::vector<std::string> arguments, Shell& shell) {
  int code = kFailed;
  try {
    auto parsed = parse_arguments(std::move(arguments));
    if (const auto* none = std::get_if<NoInvocation>(&parsed)) {
      fmt::print(shell.out, "{}", none->out);
      fmt::print(shell.err, "{}", none->err);
      code = none->code;
    } else {
      code = run(std::move(std::get<Invocation>(parsed)), shell);
    }
  } catch (const std::exception& error) {
    complain(shell, error.what());
    return kFailed;
  }
  // An answer that nobody got is none: a script must not take it for an empty one.
  if (std::fflush(shell.out) != 0 || std::ferror(shell.out) != 0) {
    complain(shell, "cannot write the answer to standard output");
    return kFailed;
  }
  return code;
}

}  // namespace weir::ctl
