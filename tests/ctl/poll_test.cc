#include "ctl/poll.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/ctl/answers.h"
#include "tests/ctl/typed.h"

using namespace weir::ctl;

TEST_CASE("poll: a failure is on the screen as long as it lasts, over what was known before") {
  FakeAdmin weir;
  weir.answers("GET /v1/status", answers::status);
  weir.answers("GET /v1/listeners", answers::listeners);
  weir.answers("GET /v1/pools", fmt::format(R"({{"pools":[{}]}})", answers::pool));
  weir.answers("GET /v1/events?since=0", answers::events);
  weir.answers("GET /v1/events?since=7", R"({"events":[],"next":7,"oldest":6})");
  Shell shell{.out = nullptr,
              .err = nullptr,
              .in = nullptr,
              .now = [] { return noon(); },
              .steady_now = [] { return SteadyTime(); },
              .hold_interrupts = {},
              .interrupted = {},
              .pause = {}};
  Client client({.socket = weir.socket()});
  const Call call{shell, client};
  Poll poll(call);
  const auto drawn = [&] { return text_of(poll.frame({}), false); };
  const auto shows = [&](const char* text) { return drawn().find(text) != std::string::npos; };

  CHECK(poll.run());
  CHECK(!shows("trying again"));
  weir.stop();
  CHECK(!poll.run());
  CHECK(shows("trying again"));
  CHECK(shows("orders/pg-b"));
  CHECK(shows("generation 3: SIGHUP"));
  weir.start();
  CHECK(poll.run());
  CHECK(!shows("trying again"));
}
