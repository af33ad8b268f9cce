// What `guardctl doctor` knows of this machine and this user, before it judges any of it.
//
// A value: gather() (gather.h) fills it, findings() (findings.h) reads it, and a test writes down
// the machine that it wants to hear about.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "client/rpc/guard_client.h"
#include "common/base/result.h"
#include "common/os/runtime_dir.h"
#include "common/sandbox/kernel_support.h"

namespace guard::doctor {

struct KernelFacts {
  sandbox::KernelSupport support;
  std::optional<Error> not_probed;  // GUARD_LANDLOCK_ABI_MAX is no number; `support` is empty then
  std::string version;              // /proc/version
  int landlock_errno = 0;           // why there is none; 0 when there is
  // Whether /proc/kallsyms has its system calls; none: it does not tell.
  std::optional<bool> landlock_built_in;
  std::string lsm;                  // /sys/kernel/security/lsm; empty: not readable
  bool no_new_privs = true;         // prctl(2) knows it
  bool user_notification = true;    // SECCOMP_RET_USER_NOTIF, 5.0
  bool peer_pidfd = true;           // SO_PEERPIDFD, 6.5
  std::optional<int> ptrace_scope;  // of Yama; none: no Yama
};

// Where this process is. Texts are empty when there is nothing.
struct SurroundingsFacts {
  uid_t uid = 0;
  bool dockerenv = false;         // /.dockerenv
  bool containerenv = false;      // /run/.containerenv
  bool kubernetes = false;        // $KUBERNETES_SERVICE_HOST
  std::string container;          // $container
  std::string cgroup;             // /proc/self/cgroup
  int seccomp_mode = 0;           // of /proc/self/status; 2: a filter
  bool confined = false;          // no new privileges and a filter: guardctl starts no guardd
  bool unix_sockets = true;       // socket(AF_UNIX) is not refused
  bool cgroup_v2 = false;         // /sys/fs/cgroup is one, or has one in unified/
  bool cgroup_delegated = false;  // our own group in it is ours to change
  bool systemd_user = false;      // it has a socket in the runtime folder
};

struct Limit {
  std::optional<std::uint64_t> maximum;  // none: unlimited
  std::uint64_t used = 0;
};

struct FolderFacts {
  std::string path;
  bool missing = false;
  std::optional<Error> wrong;  // why it is not usable, or could not be made
  bool no_exec = false;        // its file system executes nothing
};

struct InstallationFacts {
  std::string guardd;    // empty: not found
  std::string beside;    // the folder that was searched, of this program
  std::string launcher;  // empty: not found
  std::string shim;      // libguard-shm.so; empty: not found
};

enum class DaemonState : std::uint8_t {
  kNone,
  kHeld,  // none, but somebody listens in its place: a service manager, which starts it when called
  kRuns,
  kDoesNotAnswer,
};

struct GuarddFacts {
  Result<os::SocketChoice> socket = os::SocketChoice{};  // as every client chooses it
  std::string xdg_runtime_dir;                           // empty: unset
  bool xdg_runtime_dir_ours = false;                     // a directory of this user's
  FolderFacts folder;                                    // of the socket
  FolderFacts scratch;                                   // private HOME and TMPDIR of runs
  InstallationFacts installed;
  Limit processes;   // RLIMIT_NPROC, soft; used: by this user
  Limit open_files;  // RLIMIT_NOFILE, hard: guardd raises its own
  DaemonState state = DaemonState::kNone;
  std::optional<Error> silence;  // why it does not answer
  client::DaemonFacts daemon;    // when it runs
};

struct Facts {
  KernelFacts kernel;
  SurroundingsFacts surroundings;
  GuarddFacts guardd;
};

}  // namespace guard::doctor
