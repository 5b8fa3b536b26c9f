#include "ctl/journal.h"

#include <fmt/format.h>

#include "ctl/cells.h"
#include "ctl/request.h"

namespace weir::ctl {

std::string Journal::target() const {
  return path({"events"}) + query({{"since", std::to_string(since_)}});
}

Journal::News Journal::take(const Json& answer) {
  News news;
  const Json& next = field(answer, "next");
  if (next.is_number() && whole(next) < since_) {
    begin_anew();
    news.restarted = true;
    return news;
  }
  const std::uint64_t oldest = whole(field(answer, "oldest"));
  if (asked_ && oldest > since_ + 1) news.lost = oldest - since_ - 1;
  for (const Json& event : list(answer, "events")) {
    const std::uint64_t seq = whole(field(event, "seq"));
    const std::string ts = word(field(event, "ts"));
    const bool taken = seq <= since_ || (old_ones_ && ts <= last_ts_);
    if (seq > since_) since_ = seq;
    if (taken) continue;
    last_ts_ = ts;
    news.events.push_back(event);
  }
  old_ones_ = false;
  asked_ = true;
  return news;
}

void Journal::begin_anew() {
  since_ = 0;
  asked_ = false;
  old_ones_ = !last_ts_.empty();
}

Line event_line(const Json& event) {
  std::string subject = word(field(event, "pool"));
  if (subject == "-") subject = "weir";
  if (const Json& backend = field(event, "backend"); !backend.is_null()) {
    subject += "/" + word(backend);
  }
  const std::string cause = word(field(event, "cause"));
  return {{fmt::format("{}  {:<8}  {}  ", word(field(event, "ts")), word(field(event, "kind")),
                       subject)},
          state_cell(field(event, "to")),
          {cause == "-" ? "" : ": " + cause}};
}

}  // namespace weir::ctl
