#include "tests/e2e/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace weir::e2e {
namespace {

template <typename Item>
Item& named(std::vector<Item>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&name](const Item& item) { return item.name == name; });
  if (found == items.end()) throw std::out_of_range(name);
  return *found;
}

std::string more(const std::string& keys) { return keys.empty() ? "" : ", " + keys; }

}  // namespace

PoolText& ConfigText::pool(const std::string& name) { return named(pools, name); }
ListenerText& ConfigText::listener(const std::string& name) { return named(listeners, name); }

std::string ConfigText::yaml() const {
  std::string text = fmt::format("workers: {}\n{}listeners:\n", workers, process);
  for (const ListenerText& each : listeners) {
    text += fmt::format("  - {{name: {}, pool: {}, bind: [", each.name, each.pool);
    for (const std::string& bind : each.bind) text += fmt::format("\"{}\", ", bind);
    text += fmt::format("]{}}}\n", more(each.keys));
  }
  text += "pools:\n";
  for (const PoolText& each : pools) {
    text += fmt::format("  - {{name: {}{}, resilience: {{{}}}, backends: [\n", each.name,
                        more(each.keys), each.resilience);
    for (const BackendText& backend : each.backends) {
      text += fmt::format("      {{name: {}, address: \"{}\"{}}},\n", backend.name, backend.address,
                          more(backend.keys));
    }
    text += "    ]}\n";
  }
  return text;
}

std::vector<BackendText> backends_at(const std::vector<std::string>& addresses) {
  std::vector<BackendText> backends;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    backends.push_back({fmt::format("b{}", i + 1), addresses[i]});
  }
  return backends;
}

}  // namespace weir::e2e
