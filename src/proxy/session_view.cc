#include "weir/proxy/session_view.h"

namespace weir::proxy {

std::string_view name(SessionState state) {
  switch (state) {
    case SessionState::accepted:
      return "accepted";
    case SessionState::queued:
      return "queued";
    case SessionState::dialling:
      return "dialling";
    case SessionState::relaying:
      return "relaying";
    case SessionState::parting:
      return "parting";
  }
  return {};
}

}  // namespace weir::proxy
