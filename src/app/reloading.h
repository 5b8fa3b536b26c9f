#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/engine.h"
#include "weir/admin/control.h"
#include "weir/config/configuration.h"
#include "weir/config/load.h"
#include "weir/net/line_log.h"

namespace weir::app {

// Takes weir from one configuration to the next. All that can fail is done before anything changes,
// so that a reload that is refused has changed nothing. Control thread.
class Reloading {
 public:
  // What the options of the process are carried out with.
  struct Process {
    net::LineLog& access_log;
    // The options that hold from now on, once everything else has changed.
    std::function<void(const config::Configuration&)> adopt;
    // Opens what `http.listen` names, if it changes; answers why it cannot.
    std::function<std::optional<std::string>(const config::Configuration&)> listen_http;
    // Why there can be no reload now, or nothing. On its way to its end weir opens nothing any
    // more; and a process that is to follow may have read the file already, and has our sockets.
    std::function<std::string()> why_not_now;
  };

  // `file` is what weir was started with; empty = nothing that could be read again.
  Reloading(Engine& engine, Process process, config::Configuration& in_force, std::string file);

  // Without a text the file is read again.
  admin::Reload plan(std::optional<std::string_view> text);
  admin::Reload reload(std::optional<std::string_view> text, const std::string& cause);
  // A configuration that is validated already.
  admin::Reload plan(const config::LoadResult& loaded) const { return look_at(loaded); }
  admin::Reload reload(config::LoadResult loaded, const std::string& cause);

  std::uint64_t generation() const { return generation_; }
  // The process before this one has had some already.
  void set_generation(std::uint64_t generation) { generation_ = generation; }
  std::uint64_t accepted() const { return accepted_; }  // reloads
  std::uint64_t refused() const { return refused_; }

 private:
  config::LoadResult load(std::optional<std::string_view> text) const;
  admin::Reload look_at(const config::LoadResult& loaded) const;
  std::optional<config::Problem> open(const config::LoadResult& loaded,
                                      std::optional<net::LineTarget>& access_log);
  void carry_out(const config::Configuration& next, std::optional<net::LineTarget> access_log);
  admin::Reload refuse(admin::Reload reload, const std::string& cause);
  void tell(const admin::Reload& reload, const std::string& cause);

  Engine& engine_;
  const Process process_;
  config::Configuration& in_force_;
  const std::string file_;
  std::uint64_t generation_ = 1;
  std::uint64_t accepted_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace weir::app
