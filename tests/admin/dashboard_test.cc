#include "admin/dashboard.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/admin/asking.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::admin;

namespace {

std::string between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string_view::npos);
  const std::size_t begin = at + before.size();
  return std::string(text.substr(begin, text.find(after, begin) - begin));
}

// By another program than the one that wrote it into the policy.
std::string hash_of(const std::string& text) {
  const net::ScratchFolder folder;
  net::write_file(folder.file("text"), text);
  const std::string command =
      "python3 -c \"import base64,hashlib,sys; print(base64.b64encode(hashlib.sha256("
      "open(sys.argv[1],'rb').read()).digest()).decode(),end='')\" " +
      folder.file("text");
  FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 128> read{};
  const std::size_t count = std::fread(read.data(), 1, read.size(), pipe);
  CHECK(::pclose(pipe) == 0);
  return std::string(read.data(), count);
}

}  // namespace

TEST_CASE("GET / of http.listen is the dashboard, and the admin socket has none") {
  Desk desk(read_only_routes());
  const HttpResponse page = desk.get("/");
  CHECK(page.status == 200);
  CHECK(page.type == HttpResponse::kHtml);
  CHECK(page.policy == kDashboardPolicy);
  CHECK(page.body == kDashboardPage);
  CHECK(Desk().get("/").status == 404);
}

// A name space of SVG is a name, and asks nobody.
TEST_CASE("the dashboard names no other host") {
  std::string page(kDashboardPage);
  const std::string name_space = "http://www.w3.org/2000/svg";
  page.erase(page.find(name_space), name_space.size());
  CHECK(page.find("://") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK(page.find("@import") == std::string::npos);
  for (std::size_t at = 0; (at = page.find("href=\"", at)) != std::string::npos; ++at) {
    const std::string target = page.substr(at + 6, page.find('"', at + 6) - at - 6);
    CAPTURE(target);
    CHECK((target == "data:," || (target[0] == '/' && target[1] != '/')));
  }
}

TEST_CASE("the dashboard never makes markup of what weir says") {
  for (const char* way : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                          "createContextualFragment", "eval(", "setHTML", "DOMParser"}) {
    CAPTURE(way);
    CHECK(kDashboardPage.find(way) == std::string_view::npos);
  }
}

TEST_CASE("the dashboard's policy allows its own style and script by their hashes") {
  const std::string style = hash_of(between(kDashboardPage, "<style>", "</style>"));
  const std::string script = hash_of(between(kDashboardPage, "<script>", "</script>"));
  CHECK(between(kDashboardPolicy, "style-src 'sha256-", "'") == style);
  CHECK(between(kDashboardPolicy, "script-src 'sha256-", "'") == script);
}

TEST_CASE("every path that the dashboard asks for is one that it may ask for") {
  Desk desk(read_only_routes());
  for (const char* path : {"/v1/status", "/v1/pools", "/v1/listeners", "/v1/events", "/metrics"}) {
    CAPTURE(path);
    CHECK(kDashboardPage.find(path) != std::string_view::npos);
    CHECK(desk.get(path).status == 200);
  }
}
