#pragma once

#include <optional>
#include <string>

#include "tests/e2e/folder.h"
#include "tests/e2e/service.h"

namespace weir::e2e {

// A backend that keeps its address while it dies, comes back, or hangs. At first nobody listens. A
// unix socket: what hangs there is decided as soon as the script wants it, and not when the
// kernel's next SYN is due.
class FickleBackend {
 public:
  FickleBackend();

  const std::string& address() const { return address_; }

  // Dials are refused. The sessions of a Service end as well, accepted streams live on.
  void die();
  // From now on, instead of whatever it was:
  Service& serve();
  Backend& listen();
  Backend& hang();  // as after fill_queue()

 private:
  const Folder folder_;
  const std::string address_;
  std::optional<Service> service_;
  std::optional<Backend> backend_;
};

}  // namespace weir::e2e
