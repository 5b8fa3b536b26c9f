#include "weir/core/postgres_backend.h"

#include <algorithm>
#include <limits>

#include "core/wire_integers.h"

namespace weir::core {
namespace {

constexpr std::size_t kHead = 5;  // the type, and a length that counts itself
constexpr std::size_t kLongest = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kProcess = 4;

}  // namespace

PostgresSslAnswer read_postgres_ssl_answer(std::string_view bytes) {
  if (bytes.empty()) return PostgresSslAnswer::need_more;
  if (bytes[0] == 'E') return PostgresSslAnswer::error;
  if (bytes.size() > 1) return PostgresSslAnswer::malformed;
  if (bytes[0] == 'S') return PostgresSslAnswer::accepted;
  if (bytes[0] == 'N') return PostgresSslAnswer::refused;
  return PostgresSslAnswer::malformed;
}

void PostgresKeyWatch::feed(std::string_view bytes) {
  while (watching() && !bytes.empty()) {
    if (skip_ > 0) {
      const std::size_t skipped = std::min(skip_, bytes.size());
      bytes.remove_prefix(skipped);
      skip_ -= skipped;
      continue;
    }
    const std::size_t taken = std::min(missing_, bytes.size());
    kept_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    missing_ -= taken;
    if (missing_ > 0) return;
    if (in_key_) {
      end_key();
    } else {
      begin_message();
    }
  }
}

void PostgresKeyWatch::begin_message() {
  const char type = kept_[0];
  const std::size_t length = big_32(kept_, 1);
  kept_.clear();
  missing_ = kHead;
  if (length < 4 || length > kLongest) {
    state_ = State::malformed;
    return;
  }
  const std::size_t body = length - 4;
  switch (type) {
    case 'Z':
      state_ = State::ready;
      return;
    case 'E':
      state_ = State::failed;
      return;
    case 'K':
      if (body < kProcess + kPostgresSecretMin || body > kProcess + kPostgresSecretMax) {
        state_ = State::malformed;
        return;
      }
      in_key_ = true;
      missing_ = body;
      return;
    default:  // a char, so no closed list
      skip_ = body;
  }
}

void PostgresKeyWatch::end_key() {
  key_ = PostgresKey{big_32(kept_, 0), kept_.substr(kProcess)};
  kept_.clear();
  in_key_ = false;
  missing_ = kHead;
}

std::string_view name(PostgresKeyWatch::State state) {
  switch (state) {
    case PostgresKeyWatch::State::watching:
      return "watching";
    case PostgresKeyWatch::State::ready:
      return "ready";
    case PostgresKeyWatch::State::failed:
      return "failed";
    case PostgresKeyWatch::State::malformed:
      return "malformed";
  }
  return {};
}

}  // namespace weir::core
