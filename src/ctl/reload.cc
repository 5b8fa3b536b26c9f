#include "ctl/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace weir::ctl {
namespace {

struct FileText {
  std::string text = {};
  std::string failure = {};
};

FileText read_file(const std::string& name, std::FILE* standard_input) {
  FileText read;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
      name == "-" ? nullptr : std::fopen(name.c_str(), "rbe"), &std::fclose);
  std::FILE* file = name == "-" ? standard_input : opened.get();
  std::string part(64 * 1024, '\0');
  std::size_t count = 0;
  while (file != nullptr && (count = std::fread(part.data(), 1, part.size(), file)) > 0) {
    read.text.append(part, 0, count);
  }
  if (file == nullptr || std::ferror(file) != 0) {
    read.failure = fmt::format("cannot read {}: {}", name, std::generic_category().message(errno));
  } else if (read.text.empty()) {
    // An empty body asks weir for its own file, which is not what was meant.
    read.failure = fmt::format("{} is empty", name);
  }
  return read;
}

// Sends FILE, if there is one, and shows what changes or what is wrong with it.
int submit(const Call& call, std::string_view verb, std::string (*after)(const Json& body)) {
  const bool own = !call.has("FILE");
  std::string name = call.value("FILE");
  Request request{Method::post, path({verb})};
  if (!own) {
    FileText read = read_file(name, call.shell.in);
    if (!read.failure.empty()) {
      complain(call.shell, read.failure);
      return kFailed;
    }
    request.body = std::move(read.text);
  }
  if (name == "-") name = "stdin";
  const Reply reply = fetch(call.client, request);
  // weir's own file, whose name weir knows.
  if (own) name = field(reply.body, "file").is_string() ? word(field(reply.body, "file")) : "FILE";

  const Json& errors = list(reply.body, "errors");
  if (!reply.succeeded() && errors.empty()) return refuse(call, reply);
  if (call.json) say(call.shell, json_text(reply.body));
  for (const std::string& text : problem_texts(list(reply.body, "warnings"), name, true)) {
    fmt::print(call.shell.err, "{}\n", text);
  }
  for (const std::string& text : problem_texts(errors, name, false)) {
    fmt::print(call.shell.err, "{}\n", text);
  }
  if (!errors.empty()) return kFailed;
  if (!call.json) {
    say(call.shell, text_of(change_lines(reply.body), call.shell.colours) + after(reply.body));
  }
  return kDone;
}

std::string keys_text(const Json& change) {
  std::string text;
  for (const Json& key : list(change, "keys")) {
    text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : ", ", word(field(key, "key")),
                        word(field(key, "from")), word(field(key, "to")));
  }
  return text;
}

std::string kept_text(const Json& changes) {
  std::string text;
  for (const std::string_view kind : {"listener", "pool", "backend"}) {
    const auto count = std::count_if(changes.begin(), changes.end(), [&](const Json& change) {
      return word(field(change, "action")) == "kept" && word(field(change, "kind")) == kind;
    });
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + plural(static_cast<std::uint64_t>(count), kind);
  }
  return "kept: " + (text.empty() ? "nothing" : text);
}

}  // namespace

int plan(const Call& call) {
  return submit(call, "plan", [](const Json&) { return std::string(); });
}

int reload(const Call& call) {
  return submit(call, "reload", [](const Json& body) {
    return fmt::format("reloaded, generation {}\n", word(field(body, "config_generation")));
  });
}

std::vector<Line> change_lines(const Json& body) {
  const Json& changes = list(body, "changes");
  std::vector<Line> lines{{{kept_text(changes)}}};
  for (const Json& change : changes) {
    const std::string action = word(field(change, "action"));
    if (action == "kept") continue;
    const bool costs = action == "drained" || action == "reset" || action == "rebound";
    const std::string keys = keys_text(change);
    // The process has no name of its own.
    const Json& name = field(change, "name");
    const bool named = name.is_string() && !name.get_ref<const std::string&>().empty();
    lines.push_back(
        {{fmt::format("{:<8}", action), costs ? Mark::warning : Mark::plain},
         {fmt::format("  {}{}{}", word(field(change, "kind")), named ? " " + word(name) : "",
                      keys.empty() ? "" : "  " + keys)}});
  }
  return lines;
}

std::vector<std::string> problem_texts(const Json& problems, const std::string& file,
                                       bool warnings) {
  std::vector<std::string> texts;
  for (const Json& problem : problems) {
    const std::string_view kind = warnings ? "warning: " : "";
    if (!problem.is_object()) {
      texts.push_back(fmt::format("{}: {}{}", file, kind, word(problem)));
      continue;
    }
    const Json& path = field(problem, "path");
    texts.push_back(fmt::format(
        "{}:{}:{}: {}{}{}", file, word(field(problem, "line")), word(field(problem, "column")),
        kind, word(path) == "-" ? "" : word(path) + ": ", word(field(problem, "message"))));
  }
  return texts;
}

}  // namespace weir::ctl
