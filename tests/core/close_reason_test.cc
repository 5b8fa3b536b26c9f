#include "weir/core/close_reason.h"

#include <doctest/doctest.h>

#include <string>

using namespace weir::core;

TEST_CASE("the close reasons are the words of the contract, in its order") {
  std::string words;
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    words += name(static_cast<CloseReason>(i));
    words += ' ';
  }
  CHECK(words ==
        "client_closed backend_closed client_reset backend_reset idle_timeout half_close_timeout "
        "write_stall session_timeout no_route proxy_overloaded pending_timeout client_left_queue "
        "upstream_unavailable circuit_open backend_at_capacity upstream_connect_failed "
        "upstream_timeout upstream_tls_identity upstream_tls_failed first_byte_timeout "
        "retry_budget_exhausted retry_deadline_exhausted preface_timeout preface_malformed "
        "preface_too_large unknown_server_name tls_handshake_failed source_limit listener_full "
        "access_denied local_error killed backend_drained shutdown ");
}

TEST_CASE("a session is ended by the peer that closed or reset it, by weir in every other case") {
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    const auto reason = static_cast<CloseReason>(i);
    CAPTURE(name(reason));
    const bool client = reason == CloseReason::client_closed || reason == CloseReason::client_reset;
    const bool backend =
        reason == CloseReason::backend_closed || reason == CloseReason::backend_reset;
    CHECK(closed_by(reason) == (client ? Party::client : backend ? Party::backend : Party::weir));
  }
  CHECK(name(Party::client) == "client");
  CHECK(name(Party::backend) == "backend");
  CHECK(name(Party::weir) == "weir");
}
