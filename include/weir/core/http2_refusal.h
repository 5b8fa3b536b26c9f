#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// As much of HTTP/2 (RFC 9113) as a refusal needs. What is no printable ASCII in a text is sent as
// a space.
//
// A refusal at once, SETTINGS and GOAWAY, is correct and harmful: grpcio 1.51 takes the connection
// for a good one once it sees SETTINGS, and connects again over a thousand times a second until its
// call's deadline. It shows a text only in an answer to its request, which it sends once it has the
// SETTINGS. So: http2_settings() at once, Http2RequestWatch until the request or the preface's end,
// then http2_answer().
namespace weir::core {

enum class Http2Error : std::uint32_t {
  no_error = 0x0,
  protocol_error = 0x1,
  internal_error = 0x2,
  refused_stream = 0x7,
  enhance_your_calm = 0xb,
  inadequate_security = 0xc,
};

// gRPC's codes, each with the HTTP status that stands for it: 403, 500, 503.
enum class GrpcStatus : std::uint8_t { permission_denied = 7, internal = 13, unavailable = 14 };

// A server's SETTINGS, empty, which must be its first frame.
std::string http2_settings();

// SETTINGS, and GOAWAY with last stream 0, by which a client knows that nothing of its was
// processed.
std::string http2_goaway(Http2Error error, std::string_view debug);

// A whole answer to the request on this stream, for gRPC and for others, and GOAWAY.
std::string http2_answer(std::uint32_t stream, GrpcStatus status, std::string_view text);

// Watches what a client sends, from its first byte on, for its first request. Keeps at most the
// head of a frame. Owned by one session.
class Http2RequestWatch {
 public:
  enum class State : std::uint8_t { watching, requested, malformed };

  // The next bytes, in segments of any size. Ignored once it watches no more.
  void feed(std::string_view bytes);

  State state() const { return state_; }
  bool watching() const { return state_ == State::watching; }
  std::uint32_t stream() const { return stream_; }  // 0 until requested

 private:
  void begin_frame();

  State state_ = State::watching;
  std::size_t greeted_ = 0;  // bytes of the client's preface
  std::string head_;         // of a frame
  std::size_t skip_ = 0;     // bytes of a frame that is no request
  std::uint32_t stream_ = 0;
};

std::string_view name(Http2RequestWatch::State state);

}  // namespace weir::core
