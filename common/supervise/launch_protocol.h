// What guardd, the launcher and a monitor say to each other: SOCK_SEQPACKET datagrams of fixed
// layout, descriptors by SCM_RIGHTS.
//
//   guardd ──Launch + descriptors──▶ launcher ──the same datagram──▶ an idle monitor
//   guardd ◀──MonitorEvent── monitor        (the run's own control socket, one pair per run)
//   guardd ──MonitorOrder──▶ monitor
//
// The variable part of a Launch (argv, environment, filter…) does not fit a datagram, so it travels
// in a sealed memfd, the first descriptor, laid out by encode() and read by decode(), which trusts
// nothing: every size is checked, a malformed block is an Error.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/enforce.h"
#include "common/sandbox/plan.h"

namespace guard::supervise {

inline constexpr std::uint32_t kLaunchMagic = 0x4c647247;  // "GrdL"
inline constexpr std::uint32_t kProtocolVersion = 1;
inline constexpr std::size_t kMaxBlockBytes = 4u << 20;

// The descriptors that travel with a Launch, in this order. An absent optional one is /dev/null's
// place holder: it is simply not sent, and its bit in `present` is clear.
enum class LaunchFd : std::uint8_t {
  kBlock,        // memfd, sealed
  kControl,      // the monitor's end of the run's control socket
  kStdin,        // read end, or /dev/null
  kStdout,       // write end
  kStderr,       // write end
  kCwd,          // O_PATH | O_DIRECTORY
  kRuleset,      // Landlock ruleset; absent when nothing is confined
  kCanaryDir,    // O_PATH; absent when nothing is confined
  kResult,       // write end, becomes fd 3 of the program; optional
  kCount,
};

// Everything the monitor's child needs, already decided by guardd: the monitor makes no policy.
struct Launch {
  std::vector<std::string> argv;        // argv[0] first
  std::vector<std::string> candidates;  // files to try, in order (run::exec_candidates)
  std::vector<std::string> env;         // "NAME=value"
  bool confine = true;
  bool drop_capabilities = true;
  std::vector<sock_filter> filter;
  std::vector<sandbox::Limit> limits;
  std::string canary_name;
  std::chrono::milliseconds wall{0};    // 0: no limit
  std::chrono::milliseconds grace{250};
  mode_t umask = 022;
  int oom_score_adj = 500;
  friend bool operator==(const Launch&, const Launch&) = default;
};

std::string encode(const Launch& launch);
Result<Launch> decode(std::string_view block);

// The datagram itself.
struct LaunchHeader {
  std::uint32_t magic = kLaunchMagic;
  std::uint32_t version = kProtocolVersion;
  std::uint32_t present = 0;     // bit per LaunchFd
  std::uint32_t block_bytes = 0;
};

using LaunchFds = std::array<os::UniqueFd, static_cast<std::size_t>(LaunchFd::kCount)>;

// Sends one Launch over `socket`; the descriptors stay the caller's to close. kUnavailable when the
// peer is gone.
Result<> send_launch(int socket, const Launch& launch, const LaunchFds& fds);

// Monitor → guardd. Fixed size; unused fields are zero.
enum class EventKind : std::uint32_t {
  kStarted = 1,      // the program has been executed; pid is set
  kPassedOver = 2,   // candidate `index` was refused with `error` and the next was tried
  kSpawnFailed = 3,  // stage, error, index (candidate), axis; the last event of this run but kFinished
  kFinished = 4,     // exactly once, last: the tree is dead
};
enum class EndCause : std::uint32_t {
  kOwn = 1,        // the program ended by itself
  kWall = 2,       // wall limit
  kOrder = 3,      // guardd said kKill (its reason stays with guardd)
  kNotStarted = 4, // spawn failed
};
struct MonitorEvent {
  EventKind kind{};
  std::int32_t pid = 0;
  std::uint32_t stage = 0;  // sandbox::Stage
  std::int32_t error = 0;   // errno
  std::uint32_t index = 0;
  std::uint32_t axis = 0;
  std::int32_t wait_status = 0;  // as waitpid(2) gives it; kFinished
  EndCause cause{};
  std::uint32_t killed = 0;
  std::uint32_t stragglers = 0;
  std::uint64_t wall_us = 0, user_us = 0, system_us = 0, max_rss_bytes = 0;
  std::uint32_t kill_layer = 0;  // KillLayer that was proven for this run
};

enum class KillLayer : std::uint32_t {
  kScope = 1,  // L1: kill(-1) from the outer Landlock domain, interlock proven
  kSweep = 3,  // L3: walk of /proc from the subreaper, until two sweeps are empty
};

// guardd → monitor.
enum class OrderKind : std::uint32_t {
  kKill = 1,       // no grace: the tree dies now
  kTerminate = 2,  // SIGTERM, the grace, then the tree
  kSignal = 3,     // `signal` to the program's process group
};
struct MonitorOrder {
  OrderKind kind{};
  std::int32_t signal = 0;
};

}  // namespace guard::supervise
