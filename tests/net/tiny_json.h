#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {

// Just enough of RFC 8259 to hold weir's output against it, and strict: what is not JSON throws.
struct Json {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  std::string text;  // of a text, or a number or boolean as written
  std::vector<Json> items;
  std::vector<std::string> names;  // of an object's members, in their order
  std::vector<Json> values;        // of the same

  const Json& operator[](const std::string& key) const;
  bool has(const std::string& key) const;
  std::vector<std::string> keys() const;
  double number() const;
  std::uint64_t count() const { return std::stoull(text); }
};

inline const Json& Json::operator[](const std::string& key) const {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == key) return values[i];
  }
  throw std::out_of_range("no " + key);
}

inline bool Json::has(const std::string& key) const {
  return std::find(names.begin(), names.end(), key) != names.end();
}

inline std::vector<std::string> Json::keys() const { return names; }

inline double Json::number() const {
  if (kind != Kind::number) throw std::runtime_error(text + " is no number");
  return std::stod(text);
}

class JsonReader {
 public:
  static Json read(std::string_view text) {
    JsonReader reader(text);
    Json value = reader.value();
    reader.space();
    if (!reader.rest_.empty()) throw std::runtime_error("text after the value");
    return value;
  }

 private:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  void space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  char peek() const {
    if (rest_.empty()) throw std::runtime_error("the text ends early");
    return rest_[0];
  }
  char take() {
    const char c = peek();
    rest_.remove_prefix(1);
    return c;
  }
  void expect(char wanted) {
    const char c = take();
    if (c != wanted) throw std::runtime_error(std::string("unexpected ") + c);
  }
  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  Json value() {
    space();
    Json result;
    const char c = peek();
    if (c == '{') return object();
    if (c == '[') return list();
    if (c == '"') {
      result.kind = Json::Kind::text;
      result.text = string();
    } else if (take_word("true") || take_word("false")) {
      result.kind = Json::Kind::boolean;
      result.text = c == 't' ? "true" : "false";
    } else if (!take_word("null")) {
      result.kind = Json::Kind::number;
      result.text = number();
    }
    return result;
  }

  std::string number() {
    std::string digits;
    while (!rest_.empty() && (std::isdigit(static_cast<unsigned char>(rest_[0])) != 0 ||
                              std::string_view("+-.eE").find(rest_[0]) != std::string_view::npos)) {
      digits += take();
    }
    std::size_t used = 0;
    static_cast<void>(std::stod(digits, &used));  // throws for what is no number
    if (used != digits.size()) throw std::runtime_error(digits + " is no number");
    return digits;
  }

  std::string string() {
    std::string result;
    expect('"');
    for (char c = take(); c != '"'; c = take()) {
      if (static_cast<unsigned char>(c) < 0x20)
        throw std::runtime_error("a bare control character");
      result += c == '\\' ? escape() : std::string(1, c);
    }
    return result;
  }

  std::string escape() {
    static const std::map<char, char> simple{{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                                             {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};
    const char c = take();
    if (c != 'u') return std::string(1, simple.at(c));
    std::string digits;
    for (int i = 0; i < 4; ++i) digits += take();
    return std::string(1, static_cast<char>(std::stoi(digits, nullptr, 16)));  // ASCII only
  }

  Json object() {
    Json result;
    result.kind = Json::Kind::object;
    expect('{');
    for (space(); peek() != '}'; space()) {
      if (!result.names.empty()) expect(',');
      space();
      std::string key = string();
      if (result.has(key)) throw std::runtime_error(key + " twice");
      space();
      expect(':');
      result.names.push_back(std::move(key));
      result.values.push_back(value());
    }
    expect('}');
    return result;
  }

  Json list() {
    Json result;
    result.kind = Json::Kind::list;
    expect('[');
    for (space(); peek() != ']'; space()) {
      if (!result.items.empty()) expect(',');
      result.items.push_back(value());
    }
    expect(']');
    return result;
  }

  std::string_view rest_;
};

}  // namespace weir
