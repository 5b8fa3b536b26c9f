#pragma once

#include <string>
#include <vector>

#include "weir/net/descriptor.h"

// What weir and the service manager that started it tell each other, if there is one: systemd, or
// whatever speaks its protocol. Nothing happens without.
namespace weir::app::service_manager {

// This process serves from here on, and is the one to watch.
void ready();
void reloading();
void stopping();

// Sockets that it opened for weir (socket activation); once.
std::vector<net::Descriptor> take_sockets();

}  // namespace weir::app::service_manager
