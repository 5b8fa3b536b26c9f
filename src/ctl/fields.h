#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ctl/words.h"

// Reading weir's answers. A field that is absent reads as null, one of another type as nothing: an
// older or newer weir is still shown as far as it is understood.
namespace weir::ctl {

// Keeps the order of the keys: what is printed again is what came.
using Json = nlohmann::ordered_json;

const Json& field(const Json& object, std::string_view key);
// The elements of a list; none when it is something else.
const Json& list(const Json& object, std::string_view key);

// As people read it: `-` for null, `yes` and `no`, other texts without control characters.
std::string word(const Json& value);
// JSON as scripts read it, on one line or indented, with every control character escaped: those
// that JSON itself would let through, DEL and U+0080 to U+009F, command a terminal as well.
std::string written(const Json& value, int indent = -1);
// The whole number, 0 when it is none.
std::uint64_t whole(const Json& value);
bool is_true(const Json& value);
std::optional<WallTime> time_of(const Json& value);

// Of an object that counts by reason: all together, and in words, the largest first:
// `client_closed 20, idle_timeout 2`, or `-`.
std::uint64_t sum(const Json& counts);
std::string counts_text(const Json& counts);

}  // namespace weir::ctl
