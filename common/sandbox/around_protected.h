// A read grant that would cover guardd's own folders, taken apart so that it does not.
//
// Landlock rules grant whole trees and nothing takes a part away again. So each folder on the way
// down to a protected one may only be listed, and everything beside the way is granted by itself.
// What is created later directly in one of the folders on the way stays out of reach. To list is a
// right on the whole tree, too: names in guardd's folders can be seen, nothing there can be opened.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/sandbox/grants.h"

namespace guard::sandbox {

// Opens what a grant led to: O_PATH, with kind, inode and resolved path.
Result<ResolvedGrant> describe_node(os::UniqueFd node, const PathGrant& grant);

// `top` is a resolved read grant on a directory; `protected_folders` are canonical. The first of
// the result stands for the grant in the report and carries its warning. kExhausted when there are
// more entries beside the way than descriptors.
Result<std::vector<ResolvedGrant>> grant_around(ResolvedGrant top,
                                                const std::vector<std::string>& protected_folders);

}  // namespace guard::sandbox
