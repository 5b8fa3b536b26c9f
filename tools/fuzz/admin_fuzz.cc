// The admin API against any request: method, target, body. The bytes up to the first newline are
// the method and the target, the rest is the body. YAML goes through the real loader.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "admin/router.h"
#include "tests/admin/fake_control.h"
#include "tests/admin/made_snapshot.h"

namespace {

using namespace weir;
using namespace weir::admin;

// Loads what it is given, as the program does.
class LoadingControl final : public FakeControl {
 public:
  LoadingControl() {
    snapshot_ = made_snapshot();
    proxy::SessionView session;
    session.id = 7;
    session.listener = session.pool = "orders";
    session.client = "10.0.0.1:999";
    sessions_ = {session};
    journal_.add(net::EventKind::kill, "orders", "pg-a", "1", "by its id");
  }

  Reload plan(std::optional<std::string_view> text) override { return load(text); }
  Reload reload(std::optional<std::string_view> text) override {
    Reload loaded = load(text);
    return loaded;
  }

 private:
  Reload load(std::optional<std::string_view> text) {
    const auto nothing = [](std::string_view) -> std::optional<std::string> { return {}; };
    config::LoadResult result = config::load(text.value_or(""), "/", nothing);
    Reload loaded;
    loaded.accepted = result.configuration.has_value();
    loaded.problems = std::move(result.problems);
    if (result.configuration) configuration_ = std::move(*result.configuration);
    return loaded;
  }
};

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const HttpResponse& response) {
  require(response.status == 200 || (response.status >= 400 && response.status < 500));
  if (response.type != HttpResponse::kJson) return;
  const auto json = nlohmann::json::parse(response.body, nullptr, false);
  require(json.is_object());
  require(response.body.find('\n') == response.body.size() - 1);
  const bool refused = json.contains("error") || json.contains("errors");
  require(response.status == 200 || refused);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view line = input.substr(0, input.find('\n'));
  HttpRequest request;
  request.method = line.substr(0, line.find(' '));
  if (line.size() > request.method.size()) request.target = line.substr(request.method.size() + 1);
  if (input.size() > line.size()) request.body = input.substr(line.size() + 1);
  if (!split_target(request)) return 0;
  LoadingControl control;
  check(Router(control, all_routes()).answer(request));
  check(Router(control, read_only_routes()).answer(request));
  // Whatever was loaded can be shown.
  HttpRequest config;
  config.method = "GET";
  config.target = "/v1/config";
  require(split_target(config));
  check(Router(control, all_routes()).answer(config));
  return 0;
}
