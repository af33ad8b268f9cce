// Where the one-shot keeps the run's HOME and TMPDIR, and what the witness tries to open.
//
// Usually /var/tmp/guardd-UID. Inside another sandbox that folder is out of reach, so the folders
// are made below the TMPDIR or HOME that the outer one gave us.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/os/scratch_dir.h"
#include "common/sandbox/policy.h"

namespace guard::client {

struct PrivateFolders {
  // Empty only inside another sandbox without a writable TMPDIR or HOME: no canary then.
  std::optional<os::ScratchRoot> root;
  // guardd's own, or inside another sandbox just the root in use: the outer one keeps guardd's out
  // of reach, and HOME and TMPDIR are not the user's.
  std::vector<std::string> protected_folders;
};

// Makes the root and the canary when they are missing. The bases of a nested root are chosen so
// that no write grant of `policy` covers them.
Result<PrivateFolders> find_private_folders(const sandbox::Policy& policy);

// Makes the folders of this run, owned by this process (exec keeps it), and grants them. With
// `real_home`, TMPDIR alone. Removes up to four leftovers of runs that ended more than a day ago.
struct RunHome {
  std::string home, tmp;  // empty: none
};
Result<RunHome> make_run_home(const os::ScratchRoot& root, sandbox::Policy& policy);

}  // namespace guard::client
