#include "tests/config/expect_problem.h"

namespace weir::config {
namespace {

app::AppOptions app_of(const std::string& lines) { return must_load(lines + small_file()).app; }

// The value stands in line 1.
BadFile bad(const char* line, int column, const char* path, const char* message) {
  return {line, std::string(line) + "\n" + small_file(), 1, column, path, message};
}

}  // namespace

TEST_CASE("the admin socket is a path, relative to the file's folder, or nothing") {
  CHECK(app_of("admin: {socket: /run/x/a.sock}\n").admin_socket == "/run/x/a.sock");
  CHECK(app_of("admin: {socket: a.sock}\n").admin_socket == "/etc/weir/a.sock");
  CHECK(app_of("admin: {socket: ../a.sock}\n").admin_socket == "/etc/a.sock");
  CHECK(app_of("admin: {socket: \"off\"}\n").admin_socket == "/etc/weir/off");
  CHECK(app_of("admin: {socket: \"\"}\n").admin_socket.empty());
  CHECK(app_of("admin: {mode: 600}\n").admin_socket == "/run/weir/admin.sock");
  const char* path = "admin.socket";
  check_refused({
      bad("admin: {socket: off}", 17, path, "boolean or null in YAML, and \"\" switches"),
      bad("admin: {socket: \"unix:/run/a\"}", 17, path, "is an address, and this is the path"),
      bad("admin: {socket: /run/weir/}", 17, path, "names a folder"),
      bad("admin: {socket: ..}", 17, path, "names a folder"),
      bad("admin: {socket:}", 9, path, "no value"),
  });
}

TEST_CASE("the admin socket's path has at most 107 bytes, counted from the root on") {
  const std::string longest = "/" + std::string(106, 'a');
  CHECK(app_of("admin: {socket: " + longest + "}\n").admin_socket == longest);
  check_refused({"absolute", "admin: {socket: " + longest + "a}\n" + small_file(), 1, 17,
                 "admin.socket", "has 108 bytes from the root on (allowed: at most 107)"});
  // `/etc/weir/` is in front of it.
  CHECK(app_of("admin: {socket: " + std::string(97, 'a') + "}\n").admin_socket.size() == 107);
  check_refused({"relative", "admin: {socket: " + std::string(98, 'a') + "}\n" + small_file(), 1,
                 17, "admin.socket", "has 108 bytes"});
}

TEST_CASE("the admin socket's mode is octal, with or without quotes, and the owner may connect") {
  CHECK(app_of("admin: {mode: 0660}\n").admin_mode == 0660);
  CHECK(app_of("admin: {mode: \"0777\"}\n").admin_mode == 0777);
  CHECK(app_of("admin: {mode: 640}\n").admin_mode == 0640);
  const char* path = "admin.mode";
  for (const char* value : {"0o600", "60", "00600", "\"\"", "rw-------", "0x180", "0680", "-600"}) {
    check_refused({value, "admin: {mode: " + std::string(value) + "}\n" + small_file(), 1, 15, path,
                   "is not three or four octal digits (allowed: 0600..0777)"});
  }
  for (const char* value : {"0577", "000", "0400", "1777", "7777"}) {
    check_refused({value, "admin: {mode: " + std::string(value) + "}\n" + small_file(), 1, 15, path,
                   "is out of range"});
  }
}

TEST_CASE("the admin socket's owner is a user, a group or both, whether they exist or not") {
  for (const char* owner :
       {"nobody-here", "nobody-here:adm", ":no.such_group", "1000:1000", "no"}) {
    CHECK(app_of("admin: {owner: \"" + std::string(owner) + "\"}\n").admin_owner == owner);
  }
  CHECK(app_of("admin: {owner: \"\"}\n").admin_owner.empty());
  for (const char* owner : {"\":\"", "\"weir:\"", "\"a:b:c\"", "\"a b\""}) {
    check_refused({owner, "admin: {owner: " + std::string(owner) + "}\n" + small_file(), 1, 16,
                   "admin.owner", "is not a user and a group (allowed: user, user:group"});
  }
  check_refused(bad("admin: {owner: no}", 16, "admin.owner", "must be quoted"));
}

TEST_CASE("http.listen is an address to listen at, or nothing") {
  CHECK(app_of("http: {listen: \"[::1]:5\"}\n").http_listen->text() == "[::1]:5");
  CHECK(app_of("http: {listen: \"unix:/run/h\"}\n").http_listen->text() == "unix:/run/h");
  CHECK_FALSE(app_of("http: {listen: \"\"}\n").http_listen);
  const char* path = "http.listen";
  check_refused({
      bad("http: {listen: \"localhost:5\"}", 16, path, "listens at addresses only"),
      bad("http: {listen: 9180}", 16, path, "the port is missing"),
      bad("http: {listen: [\"127.0.0.1:5\"]}", 16, path, "a list where a single value belongs"),
  });
}

TEST_CASE("where a listener listens is no place for http.listen") {
  const char* path = "http.listen";
  check_refused({
      bad("http: {listen: \"127.0.0.1:1\"}", 16, path,
          "\"127.0.0.1:1\" overlaps 127.0.0.1:1 of listeners[0].bind[0] on line 4"),
      bad("http: {listen: \"0.0.0.0:1\"}", 16, path, "overlaps 127.0.0.1:1"),
      bad("http: {listen: \"[::]:1\"}", 16, path, "overlaps 127.0.0.1:1"),
  });
  CHECK(app_of("http: {listen: \"127.0.0.1:2\"}\n").http_listen);
  CHECK(app_of("http: {listen: \"[::1]:1\"}\n").http_listen);
  // It comes after the listeners in this file, and is named all the same.
  check_refused({"below", small_file() + "http: {listen: \"127.0.0.1:1\"}\n", 8, 16, path,
                 "overlaps 127.0.0.1:1 of listeners[0].bind[0]"});
  // [::] beside 0.0.0.0 is for IPv6 alone only within one listener.
  const std::string any = with_listeners("  - {name: l, pool: p, bind: [\"0.0.0.0:5\"]}\n");
  check_refused(
      {"two families", any + "http: {listen: \"[::]:5\"}\n", 4, 16, path, "overlaps 0.0.0.0:5"});
}

TEST_CASE("the admin socket has its path to itself") {
  const auto at = [](const std::string& path) {
    return with_listeners("  - {name: l, pool: p, bind: [\"unix:" + path + "\"]}\n");
  };
  check_refused({
      {"written", at("/run/a") + "admin: {socket: /run/a}\n", 4, 17, "admin.socket",
       "\"unix:/run/a\" overlaps unix:/run/a of listeners[0].bind[0] on line 3"},
      {"default", at("/run/weir/admin.sock"), 1, 1, "admin.socket", "overlaps"},
      {"default, in admin", at("/run/weir/admin.sock") + "admin:\n  mode: 600\n", 5, 3,
       "admin.socket", "overlaps"},
      bad("http: {listen: \"unix:/run/weir/admin.sock\"}", 16, "http.listen",
          "overlaps unix:/run/weir/admin.sock of admin.socket"),
  });
  must_load(at("/run/weir/admin.sock") + "admin: {socket: \"\"}\n");
}

}  // namespace weir::config
