#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::core {

// What a listener's clients speak: `listeners[].protocol`, the same words.
enum class Protocol : std::uint8_t { tcp, postgres, mysql, redis, http2 };
inline constexpr std::size_t kProtocols = static_cast<std::size_t>(Protocol::http2) + 1;

std::string_view name(Protocol protocol);

}  // namespace weir::core
