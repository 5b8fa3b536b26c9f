#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::ctl {

enum class Method { get, post, remove };

struct Request {
  Method method = Method::get;
  std::string target;  // path and query, escaped
  std::string body = {};
};

// `/v1/pools/a%2Fb`: each part is one segment, whatever it contains.
std::string path(std::initializer_list<std::string_view> parts);
// `?pool=orders&limit=5`, without the parameters whose value is empty; empty when none is left.
std::string query(const std::vector<std::pair<std::string_view, std::string>>& parameters);

}  // namespace weir::ctl
