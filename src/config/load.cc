#include "weir/config/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "config/document.h"
#include "config/overlap.h"
#include "config/problems.h"
#include "config/read.h"
#include "config/text_guard.h"

namespace weir::config {
namespace {

// `orders, billing and 3 more`
std::string list_of(const Names& pools) {
  constexpr std::size_t kMostShown = 8;
  std::vector<std::string_view> shown;
  for (const auto& [name, where] : pools) {
    if (shown.size() < kMostShown) shown.push_back(name);
  }
  const std::string more =
      pools.size() > shown.size() ? fmt::format(" and {} more", pools.size() - shown.size()) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

void check_references(const Draft& draft, const Names& pools, Source& source) {
  const std::string allowed = pools.empty() ? "none is defined" : list_of(pools);
  for (const Scalar& reference : draft.pool_references) {
    if (pools.count(reference.text) != 0) continue;
    source.error(
        reference.at, reference.path,
        fmt::format("no pool is named {} (allowed: {})", in_quotes(reference.text), allowed));
  }
}

Draft read(const Node& root, Source& source, const std::string& directory) {
  Draft draft;
  const Mapping top(source, &root, "", "");
  if (!top.valid()) return draft;
  Names pools;
  read_process(top, source, directory, draft);
  read_admin(top, source, directory, draft);
  read_listeners(top, source, draft);
  read_pools(top, source, draft, pools);
  check_references(draft, pools, source);
  // Last, so that of two that overlap it is not the listener that is called wrong.
  draft.bound.insert(draft.bound.end(), draft.own.begin(), draft.own.end());
  check_overlaps(draft.bound, source);
  return draft;
}

LoadResult unreadable(std::string message) {
  LoadResult result;
  result.problems.push_back({1, 1, "", std::move(message), false});
  return result;
}

}  // namespace

Problem LoadResult::problem(std::string path, std::string message) const {
  const auto found = places.find(path);
  const auto [line, column] = found == places.end() ? std::pair{1, 1} : found->second;
  return {line, column, std::move(path), std::move(message), false};
}

LoadResult load(std::string_view text, const std::string& directory,
                const Environment& environment) {
  Problems problems;
  Source source(problems, environment);
  LoadResult result;
  if (const std::optional<Node> root = parse_document(text, problems)) {
    Draft draft = read(*root, source, directory);
    if (!problems.any_error()) result.configuration = std::move(draft.configuration);
    for (auto& [path, at] : source.take_places()) {
      result.places.emplace(path, std::pair{at.line, at.column});
    }
  }
  result.problems = problems.take();
  return result;
}

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    if (!value) return std::nullopt;
    return value;
  };
}

LoadResult load_file(const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"),
                                                               &std::fclose);
  if (!stream) return unreadable(fmt::format("cannot open the file: {}", std::strerror(errno)));
  // One byte more than is allowed, so that `load` sees that there is too much.
  std::string text(kLargestFile + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream.get()));
  if (std::ferror(stream.get()) != 0) {
    return unreadable(fmt::format("cannot read the file: {}", std::strerror(errno)));
  }
  return load(text, folder_of(file), process_environment());
}

std::string folder_of(const std::string& file) {
  if (file.empty()) return ".";
  return std::filesystem::absolute(file).parent_path().string();
}

}  // namespace weir::config
