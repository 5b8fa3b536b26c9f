#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "admin/router.h"
#include "tests/admin/fake_control.h"
#include "tests/admin/made_snapshot.h"

namespace weir::admin {

using Tree = nlohmann::ordered_json;

// A made-up weir and the API in front of it, without HTTP.
struct Desk {
  explicit Desk(std::vector<Route> routes = all_routes()) : router(control, std::move(routes)) {
    control.snapshot_ = made_snapshot();
  }

  HttpResponse ask(std::string method, std::string target, std::string body = {}) {
    HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    REQUIRE(split_target(request));
    return router.answer(request);
  }
  HttpResponse get(std::string target) { return ask("GET", std::move(target)); }

  // An answer that must be good, and its JSON.
  Tree tree(std::string method, std::string target, std::string body = {}) {
    const HttpResponse response = ask(std::move(method), std::move(target), std::move(body));
    CHECK_MESSAGE(response.status == 200, response.body);
    CHECK(response.body.back() == '\n');
    return Tree::parse(response.body);
  }
  Tree tree(std::string target) { return tree("GET", std::move(target)); }

  // `404 not_found no pool is named x`
  std::string refusal(std::string method, std::string target, std::string body = {}) {
    const HttpResponse response = ask(std::move(method), std::move(target), std::move(body));
    const Tree error = Tree::parse(response.body).at("error");
    return std::to_string(response.status) + " " + error.at("code").get<std::string>() + " " +
           error.at("message").get<std::string>();
  }
  std::string refusal(std::string target) { return refusal("GET", std::move(target)); }

  FakeControl control;
  Router router;
};

}  // namespace weir::admin
