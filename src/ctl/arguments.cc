#include "ctl/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>

namespace weir::ctl {
namespace {

bool all_digits(const std::string& text) {
  // 18 digits fit 64 bits.
  return !text.empty() && text.size() <= 18 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

// Empty when `text` can be what `argument` stands for.
std::string complaint(const Argument& argument, const std::string& text) {
  switch (argument.kind) {
    case Kind::backend: {
      const std::size_t slash = text.find('/');
      const bool good = slash != std::string::npos && slash > 0 && slash + 1 < text.size() &&
                        text.find('/', slash + 1) == std::string::npos;
      return good ? "" : fmt::format("'{}' is not a backend (POOL/BACKEND)", text);
    }
    case Kind::session:
    case Kind::number:
      return all_digits(text) ? "" : fmt::format("'{}' is not a number", text);
    case Kind::choice: {
      const auto& choices = argument.choices;
      if (std::find(choices.begin(), choices.end(), text) != choices.end()) return "";
      return fmt::format("'{}' is not one of {}", text, fmt::join(choices, ", "));
    }
    case Kind::flag:
      return "";
    case Kind::pool:
    case Kind::backend_filter:
    case Kind::listener:
    case Kind::file:
    case Kind::duration:
      return text.empty() ? fmt::format("{} is empty", argument.name) : "";
  }
  return "";
}

// CLI11's view of the table, and the places that it writes to; they must not move.
class Parser {
 public:
  Parser() : app_("weirctl: asks and orders a running weir through its admin socket", "weirctl") {
    app_.fallthrough();  // global options may follow the command
    app_.require_subcommand(1);
    app_.set_version_flag("--version", std::string("weirctl ") + WEIR_VERSION);
    app_.add_option("--socket", invocation_.socket,
                    "weir's admin socket (default: " + kSocket + ")")
        ->envname("WEIR_SOCKET")
        ->type_name("PATH");
    app_.add_flag("--json", invocation_.json, "print weir's answer as JSON, for scripts");
    app_.get_option("--version")->description("print the version and exit");
    app_.get_option("--help")->description("print this help, or that of a command, and exit");
    for (const Command& command : commands()) add(command);
  }

  std::variant<Invocation, NoInvocation> parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) {
        const auto extra = app_.remaining();
        const bool unknown =
            app_.get_subcommands().empty() && !extra.empty() && !extra.front().starts_with("-");
        return wrong(unknown ? fmt::format("there is no command {}", extra.front()) : error.what());
      }
      std::ostringstream out;
      app_.exit(error, out, out);
      return NoInvocation{kDone, out.str(), ""};
    }
    return chosen();
  }

 private:
  static NoInvocation wrong(std::string message) {
    // CLI11 ends some of its messages with a line of its own about --help.
    message.resize(std::min(message.size(), message.find('\n')));
    return {kUsage, "", fmt::format("weirctl: {} (see weirctl --help)\n", message)};
  }

  void add(const Command& command) {
    CLI::App* sub = app_.add_subcommand(command.name, command.about);
    sub->get_option("--help")->description("print this help and exit");
    if (command.hidden) sub->group("");
    auto& values = values_[command.name];
    for (const auto* group : {&command.positionals, &command.options}) {
      for (const Argument& argument : *group) {
        if (argument.kind == Kind::flag) {
          sub->add_flag(argument.name, flags_[command.name][argument.name], argument.about);
          continue;
        }
        CLI::Option* option = sub->add_option(argument.name, values[argument.name], argument.about);
        option->type_name(argument.name.starts_with("-") || !argument.choices.empty()
                              ? placeholder(argument)
                              : "");
        option->check([argument](const std::string& text) { return complaint(argument, text); });
        if (argument.required) option->required();
      }
    }
  }

  std::variant<Invocation, NoInvocation> chosen() {
    const CLI::App* sub = app_.get_subcommands().front();
    const auto& all = commands();
    invocation_.command = &*std::find_if(
        all.begin(), all.end(), [&](const Command& one) { return one.name == sub->get_name(); });
    if (invocation_.socket.empty()) {
      if (app_.get_option("--socket")->count() > 0) return wrong("--socket is empty");
      invocation_.socket = kSocket;
    }
    for (const auto& [name, value] : values_[sub->get_name()]) {
      if (sub->get_option(name)->count() > 0) invocation_.values[name] = value;
    }
    for (const auto& [name, given] : flags_[sub->get_name()]) {
      if (given) invocation_.values[name] = "true";
    }
    return invocation_;
  }

  inline static const std::string kSocket = "/run/weir/admin.sock";

  CLI::App app_;
  Invocation invocation_{};
  std::map<std::string, std::map<std::string, std::string>> values_;
  std::map<std::string, std::map<std::string, bool>> flags_;
};

}  // namespace

std::variant<Invocation, NoInvocation> parse_arguments(std::vector<std::string> arguments) {
  return Parser().parse(std::move(arguments));
}

}  // namespace weir::ctl
