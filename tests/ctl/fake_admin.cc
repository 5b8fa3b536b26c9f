#include "tests/ctl/fake_admin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace weir::ctl {
namespace {

// The value of Content-Length in a header; 0 when there is none.
std::size_t length_in(const std::string& head) {
  constexpr std::string_view name = "Content-Length: ";
  const std::size_t at = head.find(name);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + name.size()));
}

}  // namespace

FakeAdmin::FakeAdmin()
    : folder_((std::filesystem::temp_directory_path() / "weir-ctl-XXXXXX").string()) {
  if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("cannot make " + folder_);
  socket_ = folder_ + "/admin.sock";
  start();
}

FakeAdmin::~FakeAdmin() {
  stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void FakeAdmin::start() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(socket_.begin(), socket_.end(), address.sun_path);
  listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (listening_ < 0 || ::bind(listening_, name, sizeof address) != 0 ||
      ::listen(listening_, 64) != 0 || ::pipe2(wake_, O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot listen on " + socket_);
  }
  thread_ = std::thread([this] { serve(); });
}

void FakeAdmin::stop() {
  if (!thread_.joinable()) return;
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
  ::close(listening_);
  ::unlink(socket_.c_str());
}

void FakeAdmin::answers(const std::string& request, const std::string& body, int status) {
  const std::lock_guard lock(mutex_);
  scripts_[request].push_back(
      {fmt::format("HTTP/1.1 {} Said\r\nContent-Type: application/json\r\n"
                   "Content-Length: {}\r\n\r\n{}",
                   status, body.size(), body)});
}

void FakeAdmin::sends(const std::string& request, const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  scripts_[request].push_back({.bytes = bytes, .close = true});
}

void FakeAdmin::hangs(const std::string& request) {
  const std::lock_guard lock(mutex_);
  scripts_[request].push_back({.bytes = {}, .hang = true});
}

std::vector<FakeAdmin::Seen> FakeAdmin::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::vector<std::string> FakeAdmin::requests() const {
  std::vector<std::string> all;
  for (const Seen& one : seen()) all.push_back(one.request);
  return all;
}

std::size_t FakeAdmin::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void FakeAdmin::serve() {
  std::vector<Connection> open;
  for (;;) {
    std::vector<pollfd> watched{{wake_[0], POLLIN, 0}, {listening_, POLLIN, 0}};
    for (const Connection& one : open) watched.push_back({one.descriptor, POLLIN, 0});
    ::poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) break;
    for (std::size_t i = open.size(); i-- > 0;) {
      if (watched[i + 2].revents == 0 || read_from(open[i])) continue;
      ::close(open[i].descriptor);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (watched[1].revents != 0) {
      const int accepted = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted >= 0) open.push_back({accepted, {}});
      const std::lock_guard lock(mutex_);
      ++connections_;
    }
  }
  for (const Connection& one : open) ::close(one.descriptor);
}

bool FakeAdmin::read_from(Connection& connection) {
  std::string part(64 * 1024, '\0');
  const ssize_t count = ::recv(connection.descriptor, part.data(), part.size(), 0);
  if (count <= 0) return false;
  connection.input.append(part, 0, static_cast<std::size_t>(count));
  return answer_all(connection);
}

bool FakeAdmin::answer_all(Connection& connection) {
  std::string& input = connection.input;
  for (;;) {
    const std::size_t end = input.find("\r\n\r\n");
    if (end == std::string::npos) return true;
    const std::string head = input.substr(0, end + 2);
    const std::size_t whole = end + 4 + length_in(head);
    if (input.size() < whole) return true;
    const std::size_t version = head.find(" HTTP/1.1\r\n");
    Seen seen{head.substr(0, version), input.substr(end + 4, whole - end - 4), head};
    input.erase(0, whole);
    const Script script = next_for(seen.request);
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(std::move(seen));
    }
    if (script.hang) continue;
    for (std::string_view rest = script.bytes; !rest.empty();) {
      const ssize_t sent = ::send(connection.descriptor, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (script.close) return false;
  }
}

FakeAdmin::Script FakeAdmin::next_for(const std::string& request) {
  const std::lock_guard lock(mutex_);
  const auto found = scripts_.find(request);
  if (found == scripts_.end()) {
    return {
        "HTTP/1.1 404 Said\r\nContent-Length: 66\r\n\r\n"
        R"({"error":{"code":"not_found","message":"the test did not say so"}})"};
  }
  Script script = found->second.front();
  if (found->second.size() > 1) found->second.pop_front();
  return script;
}

}  // namespace weir::ctl
