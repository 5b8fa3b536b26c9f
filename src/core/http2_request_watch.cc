#include <algorithm>

#include "core/wire_integers.h"
#include "weir/core/http2_refusal.h"

namespace weir::core {
namespace {

constexpr std::string_view kClientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kHead = 9;
constexpr std::size_t kLongestFrame = 16384;  // what empty SETTINGS allow
constexpr std::uint32_t kHeaders = 1;

}  // namespace

void Http2RequestWatch::feed(std::string_view bytes) {
  while (watching() && !bytes.empty()) {
    if (greeted_ < kClientPreface.size()) {
      if (bytes[0] != kClientPreface[greeted_]) state_ = State::malformed;
      bytes.remove_prefix(1);
      ++greeted_;
    } else if (skip_ > 0) {
      const std::size_t skipped = std::min(skip_, bytes.size());
      bytes.remove_prefix(skipped);
      skip_ -= skipped;
    } else {
      head_ += bytes[0];
      bytes.remove_prefix(1);
      if (head_.size() == kHead) begin_frame();
    }
  }
}

void Http2RequestWatch::begin_frame() {
  const std::uint32_t stream = big_32(head_, 5) & 0x7fffffff;  // the first bit is reserved
  const bool headers = byte_at(head_, 3) == kHeaders;
  skip_ = big_32(head_, 0) >> 8;
  head_.clear();
  if (skip_ > kLongestFrame || (headers && stream % 2 == 0)) {
    state_ = State::malformed;  // clients' streams have odd numbers
  } else if (headers) {
    stream_ = stream;
    state_ = State::requested;
  }
}

std::string_view name(Http2RequestWatch::State state) {
  switch (state) {
    case Http2RequestWatch::State::watching:
      return "watching";
    case Http2RequestWatch::State::requested:
      return "requested";
    case Http2RequestWatch::State::malformed:
      return "malformed";
  }
  return {};
}

}  // namespace weir::core
