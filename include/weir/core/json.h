#pragma once

#include <string>
#include <string_view>

namespace weir::core {

// Appends `text` as the inside of a JSON string, without the quotes. Bytes outside printable ASCII,
// which reach us in the paths of unix sockets, become `\u00XX`: a line stays one line and valid.
void append_json(std::string& to, std::string_view text);
std::string json_escaped(std::string_view text);

}  // namespace weir::core
