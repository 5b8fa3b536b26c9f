#pragma once

#include <doctest/doctest.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tests/net/peer.h"

namespace weir::admin {

// An answer as it came over the wire.
struct Answer {
  int status = 0;                              // 0 = none came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// A client on a blocking socket that reads one answer after the other.
class HttpClient {
 public:
  explicit HttpClient(const net::SocketAddress& server) : peer_(net::connect_to(server)) {
    REQUIRE(peer_);
  }

  net::Peer& peer() { return peer_; }
  bool send(std::string_view text) { return peer_.send(text); }

  // The next answer. One to HEAD has no body, whatever its length says.
  Answer receive(bool head = false) {
    Answer answer;
    std::size_t end = 0;
    while ((end = got_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return answer;
    }
    std::string_view lines = std::string_view(got_).substr(0, end);
    answer.status = std::atoi(std::string(lines.substr(lines.find(' ') + 1, 3)).c_str());
    while (lines.find("\r\n") != std::string_view::npos) {
      lines.remove_prefix(lines.find("\r\n") + 2);
      const std::string_view line = lines.substr(0, lines.find("\r\n"));
      std::string name(line.substr(0, line.find(':')));
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      answer.headers[name] = line.substr(line.find(':') + 2);
    }
    got_.erase(0, end + 4);
    if (answer.status == 100) return answer;
    const std::size_t length = head ? 0 : std::stoul(answer.headers["content-length"]);
    while (got_.size() < length && more()) {
    }
    answer.body = got_.substr(0, length);
    got_.erase(0, length);
    return answer;
  }

  Answer ask(std::string_view method, std::string_view target, std::string_view body = {}) {
    std::string request(method);
    request.append(" ").append(target).append(" HTTP/1.1\r\nHost: weir\r\n");
    if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    request.append("\r\n").append(body);
    if (!send(request)) return {};
    return receive(method == "HEAD");
  }
  Answer get(std::string_view target) { return ask("GET", target); }

  // What is left of an answer whose beginning was read past this client, and one more after it.
  std::string rest() {
    peer_.send("GET /end HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n");
    while (more()) {
    }
    return std::exchange(got_, {});
  }

  // Whether the server has ended the connection with nothing more to say.
  bool ended() {
    if (!got_.empty()) return false;
    const std::string how = peer_.next();
    return how == "end" || how == "reset";
  }

 private:
  bool more() {
    const std::string first = peer_.receive(1);
    got_ += first;
    got_ += peer_.receive_some();
    return !first.empty();
  }

  net::Peer peer_;
  std::string got_;
};

}  // namespace weir::admin
