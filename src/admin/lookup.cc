#include "admin/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "admin/router.h"

namespace weir::admin {
namespace {

// As many names as help; a pool may have a thousand backends.
constexpr std::size_t kMostNames = 20;

template <typename Item>
std::string names_of(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items) {
    if (std::find(names.begin(), names.end(), item.name) == names.end()) names.push_back(item.name);
  }
  const std::size_t all = names.size();
  if (all == 0) return "none";
  names.resize(std::min(all, kMostNames));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     all > kMostNames ? fmt::format(" and {} more", all - kMostNames) : "");
}

}  // namespace

const Snapshot::Pool& find_pool(const Snapshot& snapshot, const std::string& name) {
  const Snapshot::Pool* found = nullptr;
  for (const Snapshot::Pool& each : snapshot.pools) {
    if (each.name == name && (found == nullptr || found->removed)) found = &each;
  }
  if (found != nullptr) return *found;
  not_found(fmt::format("no pool is named {}; pools are {}", name, names_of(snapshot.pools)));
}

const Snapshot::Backend& find_backend(const Snapshot::Pool& pool, const std::string& name) {
  const Snapshot::Backend* found = nullptr;
  for (const Snapshot::Backend& each : pool.backends) {
    if (each.name == name && (found == nullptr || found->removed)) found = &each;
  }
  if (found != nullptr) return *found;
  not_found(fmt::format("pool {} has no backend named {}; its backends are {}", pool.name, name,
                        names_of(pool.backends)));
}

const Snapshot::Listener& find_listener(const Snapshot& snapshot, const std::string& name) {
  const auto found = std::find_if(snapshot.listeners.begin(), snapshot.listeners.end(),
                                  [&name](const auto& each) { return each.name == name; });
  if (found != snapshot.listeners.end()) return *found;
  not_found(
      fmt::format("no listener is named {}; listeners are {}", name, names_of(snapshot.listeners)));
}

BackendPath parse_backend_path(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {"", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

std::uint64_t parse_number(std::string_view what, std::string_view text, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (whole && number >= least && number <= most) return number;
  bad_request(fmt::format("{} is a number from {} to {}, not '{}'", what, least, most, text));
}

}  // namespace weir::admin
