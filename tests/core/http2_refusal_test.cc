#include "weir/core/http2_refusal.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/core/hex.h"

using namespace weir::core;

namespace {

using State = Http2RequestWatch::State;

const std::string kPreface = hex("'PRI * HTTP/2.0' 0d0a0d0a 'SM' 0d0a0d0a");
const std::string kSettings = hex("000006 04 00 00000000 0003 00000064");

// Fed in two segments, cut at every place, and in single bytes.
void check_every_way(const std::string& stream, State state, std::uint32_t number) {
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    CAPTURE(cut);
    Http2RequestWatch watch;
    watch.feed(std::string_view(stream).substr(0, cut));
    watch.feed(std::string_view(stream).substr(cut));
    CHECK(watch.state() == state);
    CHECK(watch.stream() == number);
  }
  Http2RequestWatch watch;
  for (const char c : stream) watch.feed(std::string_view(&c, 1));
  CHECK(watch.state() == state);
  CHECK(watch.stream() == number);
}

}  // namespace

TEST_CASE("a refusal at once is empty SETTINGS, then GOAWAY with last stream 0, an error, a text") {
  CHECK(http2_settings() == hex("000000 04 00 00000000"));
  CHECK(http2_goaway(Http2Error::enhance_your_calm, "full") ==
        hex("000000 04 00 00000000  00000c 07 00 00000000 00000000 0000000b 'full'"));
  CHECK(http2_goaway(Http2Error::no_error, "") ==
        hex("000000 04 00 00000000  000008 07 00 00000000 00000000 00000000"));
}

TEST_CASE("a GOAWAY is never longer than the frame that each client takes") {
  const std::string frames = http2_goaway(Http2Error::internal_error, std::string(20000, 'x'));
  CHECK(frames.size() == 9 + 9 + 16384);
  CHECK(frames.substr(9, 9) == hex("004000 07 00 00000000"));
}

TEST_CASE("an answer is one HEADERS that ends the stream, and GOAWAY without an error") {
  CHECK(http2_answer(5, GrpcStatus::unavailable, "full") ==
        hex("000047 01 05 00000005"
            "08 03 '503'"
            "00 0c 'content-type' 10 'application/grpc'"
            "00 0b 'grpc-status' 02 '14'"
            "00 0c 'grpc-message' 04 'full'"
            "000008 07 00 00000000 00000005 00000000"));
}

TEST_CASE("an answer's HTTP status is that of its gRPC status") {
  CHECK(http2_answer(1, GrpcStatus::permission_denied, "").substr(9, 5) == hex("08 03 '403'"));
  CHECK(http2_answer(1, GrpcStatus::internal, "").substr(9, 5) == hex("08 03 '500'"));
}

TEST_CASE("an answer's text is on one line, percent-encoded, its length as long as it takes") {
  const auto ends = [](const std::string& text, const std::string& with) {
    const std::string answer = http2_answer(1, GrpcStatus::internal, text);
    const std::size_t at = answer.size() - 17 - with.size();
    CHECK(answer.substr(at, with.size()) == with);
  };
  ends("5 %\r\n", hex("'grpc-message' 07 '5 %25  '"));
  ends(std::string(126, 'x'), hex("'grpc-message' 7e") + std::string(126, 'x'));
  ends(std::string(127, 'x'), hex("'grpc-message' 7f 00") + std::string(127, 'x'));
  ends(std::string(254, 'x'), hex("'grpc-message' 7f 7f") + std::string(254, 'x'));
  ends(std::string(255, 'x'), hex("'grpc-message' 7f 80 01") + std::string(255, 'x'));
  ends(std::string(5000, 'x'), hex("'grpc-message' 7f 81 1f") + std::string(4096, 'x'));
}

TEST_CASE("a client's request is found behind its preface and other frames, in any segments") {
  check_every_way(kPreface + kSettings + hex("000004 08 00 00000000 00001000"), State::watching, 0);
  check_every_way(kPreface + kSettings + hex("000005 01 04 00000001"), State::requested, 1);
  check_every_way(kPreface + hex("000005 01 04 80000007 82"), State::requested, 7);
}

TEST_CASE("half the head of a request is none") {
  check_every_way(kPreface + kSettings + hex("000005 01 04 000000"), State::watching, 0);
}

TEST_CASE("nothing behind the first request is looked at") {
  check_every_way(kPreface + hex("000000 01 05 00000001  ffffff 01 05 00000003"), State::requested,
                  1);
}

TEST_CASE("what is within a frame is no frame") {
  check_every_way(kPreface + hex("000009 08 00 00000000 000000 01 05 00000001"), State::watching,
                  0);
}

TEST_CASE("another preface, a longer frame than allowed, or no client's stream is malformed") {
  check_every_way("GET / HTTP/1.1\r\n", State::malformed, 0);
  check_every_way("PRI * HTTP/2.1\r\n", State::malformed, 0);
  check_every_way(kPreface + hex("004001 04 00 00000000"), State::malformed, 0);
  check_every_way(kPreface + hex("000000 01 05 00000000"), State::malformed, 0);
  check_every_way(kPreface + hex("000000 01 05 00000002"), State::malformed, 0);
  check_every_way(kPreface + hex("004000 00 00 00000001"), State::watching, 0);
}

TEST_CASE("each state of the watch for a request has a name") {
  CHECK(name(State::watching) == "watching");
  CHECK(name(State::requested) == "requested");
  CHECK(name(State::malformed) == "malformed");
}
