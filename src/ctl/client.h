#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "ctl/request.h"

namespace weir::ctl {

// How a request ended: with an answer of any status, or without one, and then why.
struct Answer {
  int status = 0;  // 0 = none came
  std::string body = {};
  std::string failure = {};  // empty when an answer came
  bool interrupted = false;  // none came because the user wanted no more
};

// Speaks HTTP/1.1 to weir's admin socket, one request after the other, over one connection as long
// as that lasts. For one thread. The only place that knows libcurl.
class Client {
 public:
  struct Options {
    std::string socket;  // not empty
    // For connecting, asking and being answered together: an operator whose weir hangs wants to
    // know so.
    std::chrono::milliseconds timeout{10'000};
    // Asked about once a second while waiting; may be empty.
    std::function<bool()> interrupted = {};
  };

  // Throws std::runtime_error when libcurl has no memory.
  explicit Client(Options options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] Answer send(const Request& request);

 private:
  struct Curl;
  std::string failure_of(int code) const;

  const Options options_;
  const std::unique_ptr<Curl> curl_;
};

}  // namespace weir::ctl
