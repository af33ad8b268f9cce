// What a grant that was accepted should still say. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/sandbox/policy.h"

namespace guard::sandbox {

// For the f_type of statfs(2): a clause when the file system's inodes may come and go under a rule
// that pins them (9p as under WSL's /mnt/c, FUSE), else empty.
std::string unstable_inodes_warning(long file_system_magic);

// For where the grant led, a directory: a clause when it opens more than files, else empty.
std::string wide_grant_warning(std::string_view resolved, Access access);

// A file that may be written and not replaced: most programs save by writing a new file beside it
// and renaming that, or keep a journal there. Names the folder to grant instead.
std::string single_file_warning(std::string_view resolved);

// What to do about a path that does not exist.
std::string missing_path_hint(std::string_view path);

}  // namespace guard::sandbox
