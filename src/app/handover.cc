#include "app/handover.h"

#include <stdexcept>

#include "app/message_json.h"

namespace weir::app {
namespace {

std::int64_t ticks(core::TimePoint moment) { return moment.time_since_epoch().count(); }
core::TimePoint moment(const Json& json) {
  return core::TimePoint(core::Duration(json.get<core::Duration::rep>()));
}

Json to_json(const HandedBackend& backend) {
  return {
      {"pool", backend.pool},
      {"name", backend.name},
      {"address", backend.address},
      {"disabled", backend.duty.disabled},
      {"draining", backend.duty.draining},
      {"drain_until", ticks(backend.duty.drain_until)},
      {"phase", static_cast<int>(backend.circuit.phase)},
      {"fails", backend.circuit.fails},
      {"open_until", ticks(backend.circuit.open_until)},
      {"half_open_until", ticks(backend.circuit.half_open_until)},
      {"bypassed", backend.circuit.bypassed},
      {"forced_open", backend.circuit.forced_open},
      {"unhealthy", backend.unhealthy},
  };
}

HandedBackend backend(const Json& json) {
  HandedBackend read;
  json.at("pool").get_to(read.pool);
  json.at("name").get_to(read.name);
  json.at("address").get_to(read.address);
  json.at("disabled").get_to(read.duty.disabled);
  json.at("draining").get_to(read.duty.draining);
  read.duty.drain_until = moment(json.at("drain_until"));
  read.circuit.phase = word(json.at("phase"), core::CircuitPhase::half_open);
  json.at("fails").get_to(read.circuit.fails);
  read.circuit.open_until = moment(json.at("open_until"));
  read.circuit.half_open_until = moment(json.at("half_open_until"));
  json.at("bypassed").get_to(read.circuit.bypassed);
  json.at("forced_open").get_to(read.circuit.forced_open);
  json.at("unhealthy").get_to(read.unhealthy);
  return read;
}

Json to_json(const net::Event& event) {
  return {{"seq", event.seq},
          {"at", event.at.time_since_epoch().count()},
          {"kind", static_cast<int>(event.kind)},
          {"pool", event.pool},
          {"backend", event.backend},
          {"to", event.to},
          {"cause", event.cause}};
}

net::Event event(const Json& json) {
  net::Event read;
  json.at("seq").get_to(read.seq);
  read.at = net::WallTime(net::WallTime::duration(json.at("at").get<net::WallTime::rep>()));
  read.kind = word(json.at("kind"), net::EventKind::shutdown);
  json.at("pool").get_to(read.pool);
  json.at("backend").get_to(read.backend);
  json.at("to").get_to(read.to);
  json.at("cause").get_to(read.cause);
  return read;
}

}  // namespace

std::string text(const Welcome& welcome) {
  return written({{"version", kHandoverVersion},
                  {"sockets", welcome.sockets},
                  {"owns_paths", welcome.owns_paths}});
}

Welcome read_welcome(const std::string& text) {
  const Json json = Json::parse(text);
  if (json.at("version") != kHandoverVersion) throw std::runtime_error("it is of another kind");
  return {json.at("sockets").get<std::size_t>(), json.at("owns_paths").get<bool>()};
}

std::string text(const Ready& ready) {
  return written({{"failure", ready.failure}, {"adopted", ready.adopted}});
}

Ready read_ready(const std::string& text) {
  const Json json = Json::parse(text);
  return {json.at("failure").get<std::string>(),
          json.at("adopted").get<std::vector<std::size_t>>()};
}

std::string text(const State& state) {
  Json backends = Json::array();
  for (const HandedBackend& each : state.backends) backends.push_back(to_json(each));
  Json events = Json::array();
  for (const net::Event& each : state.events) events.push_back(to_json(each));
  return written({{"generation", state.generation},
                  {"last_session", state.last_session},
                  {"backends", std::move(backends)},
                  {"events", std::move(events)}});
}

State read_state(const std::string& text) {
  const Json json = Json::parse(text);
  State read;
  json.at("generation").get_to(read.generation);
  json.at("last_session").get_to(read.last_session);
  for (const Json& each : json.at("backends")) read.backends.push_back(backend(each));
  for (const Json& each : json.at("events")) read.events.push_back(event(each));
  return read;
}

std::string text(const Report& report) {
  Json pools = Json::array();
  for (const Report::Pool& each : report.pools) {
    pools.push_back({{"name", each.name}, {"active", each.active}, {"pending", each.pending}});
  }
  Json backends = Json::array();
  for (const Report::Backend& each : report.backends) {
    backends.push_back({{"pool", each.pool},
                        {"name", each.name},
                        {"address", each.address},
                        {"places", each.places}});
  }
  return written({{"report", true},
                  {"pools", std::move(pools)},
                  {"backends", std::move(backends)},
                  {"snapshot", report.snapshot},
                  {"gifts", report.gifts}});
}

Report read_report(const std::string& text) {
  const Json json = Json::parse(text);
  if (!json.contains("report")) throw std::runtime_error("no report");
  Report read;
  for (const Json& each : json.at("pools")) {
    read.pools.push_back({each.at("name"), each.at("active"), each.at("pending")});
  }
  for (const Json& each : json.at("backends")) {
    read.backends.push_back(
        {each.at("pool"), each.at("name"), each.at("address"), each.at("places")});
  }
  json.at("snapshot").get_to(read.snapshot);
  json.at("gifts").get_to(read.gifts);
  return read;
}

}  // namespace weir::app
