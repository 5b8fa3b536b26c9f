#include "app/errand.h"

#include <string_view>

#include "app/message_json.h"

namespace weir::app {
namespace {

constexpr std::string_view kAnswer = R"({"answer":)";

Json to_json(const proxy::SessionView& view) {
  Json attempts = Json::array();
  for (const proxy::SessionView::Attempt& each : view.attempts) {
    attempts.push_back(
        {each.backend, each.address, static_cast<int>(each.outcome), each.took.count()});
  }
  return {{"id", view.id},
          {"listener", view.listener},
          {"client", view.client},
          {"pool", view.pool},
          {"backend", view.backend},
          {"state", static_cast<int>(view.state)},
          {"age", view.age.count()},
          {"bytes_in", view.bytes_in},
          {"bytes_out", view.bytes_out},
          {"attempts", std::move(attempts)}};
}

proxy::SessionView view(const Json& json) {
  proxy::SessionView read;
  json.at("id").get_to(read.id);
  json.at("listener").get_to(read.listener);
  json.at("client").get_to(read.client);
  json.at("pool").get_to(read.pool);
  json.at("backend").get_to(read.backend);
  read.state = word(json.at("state"), proxy::SessionState::parting);
  read.age = core::Duration(json.at("age").get<core::Duration::rep>());
  json.at("bytes_in").get_to(read.bytes_in);
  json.at("bytes_out").get_to(read.bytes_out);
  for (const Json& each : json.at("attempts")) {
    read.attempts.push_back({each.at(0), each.at(1), word(each.at(2), core::DialOutcome::cancelled),
                             core::Duration(each.at(3).get<core::Duration::rep>())});
  }
  return read;
}

}  // namespace

std::string text(const Errand& errand) {
  Json places = Json::array();
  for (const Errand::Places& each : errand.places) {
    places.push_back({each.backend, each.address, each.places});
  }
  return written({{"kind", static_cast<int>(errand.kind)},
                  {"asked", errand.asked},
                  {"listener", errand.filter.listener},
                  {"pool", errand.filter.pool},
                  {"backend", errand.filter.backend},
                  {"most", errand.most},
                  {"id", errand.id},
                  {"reason", errand.reason},
                  {"takes_sessions", errand.takes_sessions},
                  {"number", errand.number},
                  {"slots", errand.slots},
                  {"places", std::move(places)}});
}

Errand read_errand(const std::string& text) {
  const Json json = Json::parse(text);
  Errand read;
  read.kind = word(json.at("kind"), Errand::Kind::give);
  json.at("asked").get_to(read.asked);
  json.at("listener").get_to(read.filter.listener);
  json.at("pool").get_to(read.filter.pool);
  json.at("backend").get_to(read.filter.backend);
  json.at("most").get_to(read.most);
  json.at("id").get_to(read.id);
  json.at("reason").get_to(read.reason);
  json.at("takes_sessions").get_to(read.takes_sessions);
  json.at("number").get_to(read.number);
  json.at("slots").get_to(read.slots);
  for (const Json& each : json.at("places")) {
    read.places.push_back({each.at(0), each.at(1), each.at(2)});
  }
  return read;
}

std::string text(const Answer& answer) {
  Json sessions = Json::array();
  for (const proxy::SessionView& each : answer.sessions) sessions.push_back(to_json(each));
  return std::string(kAnswer) +
         written({{"asked", answer.asked},
                  {"sessions", std::move(sessions)},
                  {"ended", answer.ended}}) +
         "}";
}

bool is_answer(const std::string& text) { return text.compare(0, kAnswer.size(), kAnswer) == 0; }

Answer read_answer(const std::string& text) {
  const Json json = Json::parse(text).at("answer");
  Answer read;
  json.at("asked").get_to(read.asked);
  for (const Json& each : json.at("sessions")) read.sessions.push_back(view(each));
  json.at("ended").get_to(read.ended);
  return read;
}

}  // namespace weir::app
