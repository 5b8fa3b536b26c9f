#include "weir/core/dial_outcome.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace weir::core;

namespace {

struct Row {
  DialOutcome outcome;
  Verdict verdict;
  bool retryable;
  CloseReason reason;
};

// The table "Which outcomes count", with what the session ends as.
const std::vector<Row> kTable = {
    {DialOutcome::refused, Verdict::failure, true, CloseReason::upstream_connect_failed},
    {DialOutcome::reset, Verdict::failure, true, CloseReason::upstream_connect_failed},
    {DialOutcome::unreachable, Verdict::failure, true, CloseReason::upstream_connect_failed},
    {DialOutcome::timeout, Verdict::failure, true, CloseReason::upstream_timeout},
    {DialOutcome::tls_identity, Verdict::failure, false, CloseReason::upstream_tls_identity},
    {DialOutcome::tls_failed, Verdict::failure, true, CloseReason::upstream_tls_failed},
    {DialOutcome::first_byte_timeout, Verdict::failure, false, CloseReason::first_byte_timeout},
    {DialOutcome::closed_early, Verdict::failure, false, CloseReason::upstream_connect_failed},
    {DialOutcome::resolve_failed, Verdict::failure, true, CloseReason::upstream_connect_failed},
    {DialOutcome::local_error, Verdict::neutral, false, CloseReason::local_error},
    {DialOutcome::cancelled, Verdict::neutral, false, CloseReason::client_closed},
};

}  // namespace

TEST_CASE("the dial outcomes are the words of the contract, in its order") {
  std::string words;
  for (std::size_t i = 0; i < kDialOutcomes; ++i) {
    words += name(static_cast<DialOutcome>(i));
    words += ' ';
  }
  CHECK(words ==
        "connected refused reset unreachable timeout tls_identity tls_failed first_byte_timeout "
        "closed_early resolve_failed local_error cancelled ");
}

TEST_CASE("each failed dial has its verdict, its leave to retry and its close reason") {
  CHECK(kTable.size() == kDialOutcomes - 1);
  for (const Row& row : kTable) {
    CAPTURE(name(row.outcome));
    CHECK(verdict(row.outcome) == row.verdict);
    CHECK(retryable({row.outcome}) == row.retryable);
    CHECK(close_reason(row.outcome) == row.reason);
  }
}

TEST_CASE("an address that could not even be tried does not hide what another one said") {
  const DialResult refused{DialOutcome::refused};
  const DialResult timeout{DialOutcome::timeout};
  const DialResult no_port{DialOutcome::local_error, true};
  const DialResult no_memory{DialOutcome::local_error, false};
  CHECK(more_telling(refused, no_port).outcome == DialOutcome::refused);
  CHECK(more_telling(no_port, refused).outcome == DialOutcome::refused);
  CHECK(more_telling(refused, timeout).outcome == DialOutcome::timeout);
  CHECK(more_telling(no_port, no_port).no_local_port);
  CHECK(more_telling({}, no_port).outcome == DialOutcome::local_error);
  CHECK(more_telling(refused, no_memory).outcome == DialOutcome::local_error);
}

TEST_CASE("a dial that connected is a success and nothing to retry") {
  CHECK(verdict(DialOutcome::connected) == Verdict::success);
  CHECK_FALSE(retryable({DialOutcome::connected}));
}

TEST_CASE("without a local port towards one backend another may be tried") {
  CHECK(retryable({.outcome = DialOutcome::local_error, .no_local_port = true}));
  CHECK_FALSE(retryable({.outcome = DialOutcome::local_error, .no_local_port = false}));
  CHECK_FALSE(retryable({.outcome = DialOutcome::tls_identity, .no_local_port = true}));
}
