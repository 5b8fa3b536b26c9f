#include "ctl/rates.h"

#include <doctest/doctest.h>

using namespace weir::ctl;
using namespace std::chrono_literals;

namespace {

Sample sample(std::chrono::milliseconds at, int accepted, int refused, int dials,
              const std::string& address = "a:1", int pid = 1) {
  Sample made;
  made.at = SteadyTime(at);
  made.status = {{"pid", pid}};
  made.listeners = {
      {"listeners",
       Json::array({{{"name", "l"}, {"accepted", accepted}, {"bytes_in", 5}, {"bytes_out", 6}}})}};
  made.pools = {
      {"pools",
       Json::array(
           {{{"name", "p"},
             {"admission", {{"rejected", {{"shutdown", 1}, {"pending_timeout", refused}}}}},
             {"backends",
              Json::array(
                  {{{"name", "b"},
                    {"address", address},
                    {"totals", {{"dials", dials}, {"failures", {{"refused", dials}}}}}}})}}})}};
  return made;
}

}  // namespace

TEST_CASE("rates: what grew, by the time it took") {
  const Rates rates(sample(1000ms, 100, 3, 7), sample(1500ms, 110, 3, 8));
  CHECK(rates.of("listener/l/accepted") == 20.0);
  CHECK(rates.of("listener/l/bytes_in") == 0.0);
  CHECK(rates.of("listener/l/bytes_out") == 0.0);
  CHECK(rates.of("pool/p/rejected") == 0.0);
  CHECK(rates.of("pool/p/b/a:1/dials") == 2.0);
  CHECK(rates.of("pool/p/b/a:1/failures") == 2.0);
  CHECK(!rates.of("pool/p/c/a:1/dials"));
}

TEST_CASE("rates: refusals of every reason count together") {
  CHECK(Rates(sample(0ms, 0, 3, 7), sample(2000ms, 0, 9, 8)).of("pool/p/rejected") == 3.0);
}

TEST_CASE("rates: there are none before two samples, nor without time between them") {
  CHECK(!Rates().of("listener/l/accepted"));
  CHECK(!Rates(Sample(), sample(0ms, 1, 1, 1)).of("listener/l/accepted"));
  CHECK(!Rates(sample(5ms, 1, 1, 1), sample(5ms, 2, 2, 2)).of("listener/l/accepted"));
}

TEST_CASE("rates: another process, another backend or a total that shrinks is no rate") {
  CHECK(!Rates(sample(0ms, 1, 1, 1), sample(1000ms, 9, 9, 9, "a:1", 2)).of("listener/l/accepted"));
  const Rates moved(sample(0ms, 1, 1, 5), sample(1000ms, 2, 1, 9, "a:2"));
  CHECK(!moved.of("pool/p/b/a:2/dials"));
  CHECK(moved.of("listener/l/accepted") == 1.0);
  CHECK(!Rates(sample(0ms, 9, 1, 1), sample(1000ms, 2, 1, 1)).of("listener/l/accepted"));
}
