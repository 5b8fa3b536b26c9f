#include "weir/core/postgres_messages.h"

#include <doctest/doctest.h>

#include "tests/core/hex.h"
#include "weir/core/postgres_first_packet.h"

using namespace weir::core;

TEST_CASE("an ErrorResponse has a fatal severity twice, the SQLSTATE and the message") {
  CHECK(postgres_error({"53300", "full", {}}) ==
        hex("45 00000020 53 'FATAL' 00 56 'FATAL' 00 43 '53300' 00 4d 'full' 00 00"));
}

TEST_CASE("an ErrorResponse has a hint where there is one") {
  CHECK(postgres_error({"28000", "no", "try"}) ==
        hex("45 00000023 53 'FATAL' 00 56 'FATAL' 00 43 '28000' 00 4d 'no' 00 48 'try' 00 00"));
}

TEST_CASE("a text in an ErrorResponse can neither end its field nor steer a terminal") {
  const std::string text("a\0b\nc\x1b\xc3", 7);
  CHECK(postgres_error({"58000", text, {}}) ==
        hex("45 00000023 53 'FATAL' 00 56 'FATAL' 00 43 '58000' 00 4d 'a b c  ' 00 00"));
}

TEST_CASE("the answers to SSLRequest and GSSENCRequest are single letters") {
  CHECK(kPostgresSslAccepted == 0x53);
  CHECK(kPostgresNotAccepted == 0x4e);
  CHECK(kPostgresGssAccepted == 0x47);
}

TEST_CASE("an SSLRequest is written as it is read") {
  CHECK(postgres_ssl_request() == hex("00000008 04d2162f"));
  CHECK(read_postgres_first(postgres_ssl_request()).kind == PostgresFirst::ssl_request);
}

TEST_CASE("a CancelRequest is written with a secret of any length") {
  CHECK(postgres_cancel_request({0x1140, hex("a5e2601e")}) ==
        hex("00000010 04d2162e 00001140 a5e2601e"));
  const std::string secret(256, '\x80');
  const std::string packet = postgres_cancel_request({7, secret});
  CHECK(packet == hex("0000010c 04d2162e 00000007") + secret);
  CHECK(read_postgres_first(packet).cancel.secret == secret);
}
