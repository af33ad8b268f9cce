// A folder of a test's own, removed with everything in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/check.h"

namespace guard::sandbox {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "guard-XXXXXX").string();
    GUARD_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = std::filesystem::canonical(name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string make_folder(const std::string& name) const {
    std::filesystem::create_directories(path_ / name);
    return *this / name;
  }
  std::string make_file(const std::string& name, const std::string& text = "text\n") const {
    std::ofstream(path_ / name) << text;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace guard::sandbox
