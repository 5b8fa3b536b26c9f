#include <fmt/format.h>

#include "config/read.h"
#include "config/scalars.h"

namespace weir::config {

std::string read_name(const Mapping& mapping, Source& source, Names& others) {
  const std::optional<Scalar> written = mapping.required_scalar("name");
  if (!written) return "";
  const Key& key = mapping.key("name");
  const auto [other, is_new] = others.emplace(written->text, *written);
  if (written->yaml_word) {
    source.wrong(*written, key, "is a boolean or null in YAML and must be quoted");
    return "";
  }
  if (!is_name(written->text)) {
    source.wrong(*written, key, "is not a name");
    return "";
  }
  if (!is_new) {
    const std::string_view first = other->second.path;
    source.error(written->at, written->path,
                 fmt::format("{} is the name of {} on line {} already (each name once)",
                             in_quotes(written->text), first.substr(0, first.rfind('.')),
                             other->second.at.line));
  }
  return written->text;
}

std::optional<Scalar> read_reference(const Mapping& mapping, std::string_view name,
                                     Source& source) {
  std::optional<Scalar> written = mapping.required_scalar(name);
  if (!written || !written->yaml_word) return written;
  source.wrong(*written, mapping.key(name), "is a boolean or null in YAML and must be quoted");
  return std::nullopt;
}

}  // namespace weir::config
