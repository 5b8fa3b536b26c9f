#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <string_view>
#include <utility>

#include "weir/net/log_options.h"
#include "weir/upstream/pool_options.h"

// The words of the file for each enum, to read and to write.
namespace weir::config {

template <typename Enum, std::size_t N>
using Choices = std::array<std::pair<std::string_view, Enum>, N>;

inline constexpr Choices<net::LogLevel, 4> kLogLevels{{{"debug", net::LogLevel::debug},
                                                       {"info", net::LogLevel::info},
                                                       {"warning", net::LogLevel::warning},
                                                       {"error", net::LogLevel::error}}};

inline constexpr Choices<net::LogFormat, 2> kLogFormats{
    {{"text", net::LogFormat::text}, {"json", net::LogFormat::json}}};

inline constexpr Choices<upstream::CircuitSuccess, 2> kCircuitSuccesses{
    {{"connect", upstream::CircuitSuccess::connect},
     {"first_byte", upstream::CircuitSuccess::first_byte}}};

inline constexpr Choices<upstream::HealthType, 1> kHealthTypes{
    {{"tcp", upstream::HealthType::tcp}}};

template <typename Enum, std::size_t N>
std::string_view word_of(const Choices<Enum, N>& choices, Enum value) {
  for (const auto& [word, meaning] : choices) {
    if (meaning == value) return word;
  }
  assert(false);  // every value has its word
  return {};
}

}  // namespace weir::config
