#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::ctl {

// A scripted admin socket: answers by method and target what the test said, on a thread of its own,
// over connections that stay open.
class FakeAdmin {
 public:
  FakeAdmin();
  ~FakeAdmin();
  FakeAdmin(const FakeAdmin&) = delete;
  FakeAdmin& operator=(const FakeAdmin&) = delete;

  const std::string& socket() const { return socket_; }

  // For `GET /v1/status`. Said several times, the answers come one after the other, and the last
  // one stays. What nobody said is answered with 404.
  void answers(const std::string& request, const std::string& body, int status = 200);
  // Exactly these bytes, and then the end of the connection.
  void sends(const std::string& request, const std::string& bytes);
  // Nothing, for ever.
  void hangs(const std::string& request);

  struct Seen {
    std::string request;  // `GET /v1/status`
    std::string body;
    std::string head;  // the lines of the header
  };
  std::vector<Seen> seen() const;
  std::vector<std::string> requests() const;
  std::size_t connections() const;

  // Nobody listens any more, and who is connected is cut; and again somebody.
  void stop();
  void start();

 private:
  struct Script {
    std::string bytes;
    bool hang = false;
    bool close = false;
  };
  struct Connection {
    int descriptor;
    std::string input;
  };

  void serve();
  // False when the connection is over.
  bool read_from(Connection& connection);
  bool answer_all(Connection& connection);
  Script next_for(const std::string& request);

  std::string folder_;
  std::string socket_;
  int listening_ = -1;
  int wake_[2] = {-1, -1};
  std::thread thread_;

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, std::deque<Script>> scripts_;
  std::vector<Seen> seen_;
  std::size_t connections_ = 0;
};

}  // namespace weir::ctl
