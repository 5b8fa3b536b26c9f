#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/net/peer.h"
#include "weir/net/loop.h"
#include "weir/net/socket_set.h"

namespace weir::net {

// A name server played by the test, on the loop it is given: it answers by the book below.
class DnsServer final : SocketWatcher {
 public:
  struct Name {
    std::vector<std::string> ipv4;
    std::vector<std::string> ipv6;
    std::uint32_t ttl = 60;
    int code = 0;                 // 2 = server failure, 3 = no such name
    std::uint32_t alias_ttl = 0;  // not 0: the name is an alias of `real.test`, which has the rest
  };

  explicit DnsServer(Loop& loop)
      : loop_(loop), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const SocketAddress any = loopback();
    REQUIRE(::bind(socket_.get(), any.generic(), any.length()) == 0);
    slot_ = loop_.sockets().add(socket_.get(), *this);
    REQUIRE(slot_ >= 0);
  }
  ~DnsServer() { loop_.sockets().remove(slot_); }
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  std::string address() const { return SocketAddress::local(socket_.get()).text(); }

  std::map<std::string, Name> names;     // anything else does not exist
  bool silent = false;                   // hears, and does not answer
  std::map<std::string, int> questions;  // for IPv4, by name

 private:
  static constexpr std::uint8_t kA = 1;
  static constexpr std::uint8_t kAaaa = 28;

  static std::string big_endian(std::uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
    return bytes;
  }

  void on_ready() override {
    for (;;) {
      std::array<std::uint8_t, 512> query{};
      sockaddr_storage from{};
      socklen_t length = sizeof from;
      auto* asker = reinterpret_cast<sockaddr*>(&from);
      const ssize_t size = ::recvfrom(socket_.get(), query.data(), query.size(), 0, asker, &length);
      if (size < 0) return;
      const std::string answer = answer_to(query, static_cast<std::size_t>(size));
      if (silent || answer.empty()) continue;
      ::sendto(socket_.get(), answer.data(), answer.size(), 0, asker, length);
    }
  }

  std::string answer_to(const std::array<std::uint8_t, 512>& query, std::size_t size) {
    std::string name;
    std::size_t at = 12;
    while (at < size && query[at] != 0) {
      if (!name.empty()) name += '.';
      name.append(reinterpret_cast<const char*>(&query[at + 1]), query[at]);
      at += query[at] + 1U;
    }
    if (at + 5 > size) return "";
    const std::uint8_t type = query[at + 2];
    const std::size_t question_end = at + 5;
    if (type == kA) ++questions[name];
    const auto known = names.find(name);
    const Name entry = known == names.end() ? Name{{}, {}, 60, 3} : known->second;

    std::string records;
    std::uint8_t count = 0;
    std::string owner{'\xc0', '\x0c'};  // the name of the question
    if (entry.alias_ttl != 0) {
      const std::string real("\x04real\x04test\0", 11);
      records += owner + std::string{0, 5, 0, 1} + big_endian(entry.alias_ttl) +
                 std::string{0, static_cast<char>(real.size())} + real;
      owner = real;
      ++count;
    }
    for (const std::string& host : type == kA ? entry.ipv4 : entry.ipv6) {
      if (type != kA && type != kAaaa) break;
      std::array<char, 16> address{};
      ::inet_pton(type == kA ? AF_INET : AF_INET6, host.c_str(), address.data());
      const std::size_t bytes = type == kA ? 4 : 16;
      records += owner + std::string{0, static_cast<char>(type), 0, 1} + big_endian(entry.ttl) +
                 std::string{0, static_cast<char>(bytes)};
      records.append(address.data(), bytes);
      ++count;
    }
    std::string answer(reinterpret_cast<const char*>(query.data()), question_end);
    answer[2] = '\x81';  // a response
    answer[3] = static_cast<char>(0x80 | entry.code);
    answer[7] = static_cast<char>(entry.code == 0 ? count : 0);  // answers
    answer[9] = answer[11] = 0;                                  // neither authority nor more
    return entry.code == 0 ? answer + records : answer;
  }

  Loop& loop_;
  Descriptor socket_;
  int slot_ = -1;
};

}  // namespace weir::net
