// What real programs sent, taken off the wire: psql and PostgreSQL 15.18, the mariadb client and
// server 10.11.19, as Debian 12 has them.
#include <doctest/doctest.h>

#include <string>

#include "tests/core/hex.h"
#include "weir/core/mysql_client_packet.h"
#include "weir/core/mysql_greeting.h"
#include "weir/core/postgres_backend.h"
#include "weir/core/postgres_first_packet.h"

using namespace weir::core;

namespace {

// psql with sslmode=require and with prefer, the same: its request, and the head of its client
// hello, which it sends after the server's S.
const std::string kPsqlSslRequest = hex("0000000804d2162f");
const std::string kPsqlClientHello = hex("16030101200100011c0303");
// psql with gssencmode=prefer and Kerberos credentials: asked first, of a server that answered 'G'.
const std::string kPsqlGssencRequest = hex("0000000804d21630");
// psql with sslmode=disable, user and database postgres.
const std::string kPsqlStartup =
    hex("0000003f000300007573657200706f73746772657300646174616261736500706f737467726573006170706c"
        "69636174696f6e5f6e616d65007073716c0000");
// The server's answer to it up to ReadyForQuery: AuthenticationOk, 13 times ParameterStatus,
// BackendKeyData.
const std::string kPostgresLogin =
    hex("520000000800000000530000001a6170706c69636174696f6e5f6e616d65007073716c005300000019636c69"
        "656e745f656e636f64696e670055544638005300000017446174655374796c650049534f2c204d4459005300"
        "00002664656661756c745f7472616e73616374696f6e5f726561645f6f6e6c79006f6666005300000017696e"
        "5f686f745f7374616e646279006f6666005300000019696e74656765725f6461746574696d6573006f6e0053"
        "0000001b496e74657276616c5374796c6500706f73746772657300530000001469735f737570657275736572"
        "006f6e0053000000197365727665725f656e636f64696e6700555446380053000000327365727665725f7665"
        "7273696f6e0031352e3138202844656269616e2031352e31382d302b64656231327531290053000000237365"
        "7373696f6e5f617574686f72697a6174696f6e00706f7374677265730053000000237374616e646172645f63"
        "6f6e666f726d696e675f737472696e6773006f6e00530000001554696d655a6f6e65004574632f555443004b"
        "0000000c00001121277acf9d5a0000000549");
// psql on Ctrl-C, on a connection of its own.
const std::string kPsqlCancel = hex("0000001004d2162e00001140a5e2601e");
// The server's answer to a database that does not exist.
const std::string kPostgresError =
    hex("520000000800000000450000005b53464154414c0056464154414c00433344303030004d6461746162617365"
        "20226e6f737563682220646f6573206e6f742065786973740046706f7374696e69742e63004c393438005249"
        "6e6974506f7374677265730000");

// The greeting of a server without a certificate, and of one with.
const std::string kMariadbPlain =
    hex("640000000a352e352e352d31302e31312e31392d4d6172696144422d302b6465623132753100040000005653"
        "7d40624e413b00fef7080200ff81150000000000001d00000040723e7c75593c5d4374422b006d7973716c5f"
        "6e61746976655f70617373776f726400");
const std::string kMariadbTls =
    hex("640000000a352e352e352d31302e31312e31392d4d6172696144422d302b646562313275310005000000445f"
        "362d21587a7d00feff080200ff81150000000000001d000000284a7b4f56422a486e6f6428006d7973716c5f"
        "6e61746976655f70617373776f726400");
// In place of the greeting, at max_connections: no SQLSTATE.
const std::string kMariadbFull = hex("17000000ff1004546f6f206d616e7920636f6e6e656374696f6e73");
// mariadb --ssl, before its client hello.
const std::string kMariadbSslRequest =
    hex("2000000184aabf000000100021000000000000000000000000000000000000001d000000");
// mariadb --skip-ssl, user app, with a password, a database and its attributes.
const std::string kMariadbResponse =
    hex("d50000018ca2bf000000100021000000000000000000000000000000000000001d0000006170700014343b28"
        "5496d04bfafd24d60fba511c3091ca37266e6f73756368006d7973716c5f6e61746976655f70617373776f72"
        "64007e035f6f73054c696e75780c5f636c69656e745f6e616d650a6c69626d617269616462045f7069640434"
        "3832310f5f636c69656e745f76657273696f6e06332e332e3230095f706c6174666f726d067838365f36340c"
        "70726f6772616d5f6e616d65056d7973716c0c5f7365727665725f686f7374093132372e302e302e31");

}  // namespace

TEST_CASE("psql's first packets are read") {
  CHECK(read_postgres_first(kPsqlSslRequest).kind == PostgresFirst::ssl_request);
  CHECK(read_postgres_first(kPsqlGssencRequest).kind == PostgresFirst::gssenc_request);
  CHECK(read_postgres_first(kPsqlClientHello).kind == PostgresFirst::direct_tls);
  const PostgresFirstPacket startup = read_postgres_first(kPsqlStartup);
  REQUIRE(startup.kind == PostgresFirst::startup);
  CHECK(startup.size == kPsqlStartup.size());
  CHECK(startup.startup.version == 0x30000);
  CHECK(startup.startup.user == "postgres");
  CHECK(startup.startup.database == "postgres");
  CHECK(startup.startup.parameter("application_name") == "psql");
  const PostgresFirstPacket cancel = read_postgres_first(kPsqlCancel);
  REQUIRE(cancel.kind == PostgresFirst::cancel_request);
  CHECK(cancel.cancel.process == 4416);
  CHECK(cancel.cancel.secret == hex("a5e2601e"));
}

TEST_CASE("PostgreSQL's key is learnt from its login, cut anywhere") {
  for (std::size_t cut = 0; cut <= kPostgresLogin.size(); ++cut) {
    PostgresKeyWatch watch;
    watch.feed(std::string_view(kPostgresLogin).substr(0, cut));
    watch.feed(std::string_view(kPostgresLogin).substr(cut));
    CHECK(watch.state() == PostgresKeyWatch::State::ready);
    CHECK(watch.key() == PostgresKey{0x1121, hex("277acf9d")});
  }
}

TEST_CASE("PostgreSQL's error ends the watch without a key") {
  PostgresKeyWatch watch;
  watch.feed(kPostgresError);
  CHECK(watch.state() == PostgresKeyWatch::State::failed);
  CHECK_FALSE(watch.key());
}

TEST_CASE("MariaDB's greetings differ in CLIENT_SSL, which can be set") {
  const MysqlServerPacket plain = read_mysql_server_first(kMariadbPlain);
  const MysqlServerPacket tls = read_mysql_server_first(kMariadbTls);
  for (const MysqlServerPacket& read : {plain, tls}) {
    REQUIRE(read.kind == MysqlServerFirst::greeting);
    CHECK(read.size == 104);
    CHECK(read.greeting.version == "5.5.5-10.11.19-MariaDB-0+deb12u1");
    CHECK(read.greeting.mariadb);
    CHECK(read.greeting.mariadb_extended == 0x1d);
    CHECK(read.greeting.auth_data_1.size() == 8);
    CHECK(read.greeting.auth_data_2.size() == 12);
    CHECK(read.greeting.plugin == "mysql_native_password");
  }
  CHECK(plain.greeting.thread == 4);
  CHECK(tls.greeting.thread == 5);
  CHECK(plain.greeting.capabilities == 0x81fff7fe);
  CHECK(tls.greeting.capabilities == (plain.greeting.capabilities | kMysqlSsl));
  std::string rewritten = kMariadbPlain;
  set_capabilities(rewritten, plain.greeting, plain.greeting.capabilities | kMysqlSsl);
  CHECK(read_mysql_server_first(rewritten).greeting.capabilities == tls.greeting.capabilities);
}

TEST_CASE("a full MariaDB's error is read") {
  const MysqlServerPacket read = read_mysql_server_first(kMariadbFull);
  REQUIRE(read.kind == MysqlServerFirst::error);
  CHECK(read.size == kMariadbFull.size());
  CHECK(read.error.code == 1040);
  CHECK(read.error.sqlstate.empty());
  CHECK(read.error.message == "Too many connections");
}

TEST_CASE("the mariadb client's answers are read") {
  const MysqlClientPacket ssl = read_mysql_client_first(kMariadbSslRequest);
  CHECK(ssl.kind == MysqlClientFirst::ssl_request);
  CHECK(ssl.size == 36);
  const MysqlClientPacket response = read_mysql_client_first(kMariadbResponse);
  REQUIRE(response.kind == MysqlClientFirst::handshake_response);
  CHECK(response.size == kMariadbResponse.size());
  CHECK((response.capabilities & kMysqlSsl) == 0);
  CHECK(response.user == "app");
}
