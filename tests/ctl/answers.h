#pragma once

// Answers of a weir with one listener and one pool of two backends, as its API gives them.
namespace weir::ctl::answers {

inline constexpr const char* status =
    R"({"version":"0.1.0","pid":4711,"uptime_s":3723.5,"config_generation":3,"workers":2,
        "sessions":12,"draining":false})";

inline constexpr const char* listeners =
    R"({"listeners":[{"name":"orders","bind":["0.0.0.0:5432","[::]:5432"],"pool":"orders",
        "connections":12,"max_connections":100,"accepted":1200,
        "accept_errors":{"fd_limit":2},"closed":{"idle_timeout":8,"client_closed":1180},
        "bytes_in":1536,"bytes_out":20971520,"state":"serving"}]})";

inline constexpr const char* pool =
    R"({"name":"orders","balance":"round_robin","verdict":"degraded",
        "admission":{"active":12,"pending":3,"max_active":12,"max_pending":100,
                     "rejected":{"pending_timeout":1,"proxy_overloaded":4}},
        "eligible":1,"consistent":true,"retries":{"connected":5,"refused":1},
        "retry_budget_denied":2,
        "backends":[
          {"name":"pg-a","address":"10.0.0.11:5432","weight":1,"priority":0,"state":"available",
           "active":12,"dialing":1,"max_active":0,"drain_until":null,"removed":false,
           "circuit":{"phase":"closed","epoch":1,"fails":0,"open_until":null,
                      "half_open_until":null,"probes_in_flight":0,"probes_remaining":null,
                      "bypassed":false,"forced_open":false,"enabled":true,"probe_due":false,
                      "rejects":0,"transitions":{}},
           "health":{"state":"healthy","consecutive":9,"checks":{"connected":9},
                     "last":"connected","last_at":"2026-11-30T11:59:58.000Z"},
           "totals":{"dials":1200,"connected":1199,"failures":{},"stale_results":0}},
          {"name":"pg-b","address":"10.0.0.12:5432","weight":1,"priority":1,
           "state":"circuit_open","active":0,"dialing":0,"max_active":90,"drain_until":null,
           "removed":false,
           "circuit":{"phase":"open","epoch":2,"fails":3,
                      "open_until":"2026-11-30T12:00:03.150Z","half_open_until":null,
                      "probes_in_flight":0,"probes_remaining":0,"bypassed":false,
                      "forced_open":false,"enabled":true,"probe_due":false,"rejects":7,
                      "transitions":{"open":1}},
           "health":null,
           "totals":{"dials":8,"connected":1,"failures":{"timeout":2,"refused":5},
                     "stale_results":0}}]})";

inline constexpr const char* health =
    R"({"pools":[{"name":"orders","verdict":"degraded","eligible":1,"backends":[
        {"name":"pg-a","state":"available","circuit":{"phase":"closed","enabled":true}},
        {"name":"pg-b","state":"circuit_open",
         "circuit":{"phase":"open","open_until":"2026-11-30T12:00:03.150Z","enabled":true}}]}]})";

inline constexpr const char* sessions =
    R"({"sessions":[{"id":41,"listener":"orders","client":"192.0.2.7:50782","pool":"orders",
        "backend":"pg-a","state":"relaying","age_ms":125000,"bytes_in":100,"bytes_out":2048,
        "attempts":[{"backend":"pg-b","address":"10.0.0.12:5432","outcome":"refused","ms":0.1},
                    {"backend":"pg-a","address":"10.0.0.11:5432","outcome":"connected","ms":0.2}]},
       {"id":42,"listener":"orders","client":"192.0.2.8:50001","pool":"orders","backend":null,
        "state":"queued","age_ms":350,"bytes_in":0,"bytes_out":0,"attempts":[]}],
        "truncated":false})";

inline constexpr const char* why =
    R"({"pool":"orders","verdict":"degraded","backends":[
        {"name":"pg-a","priority":0,"eligible":true,"gate":null,"state":"available","until":null,
         "hint":null},
        {"name":"pg-b","priority":1,"eligible":false,"gate":"circuit","state":"circuit_open",
         "until":"2026-11-30T12:00:03.150Z",
         "hint":"the next client after that is a probe; weirctl circuit orders/pg-b close"}]})";

inline constexpr const char* events =
    R"({"events":[
        {"seq":6,"ts":"2026-11-30T11:59:50.000Z","kind":"circuit","pool":"orders",
         "backend":"pg-b","to":"open","cause":"3 failures in a row, the last one refused"},
        {"seq":7,"ts":"2026-11-30T11:59:55.500Z","kind":"reload","pool":null,"backend":null,
         "to":"generation 3","cause":"SIGHUP"}],"next":7,"oldest":6})";

}  // namespace weir::ctl::answers
