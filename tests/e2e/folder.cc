#include "tests/e2e/folder.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace weir::e2e {

// Named by mkdtemp in the system's folder for it: short enough for a unix socket's 107 bytes.
Folder::Folder() : path_((std::filesystem::temp_directory_path() / "weir-e2e-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weir::e2e
