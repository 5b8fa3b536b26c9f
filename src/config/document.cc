#include "config/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>
#include <utility>
#include <vector>

#include "config/text_guard.h"

namespace weir::config {
namespace {

// The configuration nests 6 deep. Whoever walks the tree may recurse within this.
constexpr std::size_t kDeepest = 32;

// Ends the parsing: nothing behind this place can be read.
struct Refused : std::exception {
  Refused(Position position, std::string key_path, std::string why)
      : at(position), path(std::move(key_path)), message(std::move(why)) {}
  Position at;
  std::string path;
  std::string message;
};

struct SecondDocument : std::exception {
  explicit SecondDocument(Position position) : at(position) {}
  Position at;
};

// Marks count from 0, and -1 stands for nowhere. Columns are bytes already.
Position position(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  std::optional<Node> take() { return std::exchange(root_, std::nullopt); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    check_tag(mark, "");
    if (const std::string_view word = null_word(mark); !word.empty()) {
      add({Node::Kind::scalar, true, position(mark), std::string(word), {}});
    } else {
      add({Node::Kind::empty, false, nearest_key(position(mark)), "", {}});
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problems_.error(position(mark), path(),
                    "an alias (anchors and aliases are not accepted: write the value out)");
    add({Node::Kind::alias, false, position(mark), "", {}});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag);
    check_quotes(mark);
    add({Node::Kind::scalar, tag == "?", position(mark), value, {}});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::mapping);
  }
  void OnMapEnd() override { close(); }

 private:
  void open(const YAML::Mark& mark, const std::string& tag, Node::Kind kind) {
    check_tag(mark, tag);
    if (open_.size() == kDeepest) {
      throw Refused(position(mark), path(), fmt::format("nested too deep (at most {})", kDeepest));
    }
    open_.push_back({kind, false, position(mark), "", {}});
  }

  void close() {
    Node done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done));
  }

  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      open_.back().children.push_back(std::move(node));
    }
  }

  // A tag would have yaml-cpp or a reader see another type than the one that is written. `!` alone
  // is what yaml-cpp says of quoted text, unless somebody wrote it.
  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    const bool written = at(mark.pos) == '!' && (tag.empty() || tag == "!");
    if (!written && (tag.empty() || tag == "?" || tag == "!")) return;
    problems_.error(position(mark), path(), "a YAML tag (tags are not accepted)");
  }

  // yaml-cpp takes a quoted text that is still open at the end of the file for complete, and with
  // it all lines that it swallowed.
  void check_quotes(const YAML::Mark& mark) const {
    std::size_t start = static_cast<std::size_t>(mark.pos);
    if (at(mark.pos) == '&') {  // an anchor before the text
      start = text_.find_first_not_of(" \r\n", text_.find_first_of(" \r\n", start));
    }
    if (start >= text_.size() || (text_[start] != '"' && text_[start] != '\'')) return;
    const char quote = text_[start];
    for (std::size_t i = start + 1; i < text_.size(); ++i) {
      const bool pair = quote == '"' ? text_[i] == '\\' : text_.substr(i, 2) == "''";
      if (!pair && text_[i] == quote) return;
      if (pair) ++i;  // an escaped letter, which may be a quote
    }
    throw Refused(position(mark), "", fmt::format("not valid YAML: a {} without its end", quote));
  }

  // `null` or `~` when that is what stands at `mark`; nothing when the value is missing, and `mark`
  // is then at whatever comes next, which may be a key.
  std::string_view null_word(const YAML::Mark& mark) const {
    const auto start = static_cast<std::size_t>(mark.pos);
    for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
      if (text_.substr(start, word.size()) != word) continue;
      const std::size_t next = text_.find_first_not_of(' ', start + word.size());
      const bool is_next_key = next != std::string_view::npos && text_[next] == ':';
      if (is_next_key && !awaits_key()) continue;
      return text_.substr(start, word.size());
    }
    return {};
  }

  // Where an empty value is reported: at the key it belongs to, however many lists lie between.
  Position nearest_key(Position otherwise) const {
    for (auto node = open_.rbegin(); node != open_.rend(); ++node) {
      if (awaits_value(*node)) return node->children.back().at;
      if (node->kind == Node::Kind::mapping) return otherwise;
    }
    return otherwise;
  }

  bool awaits_key() const {
    return !open_.empty() && open_.back().kind == Node::Kind::mapping &&
           !awaits_value(open_.back());
  }

  static bool awaits_value(const Node& node) {
    return node.kind == Node::Kind::mapping && node.children.size() % 2 == 1;
  }

  std::string path() const {
    std::string result;
    for (const Node& node : open_) {
      if (node.kind == Node::Kind::sequence) result += fmt::format("[{}]", node.children.size());
      if (!awaits_value(node)) continue;
      if (!result.empty()) result += '.';
      result += node.children.back().text;
    }
    return result;
  }

  char at(int offset) const {
    const auto i = static_cast<std::size_t>(offset);
    return i < text_.size() ? text_[i] : '\0';
  }

  std::string_view text_;
  Problems& problems_;
  std::vector<Node> open_;  // the containers around the next event, outermost first
  std::optional<Node> root_;
};

// Stands where a configuration has ended.
class NothingMore : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { throw SecondDocument(position(mark)); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

void report_syntax(const YAML::Exception& error, std::string_view text, Problems& problems) {
  const auto offset = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.pos);
  // Within `{}` and `[]` the brace of an unquoted `${NAME}` opens a mapping.
  if (offset > 0 && text.substr(offset - 1, 2) == "${") {
    Position at = position(error.mark);
    --at.column;
    problems.only_error(at, "", "an unquoted ${...} inside {} or [] (write \"${...}\")");
    return;
  }
  problems.only_error(position(error.mark), "", fmt::format("not valid YAML: {}", error.msg));
}

}  // namespace

std::optional<Node> parse_document(std::string_view text, Problems& problems) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // a byte order mark is no column
  if (!guard_text(text, problems)) return std::nullopt;

  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text, problems);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    NothingMore nothing_more;
    parser.HandleNextDocument(nothing_more);
  } catch (const SecondDocument& second) {
    problems.error(second.at, "", "a second document (a configuration is one YAML document)");
  } catch (const Refused& refused) {
    problems.only_error(refused.at, refused.path, refused.message);
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    report_syntax(error, text, problems);
    return std::nullopt;
  }

  std::optional<Node> root = builder.take();
  if (!root || root->kind == Node::Kind::empty) {
    problems.error({1, 1}, "", "the file is empty (it needs at least listeners and pools)");
    return std::nullopt;
  }
  return root;
}

}  // namespace weir::config
