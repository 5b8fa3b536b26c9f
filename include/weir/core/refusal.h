#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/core/close_reason.h"
#include "weir/core/protocol.h"

// How weir tells a client, in the client's own protocol, why it ends the session. Pure bytes: when
// they may be written is the caller's to know. That is as long as nothing of a backend's has been
// passed on but, to a MySQL client, its greeting; later they might land in the middle of a message.
namespace weir::core {

// Names for the text; empty where none is known yet.
struct RefusalPlace {
  std::string_view listener;
  std::string_view pool;
};

// How far the client's protocol has come.
struct RefusalStage {
  std::uint8_t mysql_sequence = 0;     // of the ERR packet: 0 before the greeting
  bool mysql_client_is_known = false;  // its capabilities were read: a SQLSTATE may be sent
  std::uint32_t http2_stream = 0;      // of its request, which is answered; 0 = none has come
};

// Empty where there is nothing to say: a protocol without a way to say it (tcp), a client that has
// left, an end that is passed on as the backend made it, or a TLS alert that has said it.
std::string refusal(Protocol protocol, CloseReason reason, const RefusalPlace& place,
                    RefusalStage stage = {});

// A client that skips TLS where the listener has `tls.required`; the reason is `access_denied`.
std::string refusal_without_tls(Protocol protocol, const RefusalPlace& place,
                                RefusalStage stage = {});

// The text in all of them, which ends with the reason's name: "weir: too many connections wait for
// pool orders (proxy_overloaded)".
std::string refusal_text(CloseReason reason, const RefusalPlace& place);

}  // namespace weir::core
