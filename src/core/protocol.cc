#include "weir/core/protocol.h"

namespace weir::core {

std::string_view name(Protocol protocol) {
  switch (protocol) {
    case Protocol::tcp:
      return "tcp";
    case Protocol::postgres:
      return "postgres";
    case Protocol::mysql:
      return "mysql";
    case Protocol::redis:
      return "redis";
    case Protocol::http2:
      return "http2";
  }
  return {};
}

}  // namespace weir::core
