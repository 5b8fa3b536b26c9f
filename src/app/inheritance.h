#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/handover.h"
#include "weir/app/binds.h"
#include "weir/net/channel.h"

namespace weir::app {

// What a new process is given by the one that started it: listening sockets of the service manager,
// or in an upgrade those of the weir before, with which it then agrees on the moment to take over.
// One thread, before the control loop runs.
class Inheritance {
 public:
  // How a child is told that it is part of an upgrade.
  static constexpr const char* kVariable = "WEIR_UPGRADE";

  // Takes what there is. Throws std::runtime_error when an upgrade is announced and then does not
  // begin as it should.
  static std::unique_ptr<Inheritance> take();

  // Of sockets that this process has opened itself.
  static std::unique_ptr<Inheritance> of(std::vector<net::ListenSocket> sockets);

  // Of the sockets, those that nobody has taken yet.
  std::vector<Rebinding::Inherited>& sockets() { return sockets_; }
  bool is_upgrade() const { return upgrade_; }
  // Whether the files of unix sockets are weir's to remove. Those that a service manager has made
  // are not.
  bool owns_paths() const { return owns_paths_; }

  // The one before goes on, and says why.
  void refuse(const std::string& why);
  // Everything is ready but for the moment: waits until the one before accepts nobody any more.
  // If that ends before it has said all, nothing is known of it but its sockets. Throws
  // std::runtime_error when it lives and says nothing.
  State take_over();
  // We serve.
  void serves();
  // From there the one before drains, at the other end of this.
  net::Channel take_channel() { return std::move(channel_); }
  // Those that drain, the one before us last; its channel is taken by itself.
  struct Draining {
    net::Channel channel;
    Report report;
  };
  std::vector<Draining> take_draining() { return std::move(draining_); }

 private:
  Inheritance() = default;
  State outlive();

  bool upgrade_ = false;
  bool owns_paths_ = true;
  std::size_t given_ = 0;
  net::Channel channel_;
  std::vector<Rebinding::Inherited> sockets_;
  std::vector<Draining> draining_;
};

}  // namespace weir::app
