#include "weir/core/refusal.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/refusal_codes.h"
#include "weir/core/error_messages.h"
#include "weir/core/http2_refusal.h"
#include "weir/core/postgres_messages.h"

namespace weir::core {
namespace {

struct Said {
  std::string text;
  std::string_view postgres_hint;
};

std::string write(Protocol protocol, const RefusalCodes& codes, const Said& said,
                  RefusalStage stage) {
  switch (protocol) {
    case Protocol::tcp:
      return {};
    case Protocol::postgres:
      return postgres_error({codes.postgres_sqlstate, said.text, said.postgres_hint});
    case Protocol::mysql: {
      const auto sqlstate = stage.mysql_client_is_known ? codes.mysql_sqlstate : std::string_view();
      return mysql_error({stage.mysql_sequence, codes.mysql_code, sqlstate, said.text});
    }
    case Protocol::redis:
      return redis_error(said.text);
    case Protocol::http2:
      return stage.http2_stream == 0 ? http2_goaway(codes.http2, said.text)
                                     : http2_answer(stage.http2_stream, codes.grpc, said.text);
  }
  return {};
}

}  // namespace

std::string refusal(Protocol protocol, CloseReason reason, const RefusalPlace& place,
                    RefusalStage stage) {
  const std::optional<RefusalCodes> codes = refusal_codes(reason);
  if (!codes || protocol == Protocol::tcp) return {};
  return write(protocol, *codes, {refusal_text(reason, place), {}}, stage);
}

std::string refusal_without_tls(Protocol protocol, const RefusalPlace& place, RefusalStage stage) {
  std::string text = fmt::format("weir: listener {} takes only connections with TLS ({})",
                                 place.listener, name(CloseReason::access_denied));
  const std::string_view hint = "Connect with sslmode=require or stricter.";
  return write(protocol, kRefusalWithoutTls, {std::move(text), hint}, stage);
}

}  // namespace weir::core
