#include "weir/core/postgres_first_packet.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/core/hex.h"

using namespace weir::core;

namespace {

using First = PostgresFirst;
using Fault = PostgresFault;

// Reads ever longer beginnings; each but the whole must ask for more, for no more than there is.
PostgresFirstPacket read_in_every_segment(const std::string& packet) {
  for (std::size_t size = 0; size < packet.size(); ++size) {
    CAPTURE(size);
    const PostgresFirstPacket read = read_postgres_first(std::string_view(packet).substr(0, size));
    CHECK(read.kind == First::need_more);
    CHECK(read.size > size);
    CHECK(read.size <= packet.size());
  }
  CHECK(read_postgres_first(packet + '\0').size == packet.size());
  return read_postgres_first(packet);
}

Fault fault_of(const std::string& packet) {
  const PostgresFirstPacket read = read_postgres_first(packet);
  CHECK(read.kind == First::malformed);
  CHECK(read.size == 0);
  return read.fault;
}

// A StartupMessage of 3.0 around these parameters, written as hex.
std::string startup(const std::string& parameters) {
  const std::string body = hex(parameters);
  std::string packet = hex("0000 0000 00030000") + body;
  packet[2] = static_cast<char>(packet.size() >> 8);
  packet[3] = static_cast<char>(packet.size() & 0xff);
  return packet;
}

}  // namespace

TEST_CASE("an SSLRequest and a GSSENCRequest are known by their codes, in any segments") {
  const PostgresFirstPacket ssl = read_in_every_segment(hex("00000008 04d2162f"));
  CHECK(ssl.kind == First::ssl_request);
  CHECK(ssl.size == 8);
  const PostgresFirstPacket gss = read_in_every_segment(hex("00000008 04d21630"));
  CHECK(gss.kind == First::gssenc_request);
  CHECK(gss.size == 8);
}

TEST_CASE("what comes together with an SSLRequest does not count as the packet's") {
  const std::string sent = hex("00000008 04d2162f 00000008 04d2162f");
  const PostgresFirstPacket read = read_postgres_first(sent);
  CHECK(read.kind == First::ssl_request);
  CHECK(sent.size() - read.size == 8);
}

TEST_CASE("a request with the length of another packet is malformed") {
  CHECK(fault_of(hex("00000009 04d2162f 00")) == Fault::wrong_length);
  CHECK(fault_of(hex("00000009 04d21630 00")) == Fault::wrong_length);
  CHECK(fault_of(hex("0000000f 04d2162e 00000001 000000")) == Fault::wrong_length);
  CHECK(fault_of(hex("0000010d 04d2162e")) == Fault::wrong_length);
}

TEST_CASE("a CancelRequest has a process and a secret of 4 to 256 bytes") {
  const std::string shorter = hex("00000010 04d2162e 00001140 a5e2601e");
  const PostgresFirstPacket old = read_in_every_segment(shorter);
  CHECK(old.kind == First::cancel_request);
  CHECK(old.size == 16);
  CHECK(old.cancel.process == 0x1140);
  CHECK(old.cancel.secret == hex("a5e2601e"));
  const std::string longer = hex("0000010c 04d2162e fffffffe") + std::string(256, '\xab');
  const PostgresFirstPacket newer = read_in_every_segment(longer);
  CHECK(newer.kind == First::cancel_request);
  CHECK(newer.size == 268);
  CHECK(newer.cancel.process == 0xfffffffe);
  CHECK(newer.cancel.secret == std::string(256, '\xab'));
}

TEST_CASE("a StartupMessage tells its version, user, database and parameters") {
  const std::string packet = startup("'user' 00 'joe' 00 'database' 00 'shop' 00 'a' 00 00 00");
  const PostgresFirstPacket read = read_in_every_segment(packet);
  CHECK(read.kind == First::startup);
  CHECK(read.size == packet.size());
  CHECK(read.startup.version == 0x30000);
  CHECK(read.startup.user == "joe");
  CHECK(read.startup.database == "shop");
  CHECK(read.startup.parameter("a") == "");
  CHECK_FALSE(read.startup.parameter("joe"));  // a value is no name
  CHECK_FALSE(read.startup.parameter(""));
}

TEST_CASE("a client that names no database means that of its user's name") {
  CHECK(read_postgres_first(startup("'user' 00 'joe' 00 00")).startup.database == "joe");
  const std::string empty = startup("'user' 00 'joe' 00 'database' 00 00 00");
  CHECK(read_postgres_first(empty).startup.database == "joe");
}

TEST_CASE("of a parameter given twice the last counts, as for the server") {
  const std::string twice = startup("'user' 00 'joe' 00 'user' 00 'ann' 00 00");
  CHECK(read_postgres_first(twice).startup.user == "ann");
}

TEST_CASE("every minor version of 3 is a startup, other major ones and unknown requests are not") {
  std::string packet = startup("'user' 00 'joe' 00 00");
  for (const char* version : {"00030000", "00030002", "0003270f"}) {
    packet.replace(4, 4, hex(version));
    CHECK(read_postgres_first(packet).kind == First::startup);
  }
  for (const char* version : {"00020000", "00040000", "04d21631", "00000000"}) {
    packet.replace(4, 4, hex(version));
    CHECK(fault_of(packet) == Fault::unsupported_version);
    CHECK(fault_of(packet.substr(0, 8)) == Fault::unsupported_version);  // no more is waited for
  }
}

TEST_CASE("parameters that are no pairs up to the packet's end are malformed") {
  for (const char* parameters : {
           "'user' 00 'joe' 00 'x'",          // a byte in place of the list's end
           "'user' 00 'joe' 00",              // no end of the list
           "'user' 00 'joe' 00 00 00",        // an empty name behind it
           "'user' 00 'joe' 00 'x' 00 00",    // a name without a value
           "'user' 00 'joe' 00 00 'x'",       // bytes behind the end
           "'user' 00 'joe' 00 00 'x' 00 00"  // parameters behind the end
       }) {
    CAPTURE(parameters);
    CHECK(fault_of(startup(parameters)) == Fault::bad_parameters);
  }
  CHECK(fault_of(startup("")) == Fault::bad_parameters);
}

TEST_CASE("a startup without a user is malformed") {
  CHECK(fault_of(startup("00")) == Fault::no_user);
  CHECK(fault_of(startup("'user' 00 00 00")) == Fault::no_user);
  CHECK(fault_of(startup("'database' 00 'joe' 00 00")) == Fault::no_user);
}

TEST_CASE("a packet of 10004 bytes is read, a longer one is too large before it has come") {
  const std::string name = "'user' 00 'joe' 00 'options' 00 '";
  const std::string longest = startup(name + std::string(10004 - 27, 'x') + "' 00 00");
  REQUIRE(longest.size() == kPostgresFirstPacketBound);
  CHECK(read_in_every_segment(longest).kind == First::startup);
  CHECK(read_postgres_first(hex("00002715")).kind == First::too_large);
  CHECK(read_postgres_first(hex("00ffffff 00030000")).kind == First::too_large);
}

TEST_CASE("a length shorter than a packet can be is malformed") {
  for (const char* length : {"00000000", "00000004", "00000007"}) {
    CHECK(fault_of(hex(length)) == Fault::wrong_length);
  }
}

TEST_CASE("a TLS record is direct TLS from its first byte, and none of it is consumed") {
  const PostgresFirstPacket read = read_postgres_first(hex("16"));
  CHECK(read.kind == First::direct_tls);
  CHECK(read.size == 0);
  CHECK(read_postgres_first(hex("16 0301 0200 01")).kind == First::direct_tls);
}

TEST_CASE("another protocol is told from its first byte") {
  CHECK(fault_of("G") == Fault::not_postgres);
  CHECK(fault_of("GET / HTTP/1.1\r\n") == Fault::not_postgres);
  CHECK(fault_of(hex("ff")) == Fault::not_postgres);
  CHECK(fault_of(hex("01000000")) == Fault::not_postgres);
}

TEST_CASE("each fault has a name") {
  CHECK(name(Fault::none) == "none");
  CHECK(name(Fault::not_postgres) == "not_postgres");
  CHECK(name(Fault::wrong_length) == "wrong_length");
  CHECK(name(Fault::unsupported_version) == "unsupported_version");
  CHECK(name(Fault::bad_parameters) == "bad_parameters");
  CHECK(name(Fault::no_user) == "no_user");
}
