// Removing a folder with everything in it, whatever somebody put there.
#pragma once

#include <string>

#include "common/base/result.h"

namespace guard::os {

// `name` (one component) in the directory `parent`, and all below it: descriptor-relative, follows
// no symbolic link, enters no other file system, any depth, folders without permission bits too.
// Stops at the first thing that cannot be removed. A missing `name` is no error.
Result<> remove_tree(int parent, const std::string& name);

}  // namespace guard::os
