#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/addresses.h"
#include "config/read.h"

namespace weir::config {
namespace {

constexpr std::size_t kSocketPathLimit = 107;  // sun_path has 108 bytes, one of them the NUL

// What is wrong with `written`, which is not empty; empty when nothing is.
std::string_view why_no_path(const Scalar& written, const std::filesystem::path& path) {
  if (written.yaml_word) return "is a boolean or null in YAML, and \"\" switches the socket off";
  if (written.text.starts_with("unix:")) return "is an address, and this is the path alone";
  const std::filesystem::path name = path.filename();
  if (name.empty() || name == "." || name == "..") return "names a folder";
  return {};
}

void read_socket(const Mapping& admin, Source& source, const std::string& directory,
                 std::string& socket) {
  const std::optional<Scalar> written = admin.scalar("socket");
  if (!written) return;
  const Key& key = admin.key("socket");
  if (written->text.empty()) {
    socket.clear();
    return;
  }
  const auto path = (std::filesystem::path(directory) / written->text).lexically_normal();
  if (const std::string_view why = why_no_path(*written, path); !why.empty()) {
    source.wrong(*written, key, why);
  } else if (path.native().size() > kSocketPathLimit) {
    source.error(written->at, written->path,
                 fmt::format("{} has {} bytes from the root on (allowed: at most {})",
                             in_quotes(written->text), path.native().size(), kSocketPathLimit));
  } else {
    socket = path.native();
  }
}

void read_mode(const Mapping& admin, Source& source, unsigned& mode) {
  const std::optional<Scalar> written = admin.scalar("mode");
  if (!written) return;
  std::string_view digits = written->text;
  const bool octal = digits.find_first_not_of("01234567") == std::string_view::npos;
  if (!octal || digits.size() < 3 || digits.size() > 4) {
    source.wrong(*written, admin.key("mode"), "is not three or four octal digits");
    return;
  }
  unsigned read = 0;
  for (const char digit : digits) read = read * 8 + static_cast<unsigned>(digit - '0');
  if (read < 0600 || read > 0777) {  // below it the owner could not connect
    source.wrong(*written, admin.key("mode"), "is out of range");
  } else {
    mode = read;
  }
}

// Whether such a user and group exist is asked at the start: a file is also checked on machines
// that do not have them.
void read_owner(const Mapping& admin, Source& source, std::string& owner) {
  const std::optional<Scalar> written = admin.scalar("owner");
  if (!written) return;
  const std::string_view text = written->text;
  if (written->yaml_word) {
    source.wrong(*written, admin.key("owner"), "is a boolean or null in YAML and must be quoted");
  } else if (text.ends_with(':') || std::count(text.begin(), text.end(), ':') > 1 ||
             text.find(' ') != std::string_view::npos) {
    source.wrong(*written, admin.key("owner"), "is not a user and a group");
  } else {
    owner = text;
  }
}

void read_listen(const Mapping& http, Source& source, Draft& draft) {
  const std::optional<Scalar> written = http.scalar("listen");
  if (!written || written->text.empty()) return;
  const auto endpoint = read_bind_address(*written, http.key("listen"), source);
  if (!endpoint) return;
  draft.configuration.app.http_listen = endpoint;
  draft.own.push_back({*endpoint, BoundAddress::kProcess, written->at, written->path});
}

}  // namespace

void read_admin(const Mapping& top, Source& source, const std::string& directory, Draft& draft) {
  app::AppOptions& app = draft.configuration.app;
  const Mapping admin = top.child("admin");
  read_socket(admin, source, directory, app.admin_socket);
  read_mode(admin, source, app.admin_mode);
  read_owner(admin, source, app.admin_owner);
  if (!app.admin_socket.empty()) {
    const Node* written = admin.find("socket");
    const Position at = written ? written->at : admin.present() ? admin.at() : top.at();
    draft.own.push_back({{core::Endpoint::Kind::unix_path, app.admin_socket, "", 0},
                         BoundAddress::kProcess,
                         at,
                         admin.path_of("socket")});
  }
  read_listen(top.child("http"), source, draft);
}

}  // namespace weir::config
