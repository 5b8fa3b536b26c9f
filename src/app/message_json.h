#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

// What the texts that two processes of weir exchange have in common.
namespace weir::app {

using Json = nlohmann::json;

// Bytes that are no UTF-8, which paths of unix sockets may hold, become U+FFFD.
inline std::string written(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A word of a closed list, by its number.
template <typename Enum>
Enum word(const Json& json, Enum last) {
  const int number = json.get<int>();
  if (number < 0 || number > static_cast<int>(last)) throw std::runtime_error("out of range");
  return static_cast<Enum>(number);
}

}  // namespace weir::app
