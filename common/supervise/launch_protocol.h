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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/os/unique_fd.h"
#include "common/sandbox/enforce.h"
#include "common/sandbox/plan.h"

namespace guard::supervise {

inline constexpr std::uint32_t kLaunchMagic = 0x4c647247;  // "GrdL"
inline constexpr std::uint32_t kProtocolVersion = 1;
// guardd starts `guard-launcher` with its end of the launch socket as this
// descriptor, standard input and output /dev/null, standard error guardd's own, in a session of its
// own.
inline constexpr int kLauncherSocket = 3;
inline constexpr int kLauncherCgroups =
    4;  // --cgroup-fd: a folder for run_cgroup.h, if there is one
inline constexpr std::size_t kMaxBlockBytes = 4u << 20;

// The descriptors that travel with a Launch, in this order. An absent optional one is /dev/null's
// place holder: it is simply not sent, and its bit in `present` is clear.
enum class LaunchFd : std::uint8_t {
  kBlock,      // memfd, sealed
  kControl,    // the monitor's end of the run's control socket
  kStdin,      // read end, or /dev/null
  kStdout,     // write end
  kStderr,     // write end
  kCwd,        // O_PATH | O_DIRECTORY
  kRuleset,    // Landlock ruleset; absent when nothing is confined
  kCanaryDir,  // O_PATH; absent when nothing is confined
  kResult,     // write end, becomes fd 3 of the program; optional
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
  std::chrono::milliseconds wall{0};  // 0: no limit
  std::chrono::milliseconds grace{250};
  mode_t umask = 022;
  int oom_score_adj = 500;
};

// The block. Strings with a NUL in them, no argv or no candidate are the caller's broken promise.
std::string encode(const Launch& launch);
// kInvalid for anything that encode() does not make, numbers out of range included.
Result<Launch> decode(std::string_view block);

// The datagram itself.
struct LaunchHeader {
  std::uint32_t magic = kLaunchMagic;
  std::uint32_t version = kProtocolVersion;
  std::uint32_t present = 0;  // bit per LaunchFd
  std::uint32_t block_bytes = 0;
};

using LaunchFds = std::array<os::UniqueFd, static_cast<std::size_t>(LaunchFd::kCount)>;

// Sends one Launch over `socket`; the descriptors stay the caller's to close. fds[kBlock] is made
// here and ignored. kUnavailable when the peer is gone, kExhausted with os_errno EAGAIN when a
// non-blocking socket is full, kInvalid when the block is larger than kMaxBlockBytes (say so of
// argv and environment) or a descriptor is missing that is not optional.
Result<> send_launch(int socket, const Launch& launch, const LaunchFds& fds);

// A Launch on its way: its datagram taken apart, the block not yet read.
struct Handover {
  LaunchHeader header;
  LaunchFds fds;

  int fd(LaunchFd which) const { return fds[static_cast<std::size_t>(which)].get(); }
};

// Waits for one; nothing when the peer is gone. kInvalid when it is none.
Result<std::optional<Handover>> receive_launch(int socket);
// The same datagram to the next: the launcher reads no block. Does not wait.
Result<> forward_launch(int socket, const Handover& handover);
// Reads the block of it.
Result<Launch> read_launch(const Handover& handover);

// Monitor → guardd. Fixed size; unused fields are zero.
enum class EventKind : std::uint32_t {
  kStarted = 1,     // the program has been executed; pid is set
  kPassedOver = 2,  // candidate `index` was refused with `error` and the next was tried
  kSpawnFailed =
      3,          // stage, error, index (candidate), axis; the last event of this run but kFinished
  kFinished = 4,  // exactly once, last: the tree is dead
};
enum class EndCause : std::uint32_t {
  kOwn = 1,         // the program ended by itself
  kWall = 2,        // wall limit
  kOrder = 3,       // guardd said kKill (its reason stays with guardd)
  kNotStarted = 4,  // spawn failed
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
  std::int32_t monitor = 0;      // its own pid
};
static_assert(sizeof(MonitorEvent) == 80);

enum class KillLayer : std::uint32_t {
  kScope = 1,   // L1: kill(-1) from the outer Landlock domain, interlock proven
  kGate = 2,    // L2: no new process groups (group_gate.h), each killed whole
  kCgroup = 4,  // L1': cgroup.kill of a control group of its own (run_cgroup.h)
  kSweep = 3,   // L3: walk of /proc from the subreaper, until two sweeps are empty
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

// One event, one order, one datagram. A receiver gets nothing when the peer is gone, or, on a
// non-blocking socket or with `nowait`, when none has come: `ended` tells which.
template <class Message>
struct Received {
  std::optional<Message> message;
  bool ended = false;
};
Result<> send_event(int socket, const MonitorEvent& event, bool nowait = false);
Result<Received<MonitorEvent>> receive_event(int socket, bool nowait = false);
Result<> send_order(int socket, const MonitorOrder& order);
Result<Received<MonitorOrder>> receive_order(int socket, bool nowait = false);

}  // namespace guard::supervise
