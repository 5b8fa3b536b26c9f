#include "ctl/client.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "ctl/fields.h"
#include "tests/ctl/answers.h"
#include "tests/ctl/typed.h"

using namespace weir::ctl;
using namespace std::chrono_literals;

TEST_CASE("client: a request carries method, target, host and body, and no more waits") {
  FakeAdmin weir;
  weir.answers("POST /v1/reload", "{}");
  Client client({.socket = weir.socket()});
  const Answer answer = client.send({Method::post, "/v1/reload", "workers: 1\n"});
  CHECK(answer.status == 200);
  CHECK(answer.body == "{}");
  REQUIRE(weir.seen().size() == 1);
  const FakeAdmin::Seen seen = weir.seen().front();
  CHECK(seen.body == "workers: 1\n");
  CHECK(seen.head.find("Host: weir\r\n") != std::string::npos);
  CHECK(seen.head.find("User-Agent: weirctl/") != std::string::npos);
}

TEST_CASE("client: a body of megabytes with any byte in it arrives whole") {
  FakeAdmin weir;
  weir.answers("POST /v1/plan", "{}");
  std::string body(5'000'000, 'x');
  for (std::size_t i = 0; i < body.size(); i += 7) body[i] = static_cast<char>(i % 251);
  Client client({.socket = weir.socket()});
  CHECK(client.send({Method::post, "/v1/plan", body}).status == 200);
  CHECK(weir.seen().front().body == body);
  // Without the second that curl waits for leave to send so much.
  CHECK(weir.seen().front().head.find("Expect:") == std::string::npos);
}

TEST_CASE("client: requests of every method follow each other on one connection") {
  FakeAdmin weir;
  weir.answers("GET /v1/status", answers::status);
  weir.answers("POST /v1/shutdown", "{}");
  weir.answers("DELETE /v1/sessions/1", "{}");
  Client client({.socket = weir.socket()});
  for (int round = 0; round < 3; ++round) {
    CHECK(client.send({.target = "/v1/status"}).body == answers::status);
    CHECK(client.send({Method::post, "/v1/shutdown"}).status == 200);
    CHECK(client.send({Method::remove, "/v1/sessions/1"}).status == 200);
  }
  CHECK(weir.connections() == 1);
  for (const FakeAdmin::Seen& seen : weir.seen()) CHECK(seen.body.empty());
  CHECK(weir.seen()[1].head.find("Content-Length: 0\r\n") != std::string::npos);
}

TEST_CASE("client: a target is sent as it is, dots and all") {
  FakeAdmin weir;
  weir.answers("GET /v1/pools/..", "{}");
  Client client({.socket = weir.socket()});
  CHECK(client.send({.target = "/v1/pools/.."}).status == 200);
}

TEST_CASE("client: a proxy in the environment is not asked") {
  FakeAdmin weir;
  weir.answers("GET /v1/status", "{}");
  ::setenv("http_proxy", "http://127.0.0.1:1/", 1);
  Client client({.socket = weir.socket()});
  CHECK(client.send({.target = "/v1/status"}).status == 200);
  ::unsetenv("http_proxy");
  CHECK(weir.requests() == std::vector<std::string>{"GET /v1/status"});
}

TEST_CASE("client: a socket that is missing, or that nobody listens on, is told with its name") {
  FakeAdmin weir;
  weir.stop();
  const std::string hint = " (is weir running? --socket or WEIR_SOCKET names another)";
  const Answer missing = Client({.socket = weir.socket()}).send({.target = "/v1/status"});
  CHECK(missing.status == 0);
  CHECK(missing.failure == "cannot reach " + weir.socket() + ": No such file or directory" + hint);
  const std::string file = weir.socket() + ".file";
  std::fclose(std::fopen(file.c_str(), "w"));
  const Answer refused = Client({.socket = file}).send({.target = "/v1/status"});
  CHECK(refused.failure == "cannot reach " + file + ": Connection refused" + hint);
}

TEST_CASE("client: a socket of somebody else is told as such" * doctest::skip(::geteuid() == 0)) {
  const FakeAdmin weir;
  REQUIRE(::chmod(weir.socket().c_str(), 0) == 0);
  const Answer denied = Client({.socket = weir.socket()}).send({.target = "/v1/status"});
  CHECK(denied.failure == "cannot reach " + weir.socket() +
                              ": Permission denied (it belongs to the user that weir runs as)");
}

TEST_CASE("client: a path that is too long for a socket is a failure with words") {
  const Answer answer =
      Client({.socket = "/" + std::string(200, 'x')}).send({.target = "/v1/status"});
  CHECK(answer.status == 0);
  CHECK(answer.failure.find("cannot") == 0);
}

TEST_CASE("client: a weir that hangs costs the time allowed, and then is told") {
  FakeAdmin weir;
  weir.hangs("GET /v1/status");
  weir.answers("GET /v1/health", answers::health);
  Client client({.socket = weir.socket(), .timeout = 50ms});
  const Answer answer = client.send({.target = "/v1/status"});
  CHECK(answer.status == 0);
  CHECK(!answer.interrupted);
  CHECK(answer.failure == "no answer from " + weir.socket() + " within 50ms");
  // What comes late on the old connection is not taken for the next answer.
  CHECK(client.send({.target = "/v1/health"}).body == answers::health);
}

TEST_CASE("client: a user who wants no more is obeyed while weir hangs") {
  FakeAdmin weir;
  weir.hangs("GET /v1/status");
  Client client({.socket = weir.socket(), .timeout = 60s, .interrupted = [] { return true; }});
  CHECK(client.send({.target = "/v1/status"}).interrupted);
}

TEST_CASE("client: an answer that ends early is none") {
  FakeAdmin weir;
  weir.sends("GET /v1/status", "");
  weir.sends("GET /v1/health", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"pools\":");
  Client client({.socket = weir.socket()});
  const std::string early = weir.socket() + " closed the connection before its answer was complete";
  CHECK(client.send({.target = "/v1/status"}).failure == early);
  const Answer cut = client.send({.target = "/v1/health"});
  CHECK(cut.status == 0);
  CHECK(cut.body.empty());
  CHECK(cut.failure == early);
}

TEST_CASE("client: a connection that weir closed between two requests is made anew") {
  FakeAdmin weir;
  weir.answers("GET /v1/status", "{}");
  Client client({.socket = weir.socket()});
  CHECK(client.send({.target = "/v1/status"}).status == 200);
  weir.stop();
  weir.start();
  CHECK(client.send({.target = "/v1/status"}).status == 200);
}

TEST_CASE("client: what speaks no HTTP is told, and so is an answer without JSON") {
  FakeAdmin weir;
  weir.sends("GET /v1/status", "SSH-2.0-OpenSSH_9.2\r\n");
  weir.answers("GET /v1/health", "serving\n");
  CHECK(typed(weir, {"status"}).code == 1);
  CHECK(typed(weir, {"status"}).err.starts_with("weirctl: cannot ask "));
  const Typed health = typed(weir, {"health"});
  CHECK(health.code == 1);
  CHECK(health.out.empty());
  CHECK(health.err ==
        "weirctl: the answer to /v1/health is not JSON (status 200): is this weir's admin "
        "socket?\n");
}

TEST_CASE("client: a refusal is told in weir's words, and as JSON too where JSON was asked for") {
  FakeAdmin weir;
  const std::string body =
      R"({"error":{"code":"not_found","message":"no pool is named x; pools are a, b"}})";
  weir.answers("GET /v1/why?pool=x", body, 404);
  weir.answers("GET /v1/pools/y", "{}", 405);
  const Typed text = typed(weir, {"why", "x"});
  CHECK(text.code == 1);
  CHECK(text.out.empty());
  CHECK(text.err == "weirctl: no pool is named x; pools are a, b\n");
  const Typed json = typed(weir, {"why", "x", "--json"});
  CHECK(json.code == 1);
  CHECK(Json::parse(json.out) == Json::parse(body));
  CHECK(json.err == text.err);
  CHECK(typed(weir, {"backends", "y"}).err == "weirctl: weir refused with status 405\n");
}
