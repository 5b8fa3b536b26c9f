#include "config/keys.h"

#include <fmt/format.h>

#include "config/document.h"
#include "config/scalars.h"
#include "tests/config/loading.h"

namespace weir::config {
namespace {

// The first value of the file at a path of the table, following the first item of each list.
const Node* value_at(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (node && !path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    const bool list = part.ends_with("[]");
    const std::string_view name = list ? part.substr(0, part.size() - 2) : part;
    const Node* value = nullptr;
    for (std::size_t i = 0; node->kind == Node::Kind::mapping && i < node->children.size();
         i += 2) {
      if (node->children[i].text == name) value = &node->children[i + 1];
    }
    if (value && list) value = value->children.empty() ? nullptr : &value->children[0];
    node = value;
  }
  return node;
}

std::string default_in_docs(const Key& key) {
  if (key.default_text == kRequired) return "required";
  return key.default_text.empty() ? "`\"\"`" : fmt::format("`{}`", key.default_text);
}

}  // namespace

TEST_CASE("conf/full.yaml shows every key at its default") {
  Problems problems;
  const std::string text = read_source_file("conf/full.yaml");
  const auto root = parse_document(text, problems);
  REQUIRE(root);
  for (const Key& key : all_keys()) {
    CAPTURE(key.path);
    if (key.path.ends_with(".first_byte_timeout")) {  // an error beside another key's default
      CHECK(text.find(fmt::format("# first_byte_timeout: {}\n", key.default_text)) !=
            std::string::npos);
      continue;
    }
    const Node* value = value_at(*root, key.path);
    REQUIRE(value);
    if (key.default_text == kRequired) continue;
    if (key.type == Type::networks) {
      CHECK(key.default_text == "[]");
      CHECK(value->kind == Node::Kind::sequence);
      CHECK(value->children.empty());
      continue;
    }
    CHECK(value->kind == Node::Kind::scalar);
    CHECK(value->text == key.default_text);
  }
}

TEST_CASE("docs/config.md says of every key its type, default, range, zero and reload class") {
  const std::string docs = read_source_file("docs/config.md");
  for (const Key& key : all_keys()) {
    const std::string row =
        fmt::format("\n| `{}` | {} | {} | {} | {} | {} | ", key.path, text(key.type),
                    default_in_docs(key), key.allowed, key.zero, text(key.reload));
    CAPTURE(row);
    CHECK(docs.find(row) != std::string::npos);
  }
}

TEST_CASE("docs/config.md has no row for a key that does not exist") {
  std::istringstream docs(read_source_file("docs/config.md"));
  std::size_t rows = 0;
  for (std::string line; std::getline(docs, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    ++rows;
    CAPTURE(line);
    CHECK(find_key(std::string_view(line).substr(3, line.find('`', 3) - 3)) != nullptr);
  }
  CHECK(rows == all_keys().size());
}

TEST_CASE("every key has one row, a reload class, and says what 0 means where there is a 0") {
  for (const Key& key : all_keys()) {
    CAPTURE(key.path);
    CHECK(find_key(key.path) == &key);
    CHECK_FALSE(text(key.reload).empty());
    CHECK_FALSE(text(key.type).empty());
    CHECK_FALSE(key.allowed.empty());
    CHECK_FALSE(key.zero.empty());
    const bool number = key.type == Type::integer || key.type == Type::duration ||
                        key.type == Type::seconds || key.type == Type::fraction ||
                        key.type == Type::workers;
    CHECK((key.zero != "-") == number);
    const bool resilience = key.path.find("resilience") != std::string_view::npos;
    if (resilience) CHECK(key.reload == ReloadClass::hot);
  }
}

TEST_CASE("the range of every number and duration holds its default") {
  for (const Key& key : all_keys()) {
    const bool integer = key.type == Type::integer;
    if (!integer && key.type != Type::duration && key.type != Type::seconds) continue;
    CAPTURE(key.path);
    const std::size_t dots = key.allowed.find("..");
    REQUIRE(dots != std::string_view::npos);
    const std::string_view least = key.allowed.substr(0, dots);
    const std::string_view most = key.allowed.substr(dots + 2);
    if (integer) {
      REQUIRE(parse_integer(least));
      REQUIRE(parse_integer(most));
      CHECK(*parse_integer(least) <= *parse_integer(key.default_text));
      CHECK(*parse_integer(key.default_text) <= *parse_integer(most));
    } else {
      REQUIRE(parse_duration(least));
      REQUIRE(parse_duration(most));
      CHECK(*parse_duration(least) <= *parse_duration(key.default_text));
      CHECK(*parse_duration(key.default_text) <= *parse_duration(most));
    }
  }
}

TEST_CASE("every choice of the table is one that the reader takes") {
  for (const Key& key : all_keys()) {
    if (key.type != Type::choice && key.type != Type::boolean) continue;
    CAPTURE(key.path);
    std::istringstream words{std::string(key.allowed)};
    for (std::string word; std::getline(words >> std::ws, word, ',');) {
      std::string_view path = key.path;
      const std::string leaf(path.substr(path.rfind('.') + 1));
      const std::string_view pool = "pools[].";
      const bool in_pool = path.starts_with(pool);
      if (in_pool) path.remove_prefix(pool.size());
      const std::size_t dot = path.find('.');
      std::string line = leaf + ": " + word;
      if (dot != std::string_view::npos) {
        line = std::string(path.substr(0, dot)) + ": {" + line + "}";
      }
      must_load(in_pool ? small_file(line) : line + "\n" + small_file());
    }
  }
}

TEST_CASE("the allowed names of a level come once each, in the order of the table") {
  using Names = std::vector<std::string_view>;
  CHECK(names_below("") ==
        Names{"workers", "admin", "http", "log", "shutdown", "listeners", "pools"});
  CHECK(names_below("log") == Names{"level", "format", "access"});
  CHECK(names_below("pools[].keepalive") == Names{"idle", "interval", "count", "user_timeout"});
  CHECK(names_below("pool").empty());
}

}  // namespace weir::config
