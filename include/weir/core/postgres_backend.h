#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/core/postgres_key.h"

// What a PostgreSQL server says, as far as weir must understand it.
namespace weir::core {

enum class PostgresSslAnswer : std::uint8_t {
  need_more,
  accepted,   // 'S': TLS begins
  refused,    // 'N'
  error,      // 'E': a server that knows no SSLRequest; its text is not to be trusted or passed on
  malformed,  // another byte, or more than the one: an injection (CVE-2021-23222)
};

// Reads a server's answer to SSLRequest from all bytes that have come before TLS was begun. Unlike
// the other readers it must see what came together with the answer: more bytes change its verdict.
PostgresSslAnswer read_postgres_ssl_answer(std::string_view bytes);

// Watches what a server sends, from its answer to the StartupMessage on, for BackendKeyData. Other
// messages are skipped by their length; memory is bounded by the longest key. Owned by one session.
class PostgresKeyWatch {
 public:
  enum class State : std::uint8_t {
    watching,
    ready,      // the first ReadyForQuery: the key, if there is one, is known
    failed,     // an ErrorResponse: there will be no session
    malformed,  // no messages of PostgreSQL's; the bytes are relayed all the same
  };

  // The next bytes, in segments of any size. Ignored once it watches no more.
  void feed(std::string_view bytes);

  State state() const { return state_; }
  bool watching() const { return state_ == State::watching; }
  // From when its message is complete; of several the last.
  const std::optional<PostgresKey>& key() const { return key_; }

 private:
  void begin_message();
  void end_key();

  State state_ = State::watching;
  std::string kept_;         // of a message's head, then of a key's body
  bool in_key_ = false;      // kept_ is of a BackendKeyData behind its head
  std::size_t missing_ = 5;  // bytes until kept_ is complete
  std::size_t skip_ = 0;     // bytes of a message that is not wanted
  std::optional<PostgresKey> key_;
};

std::string_view name(PostgresKeyWatch::State state);

}  // namespace weir::core
