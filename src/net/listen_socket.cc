#include "weir/net/listen_socket.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "weir/net/socket.h"

namespace weir::net {
namespace {

// Connections that may wait for accept; the kernel cuts it to net.core.somaxconn.
constexpr int kBacklog = 4096;

std::string reason(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

void share_port(int fd) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
}

// Whether somebody accepts on the unix path. A full backlog counts as alive.
bool somebody_listens(const SocketAddress& address) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return true;  // cannot tell, so leave it alone
  if (::connect(probe.get(), address.generic(), address.length()) == 0) return true;
  return errno != ECONNREFUSED && errno != ENOENT;
}

// Anybody who may read the folder can hold its lock for ever: wait a second for other starting
// instances, who hold it for a moment.
bool lock_in_time(int folder) {
  constexpr int kTries = 100;
  for (int tries = 0; tries < kTries; ++tries) {
    if (::flock(folder, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::poll(nullptr, 0, 10);
  }
  errno = EWOULDBLOCK;
  return false;
}

// Makes room for a bind to `path`, or says why not. The caller holds the folder's lock, so that of
// two processes that find the same stale file only one removes it, and never the other's new one.
bool clear_stale_path(const std::string& path, const SocketAddress& address, std::string& error) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return true;
  if (!S_ISSOCK(found.st_mode)) {
    error = "the file exists and is not a socket";
    return false;
  }
  if (somebody_listens(address)) {
    error = "another process listens on this socket";
    return false;
  }
  if (::unlink(path.c_str()) == 0) return true;
  error = reason("cannot remove the stale socket");
  return false;
}

// Gives the file its owner and its mode. It is still what was bound, even in a folder that others
// may write to: the descriptor says which file is meant, and a link is not followed.
bool set_access(const std::string& path, const FileAccess& access, std::string& error) {
  const Descriptor file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISSOCK(found.st_mode)) {
    error = "the socket's file is not there any more";
    return false;
  }
  const uid_t owner = access.owner.value_or(static_cast<uid_t>(-1));
  const gid_t group = access.group.value_or(static_cast<gid_t>(-1));
  if (::fchownat(file.get(), "", owner, group, AT_EMPTY_PATH) != 0) {
    error = reason("cannot give the socket its owner");
    return false;
  }
  // fchmod refuses a descriptor of O_PATH.
  const std::string itself = "/proc/self/fd/" + std::to_string(file.get());
  if (::chmod(itself.c_str(), access.mode) != 0) {
    error = reason("cannot give the socket its mode");
    return false;
  }
  return true;
}

}  // namespace

ListenSocket& ListenSocket::operator=(ListenSocket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::move(other.descriptor_);
    unix_ = other.unix_;
    owned_path_ = std::exchange(other.owned_path_, {});
    device_ = other.device_;
    inode_ = other.inode_;
  }
  return *this;
}

ListenSocket ListenSocket::bind(const core::Endpoint& endpoint, const ListenOptions& options,
                                std::string& error) {
  return make(endpoint, options, false, error);
}

ListenSocket ListenSocket::open(const core::Endpoint& endpoint, const ListenOptions& options,
                                std::string& error) {
  return make(endpoint, options, true, error);
}

// A unix socket that is opened in one go listens before its folder's lock is given back.
ListenSocket ListenSocket::make(const core::Endpoint& endpoint, const ListenOptions& options,
                                bool listens, std::string& error) {
  ListenSocket opened;
  const SocketAddress address = SocketAddress::from(endpoint);
  if (!address) {
    error = "not a local address";
    return {};
  }
  opened.unix_ = address.family() == AF_UNIX;
  opened.descriptor_ =
      Descriptor(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!opened.descriptor_) {
    error = reason("socket");
    return {};
  }

  Descriptor folder;  // holds the lock until the path is bound
  if (opened.unix_) {
    folder =
        Descriptor(::open(folder_of(endpoint.host).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || !lock_in_time(folder.get())) {
      error = reason(folder_of(endpoint.host).c_str());
      return {};
    }
    if (!clear_stale_path(endpoint.host, address, error)) return {};
    // The file is made with the socket's mode less the umask: nobody's, until the owner is right.
    if (options.access && ::fchmod(opened.fd(), 0) != 0) {
      error = reason("cannot set the socket's mode");
      return {};
    }
  } else {
    const int on = 1;
    const int only = options.ipv6_only ? 1 : 0;
    ::setsockopt(opened.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (options.port == Port::join) share_port(opened.fd());
    if (address.family() == AF_INET6) {
      ::setsockopt(opened.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    }
    // Inherited by what is accepted: small segments go at once, urgent bytes stay in their place.
    ::setsockopt(opened.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(opened.fd(), SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
  }

  if (::bind(opened.fd(), address.generic(), address.length()) != 0) {
    error = reason("cannot bind");
    return {};
  }
  if (opened.unix_) {
    opened.own_path(endpoint.host);
    // Nobody gets in before listen().
    if (options.access && !set_access(endpoint.host, *options.access, error)) return {};
  }
  if (listens && !opened.listen(error)) return {};
  return opened;
}

bool ListenSocket::listen(std::string& error) {
  if (::listen(fd(), kBacklog) != 0) {
    error = reason("cannot listen");
    return false;
  }
  // Until now it looked like one that a dead process left behind, and may have been taken for it.
  if (!owned_path_.empty() && !owns_file()) {
    error = "another process has taken the path";
    return false;
  }
  // Only now may others join: with SO_REUSEADDR two sockets may be bound to one port, and it is
  // listen() that lets only one of them have it.
  if (!unix_) share_port(fd());
  return true;
}

bool ListenSocket::listens() const {
  int listens = 0;
  socklen_t length = sizeof listens;
  return ::getsockopt(fd(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0;
}

ListenSocket ListenSocket::adopt(Descriptor descriptor) {
  ListenSocket adopted;
  adopted.descriptor_ = std::move(descriptor);
  if (!adopted.listens()) return {};
  const int flags = ::fcntl(adopted.fd(), F_GETFL);
  ::fcntl(adopted.fd(), F_SETFL, flags | O_NONBLOCK);
  ::fcntl(adopted.fd(), F_SETFD, FD_CLOEXEC);
  const SocketAddress address = adopted.address();
  adopted.unix_ = address.family() == AF_UNIX;
  if (adopted.unix_) return adopted;
  const int on = 1;
  ::setsockopt(adopted.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(adopted.fd(), SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
  share_port(adopted.fd());
  return adopted;
}

void ListenSocket::own_path(const std::string& path) {
  struct stat bound {};
  if (path.empty() || ::lstat(path.c_str(), &bound) != 0) return;
  owned_path_ = path;
  device_ = bound.st_dev;
  inode_ = bound.st_ino;
}

bool ListenSocket::take_path(const std::optional<FileAccess>& access, std::string& error) {
  if (!unix_) return true;
  const SocketAddress bound = address();
  own_path(reinterpret_cast<const sockaddr_un*>(bound.generic())->sun_path);
  return owned_path_.empty() || !access || set_access(owned_path_, *access, error);
}

bool ListenSocket::ipv6_only() const {
  int only = 0;
  socklen_t length = sizeof only;
  return ::getsockopt(fd(), IPPROTO_IPV6, IPV6_V6ONLY, &only, &length) == 0 && only != 0;
}

ListenSocket ListenSocket::share() const {
  ListenSocket shared;
  shared.descriptor_ = Descriptor(::fcntl(fd(), F_DUPFD_CLOEXEC, 3));
  shared.unix_ = unix_;
  return shared;
}

void ListenSocket::stop_handshakes() {
  if (!unix_) {
    // The filter sees a segment from its TCP header on; the flags are its 14th byte.
    constexpr std::uint32_t kFlags = 13;
    constexpr std::uint32_t kSynAndAck = 0x12;
    constexpr std::uint32_t kSyn = 0x02;
    sock_filter drop_syn[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlags),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kSynAndAck),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kSyn, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    const sock_fprog program{std::size(drop_syn), drop_syn};
    ::setsockopt(fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  }
  remove_path();
}

void ListenSocket::close() {
  remove_path();
  descriptor_.reset();
}

void ListenSocket::remove_path() {
  if (owned_path_.empty()) return;
  const Descriptor folder(
      ::open(folder_of(owned_path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::flock(folder.get(), LOCK_EX | LOCK_NB);  // whoever holds it: the inode decides
  if (owns_file()) ::unlink(owned_path_.c_str());
  owned_path_.clear();
}

bool ListenSocket::owns_file() const {
  struct stat found {};
  return ::lstat(owned_path_.c_str(), &found) == 0 && found.st_dev == device_ &&
         found.st_ino == inode_;
}

}  // namespace weir::net
