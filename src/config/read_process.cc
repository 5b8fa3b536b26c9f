#include <filesystem>

#include "config/read.h"
#include "config/scalars.h"

namespace weir::config {
namespace {

void read_workers(const Mapping& top, Source& source, int& workers) {
  const std::optional<Scalar> written = top.scalar("workers");
  if (!written || written->text == "auto") return;
  constexpr std::uint64_t kMost = 256;  // as the table says; far more than the CPUs of a machine
  const std::optional<std::uint64_t> number = parse_integer(written->text);
  if (!number) {
    source.wrong(*written, top.key("workers"), "is neither auto nor a whole number");
  } else if (*number < 1 || *number > kMost) {
    source.wrong(*written, top.key("workers"), "is out of range");
  } else {
    workers = static_cast<int>(*number);
  }
}

void read_access_log(const Mapping& log, Source& source, const std::string& directory,
                     std::string& access_log) {
  const std::optional<Scalar> written = log.scalar("access");
  if (!written) return;
  if (written->text.empty()) {
    source.wrong(*written, log.key("access"), "names no file");
  } else if (written->text == "stdout" || written->text == "off") {
    access_log = written->text;
  } else if (written->text == "stderr") {
    source.wrong(*written, log.key("access"), "is where the leveled log goes");
  } else if (written->yaml_word) {
    // Somebody who writes `no` wants no log, not a file of this name.
    source.wrong(*written, log.key("access"), "is a boolean or null in YAML");
  } else {
    access_log = (std::filesystem::path(directory) / written->text).lexically_normal().string();
  }
}

}  // namespace

void read_process(const Mapping& top, Source& source, const std::string& directory, Draft& draft) {
  app::AppOptions& app = draft.configuration.app;
  read_workers(top, source, app.workers);

  const Mapping log = top.child("log");
  log.choice("level", app.log.level, kLogLevels);
  log.choice("format", app.log.format, kLogFormats);
  read_access_log(log, source, directory, app.access_log);

  top.child("shutdown").duration("deadline", app.shutdown_deadline);
}

}  // namespace weir::config
