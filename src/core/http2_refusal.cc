#include "weir/core/http2_refusal.h"

#include "core/wire_integers.h"

namespace weir::core {
namespace {

// A frame of 16384 bytes is the longest that a client must take without having said otherwise.
constexpr std::size_t kDebugBound = 16384 - 8;
constexpr std::size_t kTextBound = 4096;  // of a header: far below every client's bound
constexpr std::uint32_t kHeaders = 1;
constexpr std::uint32_t kSettings = 4;
constexpr std::uint32_t kGoaway = 7;
constexpr std::uint32_t kEndOfStreamAndHeaders = 0x1 | 0x4;

void append_frame(std::string& to, std::uint32_t type, std::uint32_t flags, std::uint32_t stream,
                  std::size_t length) {
  append_big_24(to, static_cast<std::uint32_t>(length));
  append_byte(to, type);
  append_byte(to, flags);
  append_big_32(to, stream);
}

void append_goaway(std::string& to, std::uint32_t last_stream, Http2Error error,
                   std::string_view debug) {
  append_frame(to, kGoaway, 0, 0, 8 + debug.size());
  append_big_32(to, last_stream);
  append_big_32(to, static_cast<std::uint32_t>(error));
  append_line(to, debug);
}

// A string of HPACK (RFC 7541), not Huffman coded: a length with a prefix of 7 bits, then the
// bytes.
void append_string(std::string& to, std::string_view text) {
  std::size_t length = text.size();
  if (length < 0x7f) {
    append_byte(to, static_cast<std::uint32_t>(length));
  } else {
    append_byte(to, 0x7f);
    for (length -= 0x7f; length >= 0x80; length >>= 7) {
      append_byte(to, static_cast<std::uint32_t>(length & 0x7f) | 0x80);
    }
    append_byte(to, static_cast<std::uint32_t>(length));
  }
  to += text;
}

// A header that is kept in no table.
void append_header(std::string& to, std::string_view named, std::string_view value) {
  append_byte(to, 0);
  append_string(to, named);
  append_string(to, value);
}

std::string_view http_status(GrpcStatus status) {
  switch (status) {
    case GrpcStatus::permission_denied:
      return "403";
    case GrpcStatus::internal:
      return "500";
    case GrpcStatus::unavailable:
      return "503";
  }
  return {};
}

// On one line, and percent-encoded, as gRPC wants it.
std::string grpc_message(std::string_view text) {
  std::string line, encoded;
  append_line(line, text.substr(0, kTextBound));
  for (const char c : line) {
    if (c == '%') {
      encoded += "%25";
    } else {
      encoded += c;
    }
  }
  return encoded;
}

}  // namespace

std::string http2_settings() {
  std::string frame;
  append_frame(frame, kSettings, 0, 0, 0);
  return frame;
}

std::string http2_goaway(Http2Error error, std::string_view debug) {
  std::string frames = http2_settings();
  append_goaway(frames, 0, error, debug.substr(0, kDebugBound));
  return frames;
}

std::string http2_answer(std::uint32_t stream, GrpcStatus status, std::string_view text) {
  std::string headers;
  append_byte(headers, 8);  // ":status" of the static table, a value of its own
  append_string(headers, http_status(status));
  append_header(headers, "content-type", "application/grpc");
  append_header(headers, "grpc-status", std::to_string(static_cast<int>(status)));
  append_header(headers, "grpc-message", grpc_message(text));
  std::string frames;
  append_frame(frames, kHeaders, kEndOfStreamAndHeaders, stream, headers.size());
  frames += headers;
  append_goaway(frames, stream, Http2Error::no_error, {});
  return frames;
}

}  // namespace weir::core
