#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "app/inheritance.h"
#include "weir/app/demo.h"
#include "weir/app/instance.h"
#include "weir/app/program.h"
#include "weir/config/load.h"
#include "weir/net/log.h"
#include "weir/net/signals.h"

namespace {

using namespace weir;

// Exit codes, the same for every program of weir.
constexpr int kFailed = 1;  // at run time
constexpr int kUsage = 2;   // wrong usage or an invalid configuration

// From the first client on, a signal means what the documents say: none is lost on the way there.
// Held before any thread is made, as a thread that does not hold them would take them.
using Held = std::unique_ptr<net::HeldSignals>;
Held hold_signals() { return std::make_unique<net::HeldSignals>(app::Instance::kSignals); }

int serve(const config::Configuration& configuration, const app::Origin& origin, Held held) {
  net::start_log(configuration.app.log);
  int code = kFailed;
  try {
    app::Instance instance(configuration, origin);
    instance.handle_signals();
    held.reset();
    code = instance.run();
    held = hold_signals();  // there is nobody left to hear them
    net::write_raw(
        fmt::format(R"({{"event":"exit_snapshot","snapshot":{}}})", instance.snapshot().json()));
  } catch (const std::exception& error) {
    net::log(net::LogLevel::error, "weir", "{}", error.what());
    if (origin.inheritance != nullptr) origin.inheritance->refuse(error.what());
  }
  // Before `held` lets them through. An exit on its way keeps its code, however long the log takes.
  net::ignore_signals(app::Instance::kSignals);
  net::stop_log();
  return code;
}

int run_demo(app::Demo::Traffic traffic) {
  Held held = hold_signals();
  try {
    app::Demo demo({"a", "b", "c"}, traffic);
    const auto sockets = app::Inheritance::of(demo.take_sockets());
    std::fputs(demo.greeting().c_str(), stdout);
    std::fflush(stdout);
    return serve(demo.configuration(), {{}, {}, sockets.get()}, std::move(held));
  } catch (const std::exception& error) {
    fmt::print(stderr, "weir: {}\n", error.what());
    return kFailed;
  }
}

config::LoadResult load(const std::string& file) {
  config::LoadResult loaded = config::load_file(file);
  for (const config::Problem& problem : loaded.problems) {
    fmt::print(stderr, "{}\n", problem.text(file));
  }
  return loaded;
}

int check(const std::string& file) {
  if (!load(file).configuration) return kUsage;
  fmt::print("{}: ok\n", file);
  return 0;
}

int run(const std::string& file, app::Program program) {
  Held held = hold_signals();
  std::unique_ptr<app::Inheritance> inheritance;
  try {
    inheritance = app::Inheritance::take();
  } catch (const std::exception& error) {
    fmt::print(stderr, "weir: {}\n", error.what());
    return kFailed;
  }
  const config::LoadResult loaded = load(file);
  if (!loaded.configuration) {
    inheritance->refuse("its configuration is invalid");
    return kUsage;
  }
  return serve(*loaded.configuration, {file, std::move(program), inheritance.get()},
               std::move(held));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App command("weir: a layer-4 load balancer for TCP streams", "weir");
  std::string file;
  bool only_check = false;
  bool demo = false;
  bool quiet = false;
  auto* config = command.add_option("-c,--config", file, "run with this configuration file");
  command.add_flag("--check", only_check, "validate the configuration file and exit")
      ->needs(config);
  auto* embedded =
      command.add_flag("--demo", demo, "run with an embedded configuration and embedded backends")
          ->excludes(config);
  command.add_flag("--quiet", quiet, "a demo without traffic of its own")->needs(embedded);
  command.set_version_flag("--version", std::string("weir ") + WEIR_VERSION);
  try {
    command.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kUsage;
  }
  if (demo) return run_demo(quiet ? app::Demo::Traffic::none : app::Demo::Traffic::some);
  if (file.empty()) {
    fmt::print(stderr, "weir: nothing to do: give -c FILE or --demo (see --help)\n");
    return kUsage;
  }
  return only_check ? check(file) : run(file, app::this_program(argc, argv));
}
