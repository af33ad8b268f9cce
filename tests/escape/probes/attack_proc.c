// Attacks on other processes of the same user: signals by every road, memory, limits, scheduling.
// The signal is SIGURG, or SIGWINCH where it goes to everyone: nobody minds these but the victim,
// which counts them.
#include <arpa/inet.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "verdict.h"

enum { kPidfdGetfd = 438, kProcessMadvise = 440, kProcessMrelease = 448 };

static pid_t victim(char** arg) { return (pid_t)number(arg[0]); }
static int pidfd_of(char** arg) { return (int)syscall(SYS_pidfd_open, victim(arg), 0); }

static int kill_process(char** arg) { return kill(victim(arg), SIGURG); }
static int kill_group(char** arg) { return kill(-getpgid(victim(arg)), SIGURG); }
static int kill_everyone(char** arg) {
  (void)arg;
  return kill(-1, SIGWINCH);
}
static int kill_parent(char** arg) {
  (void)arg;
  return kill(getppid(), SIGURG);
}
static int kill_by_tkill(char** arg) { return (int)syscall(SYS_tkill, victim(arg), SIGURG); }
static int kill_by_tgkill(char** arg) {
  return (int)syscall(SYS_tgkill, victim(arg), victim(arg), SIGURG);
}
static int kill_by_sigqueue(char** arg) {
  siginfo_t info = {.si_code = SI_QUEUE, .si_signo = SIGURG};
  return (int)syscall(SYS_rt_sigqueueinfo, victim(arg), SIGURG, &info);
}
static int kill_by_tgsigqueue(char** arg) {
  siginfo_t info = {.si_code = SI_QUEUE, .si_signo = SIGURG};
  return (int)syscall(SYS_rt_tgsigqueueinfo, victim(arg), victim(arg), SIGURG, &info);
}
static int kill_by_pidfd(char** arg) {
  const int fd = pidfd_of(arg);
  return fd < 0 ? -1 : (int)syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0);
}
// A directory of /proc serves as a pidfd as well.
static int kill_by_proc_directory(char** arg) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d", victim(arg));
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? -1 : (int)syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0);
}

// The kernel signals the owner of a descriptor when there is something to read, as whoever set it.
static int signal_by_owner(int fd, int writer, char** arg, int ex) {
  const struct f_owner_ex owner = {F_OWNER_PID, victim(arg)};
  if (fcntl(fd, F_SETSIG, SIGURG) != 0) return -1;
  if ((ex ? fcntl(fd, F_SETOWN_EX, &owner) : fcntl(fd, F_SETOWN, victim(arg))) != 0) return -1;
  if (fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0) return -1;
  return write(writer, "x", 1) < 0 ? -1 : 0;
}
static int signal_by_pipe(char** arg) {
  int pair[2];
  if (pipe(pair) != 0) return -1;
  return signal_by_owner(pair[0], pair[1], arg, 0);
}
static int signal_by_pipe_ex(char** arg) {
  int pair[2];
  if (pipe(pair) != 0) return -1;
  return signal_by_owner(pair[0], pair[1], arg, 1);
}
static int signal_by_socketpair(char** arg) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
  return signal_by_owner(pair[0], pair[1], arg, 0);
}
// PID PORT: urgent data on a connection to a granted port. SIOCSPGRP sets the owner as well.
static int signal_by_urgent_data(char** arg) {
  const struct sockaddr_in at = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)number(arg[1])),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1, owner = victim(arg);
  if (server < 0 || client < 0) return -1;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(server, (const struct sockaddr*)&at, sizeof at) != 0 || listen(server, 1) != 0)
    return -1;
  if (connect(client, (const struct sockaddr*)&at, sizeof at) != 0) return -1;
  const int peer = accept(server, NULL, NULL);
  if (peer < 0) broken("accept");
  if (ioctl(peer, SIOCSPGRP, &owner) != 0) return -1;
  return send(client, "!", 1, MSG_OOB) < 0 ? -1 : 0;
}

static int ptrace_attach(char** arg) { return (int)ptrace(PTRACE_ATTACH, victim(arg), 0, 0); }
static int ptrace_seize(char** arg) { return (int)ptrace(PTRACE_SEIZE, victim(arg), 0, 0); }
// Makes the parent a tracer, which it never asked to be.
static int ptrace_me(char** arg) {
  (void)arg;
  return (int)ptrace(PTRACE_TRACEME, 0, 0, 0);
}

// PID ADDRESS: the victim keeps its secret there.
static int read_memory(char** arg) {
  char bytes[128] = "";
  const struct iovec here = {bytes, sizeof bytes - 1};
  const struct iovec there = {(void*)number(arg[1]), sizeof bytes - 1};
  if (process_vm_readv(victim(arg), &here, 1, &there, 1, 0) < 0) return -1;
  puts(bytes);
  return 0;
}
static int write_memory(char** arg) {
  char bytes[] = "attacked";
  const struct iovec here = {bytes, sizeof bytes}, there = {(void*)number(arg[1]), sizeof bytes};
  return process_vm_writev(victim(arg), &here, 1, &there, 1, 0) < 0 ? -1 : 0;
}
// PID FD: the victim keeps its secret file open there.
static int take_descriptor(char** arg) {
  const int pidfd = pidfd_of(arg);
  if (pidfd < 0) return -1;
  const int fd = (int)syscall(kPidfdGetfd, pidfd, number(arg[1]), 0);
  if (fd < 0) return -1;
  char bytes[128] = "";
  if (pread(fd, bytes, sizeof bytes - 1, 0) < 0) return -1;
  puts(bytes);
  return 0;
}
static int compare(char** arg) {
  return (int)syscall(SYS_kcmp, getpid(), victim(arg), 0 /* KCMP_FILE */, 0, 0);
}
static int measure(char** arg) {
  struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof attributes,
                                       .config = PERF_COUNT_SW_TASK_CLOCK,
                                       .exclude_kernel = 1};
  return (int)syscall(SYS_perf_event_open, &attributes, victim(arg), -1, -1, 0);
}
static int advise_memory(char** arg) {
  const int pidfd = pidfd_of(arg);
  const struct iovec there = {(void*)(number(arg[1]) & ~4095l), 4096};
  return pidfd < 0 ? -1 : (int)syscall(kProcessMadvise, pidfd, &there, 1, 20 /* MADV_COLD */, 0);
}
// EINVAL, for a process that is not dying, is an answer too: the call was let in.
static int release_memory(char** arg) {
  const int pidfd = pidfd_of(arg);
  if (pidfd < 0) return -1;
  return syscall(kProcessMrelease, pidfd, 0) == 0 || errno == EINVAL ? 0 : -1;
}
static int move_pages_of(char** arg) {
  void* page = (void*)number(arg[1]);
  int status;
  return (int)syscall(SYS_move_pages, victim(arg), 1, &page, NULL, &status, 0);
}
static int migrate_pages_of(char** arg) {
  const unsigned long node = 1;
  return (int)syscall(SYS_migrate_pages, victim(arg), 64, &node, &node);
}

static int lower_limit(char** arg) {
  const struct rlimit limit = {64, 64};
  return prlimit(victim(arg), RLIMIT_NOFILE, &limit, NULL);
}
static int renice(char** arg) { return setpriority(PRIO_PROCESS, (id_t)victim(arg), 15); }
static int change_io_priority(char** arg) {
  return (int)syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, victim(arg), 3 << 13 /* idle */);
}
static int pin_to_cpu(char** arg) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  return sched_setaffinity(victim(arg), sizeof cpus, &cpus);
}
static int change_scheduler(char** arg) {
  const struct sched_param none = {0};
  return sched_setscheduler(victim(arg), SCHED_BATCH, &none);
}
static int change_scheduler_attr(char** arg) {
  const struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = 48, .policy = SCHED_BATCH, .nice = 15};
  return (int)syscall(SYS_sched_setattr, victim(arg), &attributes, 0);
}
static int change_scheduler_param(char** arg) {
  const struct sched_param none = {0};
  return sched_setparam(victim(arg), &none);
}
static int write_oom_score(char** arg) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/oom_score_adj", victim(arg));
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  return fd < 0 || write(fd, "900", 3) < 0 ? -1 : 0;
}

static const struct verb verbs[] = {
    {"kill", 1, kill_process},
    {"kill_group", 1, kill_group},
    {"kill_everyone", 0, kill_everyone},
    {"kill_parent", 0, kill_parent},
    {"kill_by_tkill", 1, kill_by_tkill},
    {"kill_by_tgkill", 1, kill_by_tgkill},
    {"kill_by_sigqueue", 1, kill_by_sigqueue},
    {"kill_by_tgsigqueue", 1, kill_by_tgsigqueue},
    {"kill_by_pidfd", 1, kill_by_pidfd},
    {"kill_by_proc_directory", 1, kill_by_proc_directory},
    {"signal_by_pipe", 1, signal_by_pipe},
    {"signal_by_pipe_ex", 1, signal_by_pipe_ex},
    {"signal_by_socketpair", 1, signal_by_socketpair},
    {"signal_by_urgent_data", 2, signal_by_urgent_data},
    {"ptrace_attach", 1, ptrace_attach},
    {"ptrace_seize", 1, ptrace_seize},
    {"ptrace_me", 0, ptrace_me},
    {"read_memory", 2, read_memory},
    {"write_memory", 2, write_memory},
    {"take_descriptor", 2, take_descriptor},
    {"compare", 1, compare},
    {"measure", 1, measure},
    {"advise_memory", 2, advise_memory},
    {"release_memory", 1, release_memory},
    {"move_pages", 2, move_pages_of},
    {"migrate_pages", 1, migrate_pages_of},
    {"lower_limit", 1, lower_limit},
    {"renice", 1, renice},
    {"change_io_priority", 1, change_io_priority},
    {"pin_to_cpu", 1, pin_to_cpu},
    {"change_scheduler", 1, change_scheduler},
    {"change_scheduler_attr", 1, change_scheduler_attr},
    {"change_scheduler_param", 1, change_scheduler_param},
    {"write_oom_score", 1, write_oom_score},
    {NULL, 0, NULL},
};
