#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "weir/core/endpoint.h"
#include "weir/net/descriptor.h"
#include "weir/net/socket_address.h"

namespace weir::net {

// Each worker has a socket of its own on the same TCP port. The first claims the port, which fails
// when anybody else is bound to it, another weir included; the others join it.
enum class Port { claim, join };

// Whom the file of a unix socket lets connect; whoever may write to it may.
struct FileAccess {
  mode_t mode = 0600;
  std::optional<uid_t> owner = std::nullopt;  // none = whoever this process is
  std::optional<gid_t> group = std::nullopt;
};

struct ListenOptions {
  Port port = Port::claim;
  bool ipv6_only = false;  // `[::]` beside a `0.0.0.0` of its own; otherwise it is dual stack
  std::optional<FileAccess> access = std::nullopt;  // of a unix socket; none = as the umask has it
};

// A listening socket. A unix one owns its path: closing removes the file, but only while it is
// still the one that was bound here.
class ListenSocket {
 public:
  ListenSocket() = default;
  ListenSocket(ListenSocket&& other) noexcept = default;
  ListenSocket& operator=(ListenSocket&& other) noexcept;
  ~ListenSocket() { close(); }

  // Binds and listens. On failure `error` says why, in words for an operator, and the result is
  // empty. A unix path that a dead process left behind is taken over; one that somebody listens on
  // and anything that is not a socket are left alone and refused. The access asked for is in force
  // before anybody can connect, and at no moment is the file open to more.
  [[nodiscard]] static ListenSocket open(const core::Endpoint& endpoint,
                                         const ListenOptions& options, std::string& error);

  // The first half of it: whoever connects is refused, or comes to those who listen there already.
  // Until listen() a port that was claimed is not ours for certain, nor is a unix path.
  [[nodiscard]] static ListenSocket bind(const core::Endpoint& endpoint,
                                         const ListenOptions& options, std::string& error);
  // The second half; of those on one port first the one that claims it. False, and `error` says
  // why, when somebody else was quicker.
  [[nodiscard]] bool listen(std::string& error);
  bool listens() const;

  // One that another process bound and listens on, and hands over. Its path stays that one's to
  // remove until take_path(). Empty if it is no listening stream socket.
  [[nodiscard]] static ListenSocket adopt(Descriptor descriptor);

  // A second descriptor of the same socket, for another worker; it does not own the path.
  [[nodiscard]] ListenSocket share() const;
  // The path of a unix socket is ours to remove from here on, and has this access; none = as it is.
  // False, and `error` says why, when it cannot have it.
  bool take_path(const std::optional<FileAccess>& access, std::string& error);
  // It is somebody else's to remove from here on.
  void disown() { owned_path_.clear(); }
  // `[::]` that takes IPv6 only.
  bool ipv6_only() const;

  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  int fd() const { return descriptor_.get(); }
  SocketAddress address() const { return SocketAddress::local(fd()); }
  bool is_unix() const { return unix_; }

  // Lets no further handshake begin, so that the accept queue can be emptied before the close:
  // closing resets whatever still waits there (docs/adr/0001). Handshakes under way may complete. A
  // unix path is removed.
  void stop_handshakes();
  void close();

 private:
  static ListenSocket make(const core::Endpoint& endpoint, const ListenOptions& options,
                           bool listens, std::string& error);
  void own_path(const std::string& path);
  bool owns_file() const;
  void remove_path();

  Descriptor descriptor_;
  bool unix_ = false;
  std::string owned_path_;  // empty unless a unix path is ours to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace weir::net
