#include "weir/admin/api_server.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/admin/fake_control.h"
#include "tests/admin/http_client.h"
#include "tests/admin/loop_thread.h"
#include "tests/admin/made_snapshot.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::admin;

namespace {

class Running {
 public:
  Running(ApiServer::Scope scope, const std::string& at) {
    control.snapshot_ = made_snapshot();
    thread_.on_loop([&] {
      server_ = std::make_unique<ApiServer>(thread_.loop(), control, scope);
      core::Endpoint endpoint = core::parse_endpoint(at).endpoint;
      if (endpoint.port == 1) endpoint.port = 0;  // `127.0.0.1:1` is any port
      const bool listens = server_->listen(endpoint, {.mode = 0600}, error);
      if (listens) address = server_->address();
    });
  }
  ~Running() {
    thread_.on_loop([this] { server_.reset(); });
  }

  std::string error;
  net::SocketAddress address;
  FakeControl control;

 private:
  LoopThread thread_;
  std::unique_ptr<ApiServer> server_;
};

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  ::pclose(pipe);
  return output;
}

}  // namespace

TEST_CASE("the API is served on a unix socket that only its owner may use") {
  const net::ScratchFolder folder;
  const std::string path = folder.file("admin.sock");
  {
    Running running(ApiServer::Scope::full, "unix:" + path);
    REQUIRE(running.error.empty());
    struct stat found {};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0600);
    HttpClient client(running.address);
    CHECK(client.get("/v1/status").status == 200);
    CHECK(
        client.ask("POST", "/v1/pools/orders/backends/pg-a/drain", R"({"deadline":"1s"})").status ==
        200);
    CHECK(running.control.orders() == std::vector<std::string>{"drain orders pg-a 1000"});
    CHECK(client.ask("DELETE", "/v1/status").headers["allow"] == "GET, HEAD");
    CHECK(client.ask("POST", "/v1/plan", std::string(4 * 1024 * 1024, '#')).status == 409);
    const Running second(ApiServer::Scope::full, "unix:" + path);
    CHECK(second.error == "another process listens on this socket");
  }
  struct stat found {};
  CHECK(::lstat(path.c_str(), &found) != 0);
}

TEST_CASE("curl reaches the API, and a large file is refused before it is sent") {
  const net::ScratchFolder folder;
  const std::string path = folder.file("admin.sock");
  Running running(ApiServer::Scope::full, "unix:" + path);
  const std::string curl = "curl -sS --max-time 20 --unix-socket " + path + " ";
  CHECK(output_of(curl + "http://weir/v1/pools/cache | head -c 15") == R"({"name":"cache")");
  CHECK(output_of(curl + "-I http://weir/v1/status").rfind("HTTP/1.1 200 OK\r\n", 0) == 0);
  net::write_file(folder.file("large"), std::string(5 * 1024 * 1024, '#'));
  CHECK(output_of(curl + "--data-binary @" + folder.file("large") + " http://weir/v1/plan") ==
        R"({"error":{"code":"too_large","message":"the body is larger than 4194304 bytes"}})"
        "\n");
  CHECK(running.control.orders().empty());
}

TEST_CASE("the dashboard is served with a policy that lets it run nothing but itself") {
  Running running(ApiServer::Scope::read_only, "127.0.0.1:1");
  HttpClient client(running.address);
  Answer page = client.get("/");
  CHECK(page.status == 200);
  CHECK(page.body.rfind("<!doctype html>\n", 0) == 0);
  CHECK(page.headers["content-type"] == "text/html; charset=utf-8");
  CHECK(page.headers["content-security-policy"].rfind("default-src 'none'; ", 0) == 0);
  CHECK(page.headers["content-security-policy"].find("unsafe") == std::string::npos);
  CHECK(page.headers["referrer-policy"] == "no-referrer");
  CHECK(page.headers["x-content-type-options"] == "nosniff");
  CHECK(client.get("/v1/status").headers.count("content-security-policy") == 0);
}

TEST_CASE("what is read-only is served over TCP, for browsers and scrapers") {
  Running running(ApiServer::Scope::read_only, "127.0.0.1:1");
  REQUIRE(running.error.empty());
  REQUIRE(running.address.port() != 0);
  HttpClient client(running.address);
  CHECK(client.get("/healthz").body == "serving\n");
  CHECK(client.get("/v1/pools").status == 200);
  CHECK(client.get("/v1/sessions").status == 404);
  CHECK(client.ask("POST", "/v1/shutdown", std::string(5'000'000, 'x')).status == 404);
  CHECK(client.ask("POST", "/v1/status").status == 405);
  CHECK(running.control.orders().empty());
}
