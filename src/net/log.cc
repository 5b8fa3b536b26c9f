#include "weir/net/log.h"

#include <fcntl.h>
#include <spdlog/async.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "net/patient_writer.h"
#include "weir/core/json.h"

namespace weir::net {
namespace {

// Lines that may wait for a slow stderr.
constexpr std::size_t kQueue = 8192;

// stderr may be a pipe that nobody reads. Used by the one thread of the pool.
class StderrSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit StderrSink(std::shared_ptr<PatientWriter> to) : to_(std::move(to)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    int error = 0;
    (void)to_->write({line.data(), line.size()}, error);  // nobody is left to tell
  }
  void flush_() override {}

  std::shared_ptr<PatientWriter> to_;
};

struct Log {
  // Shared by those who log, so that none is in the middle of a line when the writer goes: whoever
  // lets go of it last has to wait for all that is queued.
  std::shared_mutex mutex;
  std::shared_ptr<PatientWriter> out;
  std::shared_ptr<spdlog::details::thread_pool> writer;
  std::shared_ptr<spdlog::logger> text;
  std::shared_ptr<spdlog::logger> json;
  std::shared_ptr<spdlog::logger> raw;
};

// Set by start_log, while no other thread logs.
Log& the_log() {
  static Log log;
  return log;
}

constexpr int kSilent = static_cast<int>(LogLevel::error) + 1;
std::atomic<int> the_level{kSilent};
std::atomic<LogFormat> the_format{LogFormat::text};

std::shared_ptr<spdlog::logger> make_logger(const Log& log, const char* pattern) {
  auto logger = std::make_shared<spdlog::async_logger>(
      "weir", std::make_shared<StderrSink>(log.out), log.writer,
      spdlog::async_overflow_policy::overrun_oldest);
  logger->set_pattern(pattern, spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::trace);
  logger->set_error_handler([](const std::string&) {});  // of a line's writing: nobody to tell
  return logger;
}

// A line that comes after the end is lost: nobody is left to tell.
void pass_on(Log& log, spdlog::logger& logger, spdlog::level::level_enum level,
             std::string_view line) {
  const std::shared_lock lock(log.mutex);
  if (log.writer) logger.log(level, spdlog::string_view_t(line.data(), line.size()));
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void start_log(const LogOptions& options) {
  Log& log = the_log();
  log.out = std::make_shared<PatientWriter>(Descriptor(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)));
  log.writer = std::make_shared<spdlog::details::thread_pool>(kQueue, 1);
  log.json = make_logger(log, R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})");
  log.text = make_logger(log, "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v");
  log.raw = make_logger(log, "%v");
  set_log(options);
}

void set_log(const LogOptions& options) {
  if (!the_log().writer) return;
  the_format.store(options.format, std::memory_order_relaxed);
  the_level.store(static_cast<int>(options.level), std::memory_order_relaxed);
}

void stop_log() {
  the_level.store(kSilent, std::memory_order_relaxed);
  Log& log = the_log();
  if (log.out) log.out->hurry();
  std::shared_ptr<spdlog::details::thread_pool> writer;
  {
    const std::unique_lock lock(log.mutex);
    writer = std::move(log.writer);
  }
  writer.reset();  // the last owner's destructor writes what is queued and joins
}

bool log_enabled(LogLevel level) {
  return static_cast<int>(level) >= the_level.load(std::memory_order_relaxed);
}

void write_log(LogLevel level, std::string_view about, std::string_view text) {
  Log& log = the_log();
  if (!log.text) return;
  const bool json = the_format.load(std::memory_order_relaxed) == LogFormat::json;
  const std::string line = json ? fmt::format(R"("about":"{}","message":"{}")",
                                              core::json_escaped(about), core::json_escaped(text))
                                : fmt::format("{}: {}", about, text);
  pass_on(log, *(json ? log.json : log.text), to_spdlog(level), line);
}

void write_raw(std::string_view line) {
  Log& log = the_log();
  if (log.raw) pass_on(log, *log.raw, spdlog::level::info, line);
}

bool LogRate::admit(std::chrono::steady_clock::time_point now, std::uint64_t& held_back) {
  const std::lock_guard lock(mutex_);
  if (now < next_) {
    ++held_back_;
    return false;
  }
  next_ = now + interval_;
  held_back = held_back_;
  held_back_ = 0;
  return true;
}

}  // namespace weir::net
