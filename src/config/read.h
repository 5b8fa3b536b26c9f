#pragma once

#include <string>

#include "config/draft.h"
#include "config/mapping.h"

// One function for each part of the file. They fill in what is right and report what is wrong.
namespace weir::config {

// `workers`, `log` and `shutdown`. Relative file names start at `directory`.
void read_process(const Mapping& top, Source& source, const std::string& directory, Draft& draft);

// `admin` and `http`. A relative path of a socket starts at `directory`.
void read_admin(const Mapping& top, Source& source, const std::string& directory, Draft& draft);

void read_listeners(const Mapping& top, Source& source, Draft& draft);

// Fills in `pools`, the names that listeners may refer to.
void read_pools(const Mapping& top, Source& source, Draft& draft, Names& pools);

// The `name` of a listener, pool or backend, which must differ from those in `others`, where it is
// added. Empty when missing or wrong.
std::string read_name(const Mapping& mapping, Source& source, Names& others);

// The name of a pool as a reference.
std::optional<Scalar> read_reference(const Mapping& mapping, std::string_view name, Source& source);

}  // namespace weir::config
