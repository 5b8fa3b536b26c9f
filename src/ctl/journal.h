#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ctl/fields.h"
#include "ctl/lines.h"

namespace weir::ctl {

// Where somebody who reads weir's journal again and again has come to. Pure.
class Journal {
 public:
  // `since`: the number of the last event that is known already; 0 = none.
  explicit Journal(std::uint64_t since = 0) : since_(since), asked_(since > 0) {}

  // The target of the next request.
  std::string target() const;

  struct News {
    std::vector<Json> events = {};  // those that are new, in order
    std::uint64_t lost = 0;         // how many came and went unseen, as the journal is bounded
    // The journal has begun anew, as weir has been restarted: to be asked again at once.
    bool restarted = false;
  };
  News take(const Json& answer);

  // weir was away and is another process now, as its pid says: its numbers mean others.
  void begin_anew();

 private:
  std::uint64_t since_;
  bool asked_;             // whether a gap after `since_` is worth a word
  std::string last_ts_;    // of the last event taken; orders as text, being RFC 3339 in UTC
  bool old_ones_ = false;  // the next answer may hold events that were taken already
};

// `2026-11-30T12:00:00.123Z  circuit   orders/pg-a  open: 3 failures in a row`
Line event_line(const Json& event);

}  // namespace weir::ctl
