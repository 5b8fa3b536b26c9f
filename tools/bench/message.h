#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir::bench {

// The one thing a client ever asks: "here come `body` bytes; answer with `answer` bytes". A small
// request is a header alone, a download has a large answer, an upload a large body, so one backend
// serves every workload. Both ends are this program on this machine: no byte order.
struct Message {
  std::uint64_t body = 0;
  std::uint64_t answer = 1;  // at least one, which is how the client knows that the body arrived
};

// Padded: 64 bytes is the size of a small request, such as a key-value GET.
constexpr std::size_t kHeaderBytes = 64;
using Header = std::array<char, kHeaderBytes>;

inline Header encode(const Message& message) {
  Header header{};
  std::memcpy(header.data(), &message, sizeof message);
  return header;
}

inline Message decode(const Header& header) {
  Message message;
  std::memcpy(&message, header.data(), sizeof message);
  return message;
}

}  // namespace weir::bench
