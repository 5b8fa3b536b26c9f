#include "tests/e2e/fickle_backend.h"

#include <filesystem>

namespace weir::e2e {
namespace {

constexpr const char* kName = "backend";

}  // namespace

FickleBackend::FickleBackend() : address_(folder_.unix_socket(kName)) {}

void FickleBackend::die() {
  service_.reset();
  backend_.reset();
  std::filesystem::remove(folder_.file(kName));
}

Service& FickleBackend::serve() {
  die();
  return service_.emplace(address_);
}

Backend& FickleBackend::listen() {
  die();
  return backend_.emplace(address_);
}

Backend& FickleBackend::hang() {
  die();
  backend_.emplace(address_, Buffers{}, 0);
  backend_->fill_queue();
  return *backend_;
}

}  // namespace weir::e2e
