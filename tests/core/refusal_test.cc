#include "weir/core/refusal.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "tests/core/hex.h"
#include "weir/core/error_messages.h"
#include "weir/core/http2_refusal.h"
#include "weir/core/mysql_greeting.h"
#include "weir/core/postgres_messages.h"

using namespace weir::core;

namespace {

constexpr RefusalPlace kPlace{"front", "orders"};

struct Expected {
  const char* postgres = nullptr;  // null = nothing is said
  std::uint16_t mysql = 0;
  const char* mysql_sqlstate = nullptr;
  Http2Error http2 = Http2Error::no_error;
  GrpcStatus grpc = GrpcStatus::unavailable;
};

// The whole table, in the contract's words.
const std::map<std::string_view, Expected> kTable = {
    {"client_closed", {}},
    {"backend_closed", {}},
    {"client_reset", {}},
    {"backend_reset", {}},
    {"idle_timeout", {"57P05", 1159, "08S01", Http2Error::no_error}},
    {"half_close_timeout", {}},
    {"write_stall", {}},
    {"session_timeout", {"57P01", 1053, "08S01", Http2Error::no_error}},
    {"no_route", {"08004", 1105, "HY000", Http2Error::refused_stream}},
    {"proxy_overloaded", {"53300", 1040, "08004", Http2Error::enhance_your_calm}},
    {"pending_timeout", {"53300", 1040, "08004", Http2Error::enhance_your_calm}},
    {"client_left_queue", {}},
    {"upstream_unavailable", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"circuit_open", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"backend_at_capacity", {"53300", 1040, "08004", Http2Error::enhance_your_calm}},
    {"upstream_connect_failed", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"upstream_timeout", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"upstream_tls_identity", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"upstream_tls_failed", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"first_byte_timeout", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"retry_budget_exhausted", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"retry_deadline_exhausted", {"57P03", 1105, "HY000", Http2Error::refused_stream}},
    {"preface_timeout", {"08006", 1159, "08S01", Http2Error::protocol_error}},
    {"preface_malformed",
     {"08P01", 1043, "08S01", Http2Error::protocol_error, GrpcStatus::internal}},
    {"preface_too_large",
     {"08P01", 1153, "08S01", Http2Error::protocol_error, GrpcStatus::internal}},
    {"unknown_server_name", {}},
    {"tls_handshake_failed", {}},
    {"source_limit", {"53300", 1040, "08004", Http2Error::enhance_your_calm}},
    {"listener_full", {"53300", 1040, "08004", Http2Error::enhance_your_calm}},
    {"access_denied",
     {"28000", 1130, "HY000", Http2Error::refused_stream, GrpcStatus::permission_denied}},
    {"local_error", {"58000", 1105, "HY000", Http2Error::internal_error, GrpcStatus::internal}},
    {"killed", {"57P01", 1053, "08S01", Http2Error::no_error}},
    {"backend_drained", {"57P01", 1053, "08S01", Http2Error::no_error}},
    {"shutdown", {"57P01", 1053, "08S01", Http2Error::no_error}},
};

std::string said(Protocol protocol, const Expected& expected, const std::string& text) {
  if (expected.postgres == nullptr) return {};
  switch (protocol) {
    case Protocol::tcp:
      return {};
    case Protocol::postgres:
      return postgres_error({expected.postgres, text, {}});
    case Protocol::mysql:
      return mysql_error({0, expected.mysql, {}, text});
    case Protocol::redis:
      return redis_error(text);
    case Protocol::http2:
      return http2_goaway(expected.http2, text);
  }
  return {};
}

}  // namespace

TEST_CASE("every reason is said in every protocol as the table has it") {
  CHECK(kTable.size() == kCloseReasons);
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    const auto reason = static_cast<CloseReason>(i);
    const std::string text = refusal_text(reason, kPlace);
    for (std::size_t j = 0; j < kProtocols; ++j) {
      const auto protocol = static_cast<Protocol>(j);
      CAPTURE(name(reason));
      CAPTURE(name(protocol));
      CHECK(refusal(protocol, reason, kPlace) == said(protocol, kTable.at(name(reason)), text));
    }
  }
}

TEST_CASE("a MySQL client that is known gets the SQLSTATE of its code, and the next number") {
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    const auto reason = static_cast<CloseReason>(i);
    CAPTURE(name(reason));
    const Expected& expected = kTable.at(name(reason));
    if (expected.postgres == nullptr) continue;
    CHECK(refusal(Protocol::mysql, reason, kPlace, {2, true}) ==
          mysql_error({2, expected.mysql, expected.mysql_sqlstate, refusal_text(reason, kPlace)}));
  }
}

TEST_CASE("an HTTP/2 request that has come is answered with the reason's status") {
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    const auto reason = static_cast<CloseReason>(i);
    CAPTURE(name(reason));
    const Expected& expected = kTable.at(name(reason));
    RefusalStage stage;
    stage.http2_stream = 5;
    const std::string answer = expected.postgres == nullptr
                                   ? ""
                                   : http2_answer(5, expected.grpc, refusal_text(reason, kPlace));
    CHECK(refusal(Protocol::http2, reason, kPlace, stage) == answer);
  }
}

TEST_CASE("each text names weir, the place and the reason, on one line") {
  for (std::size_t i = 0; i < kCloseReasons; ++i) {
    const auto reason = static_cast<CloseReason>(i);
    const std::string text = refusal_text(reason, kPlace);
    CAPTURE(text);
    CHECK(text.substr(0, 6) == "weir: ");
    const std::string suffix = " (" + std::string(name(reason)) + ")";
    CHECK(text.substr(text.size() - suffix.size()) == suffix);
    const bool pool = text.find("pool orders") != std::string::npos;
    const bool listener = text.find("listener front") != std::string::npos;
    CHECK((pool || listener));
    CHECK(text.find_first_of("{}\r\n") == std::string::npos);
    CHECK(text.size() < 140);
  }
}

TEST_CASE("the texts read as sentences, with names or without") {
  CHECK(refusal_text(CloseReason::proxy_overloaded, kPlace) ==
        "weir: too many connections wait for pool orders (proxy_overloaded)");
  CHECK(refusal_text(CloseReason::listener_full, kPlace) ==
        "weir: too many connections to listener front (listener_full)");
  CHECK(refusal_text(CloseReason::circuit_open, {}) ==
        "weir: backends failed and are not tried for a while in this pool (circuit_open)");
  CHECK(refusal_text(CloseReason::shutdown, {}) ==
        "weir: this listener is shutting down (shutdown)");
}

TEST_CASE("a refusal is a whole packet, byte by byte") {
  CHECK(refusal(Protocol::mysql, CloseReason::listener_full, kPlace) ==
        hex("3f0000 00 ff 1004 'weir: too many connections to listener front (listener_full)'"));
}

TEST_CASE("a client that skips TLS is told so in its protocol") {
  const std::string text = "weir: listener front takes only connections with TLS (access_denied)";
  CHECK(refusal_without_tls(Protocol::tcp, kPlace).empty());
  CHECK(refusal_without_tls(Protocol::postgres, kPlace) ==
        postgres_error({"28000", text, "Connect with sslmode=require or stricter."}));
  CHECK(refusal_without_tls(Protocol::mysql, kPlace, {2, true}) ==
        mysql_error({2, 3159, "HY000", text}));
  CHECK(refusal_without_tls(Protocol::redis, kPlace) == redis_error(text));
  CHECK(refusal_without_tls(Protocol::http2, kPlace) ==
        http2_goaway(Http2Error::inadequate_security, text));
}

TEST_CASE("the protocols have the words of the configuration") {
  CHECK(name(Protocol::tcp) == "tcp");
  CHECK(name(Protocol::postgres) == "postgres");
  CHECK(name(Protocol::mysql) == "mysql");
  CHECK(name(Protocol::redis) == "redis");
  CHECK(name(Protocol::http2) == "http2");
}
