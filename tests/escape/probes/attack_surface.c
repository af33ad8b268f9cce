// Parts of the kernel that no agent's program needs and that had their share of holes.
//
// `reach NAME` makes one harmless call of NAME with arguments that the kernel turns down *after* it
// has let the caller in; "did" is any answer but the ones that mean "not you" or "no such call".
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "verdict.h"

struct call {
  const char* name;
  long nr, a, b, c, d, e;
};

static struct perf_event_attr own_clock = {.type = PERF_TYPE_SOFTWARE,
                                           .size = sizeof own_clock,
                                           .config = PERF_COUNT_SW_TASK_CLOCK,
                                           .exclude_kernel = 1};
static struct io_uring_params ring;
static char room[4096];
#define MEMORY(object) ((long)(intptr_t)(object))

// Wrong on purpose: lengths below zero, null pointers, commands and flags that do not exist.
static const struct call calls[] = {
    {"io_uring_setup", SYS_io_uring_setup, 4, MEMORY(&ring)},
    {"io_uring_enter", SYS_io_uring_enter, -1},
    {"io_uring_register", SYS_io_uring_register, -1},
    {"keyctl", SYS_keyctl, 0 /* GET_KEYRING_ID */, -4, 1},
    {"bpf", SYS_bpf, 0xffff},
    {"perf_event_open", SYS_perf_event_open, MEMORY(&own_clock), 0, -1, -1, 0},
    {"userfaultfd", SYS_userfaultfd, UFFD_USER_MODE_ONLY},
    {"fanotify_init", SYS_fanotify_init, FAN_CLASS_NOTIF | FAN_REPORT_FID},
    {"fanotify_mark", SYS_fanotify_mark, -1},
    {"modify_ldt", SYS_modify_ldt, 0, MEMORY(room), sizeof room},
    {"memfd_secret", 447},
    {"statmount", 457, 0, 0, 0},
    {"listmount", 458, 0, 0, 0},
    {"clone3", SYS_clone3, 0, 0},
    {"openat2", SYS_openat2, -1, 0, 0, 0},
    {"mq_unlink", SYS_mq_unlink, 0},
    {"process_madvise", 440, -1},
    {"process_mrelease", 448, -1},
    {"pidfd_getfd", 438, -1},
    {"kcmp", SYS_kcmp, 0x7ffffffe, 0x7ffffffe},
    {"process_vm_readv", SYS_process_vm_readv, 0x7ffffffe},
    {"move_pages", SYS_move_pages, 0x7ffffffe},
    {"migrate_pages", SYS_migrate_pages, 0x7ffffffe, 0, 0},
    {"mount_setattr", 442, -1, 0, 0, 0, 0},
    {"fspick", 433, -1, MEMORY("."), 0xffff},
    {"move_mount", 429, -1, MEMORY(""), -1, MEMORY(""), 0xffff},
    {"quotactl_fd", 443, -1, 0x7fffffff},
    {"setxattrat", 463, -1, MEMORY(""), 0xffff},
    {"removexattrat", 466, -1, MEMORY(""), 0xffff},
    {"file_setattr", 469, -1, 0, 0, 0, 0},
    {"open_tree_attr", 467, -1, MEMORY(""), 0xffff},
    {"name_to_handle_at", SYS_name_to_handle_at, -1},
    // Wants a capability: refused to an ordinary user by the kernel itself.
    {"open_by_handle_at", SYS_open_by_handle_at, -1},
    {"acct", SYS_acct, 1},
    {"quotactl", SYS_quotactl, 0x7fffffff},
    {"syslog", SYS_syslog, 10 /* SIZE_BUFFER */},
    {"sethostname", SYS_sethostname, 0, -1},
    {"setdomainname", SYS_setdomainname, 0, -1},
    {"settimeofday", SYS_settimeofday, 1},
    {"clock_settime", SYS_clock_settime, 0, 1},
    {"swapon", SYS_swapon, 0, 0xfffffff},
    {"swapoff", SYS_swapoff, 0},
    {"reboot", SYS_reboot, 0, 0, 0},
    {"init_module", SYS_init_module, 0, 0, 0},
    {"finit_module", SYS_finit_module, -1, 0, 0},
    {"delete_module", SYS_delete_module, 0, 0},
    {"kexec_load", SYS_kexec_load, 0, 0, 0, 0xffff},
    {"iopl", SYS_iopl, 9},
    {"ioperm", SYS_ioperm, -1, 9, 1},
    {"unshare", SYS_unshare, 1},
    {"setns", SYS_setns, -1, 0},
    {"mount", SYS_mount, 0, 0, 0, 0, 0},
    {"umount2", SYS_umount2, 0, 0xffff},
    {"pivot_root", SYS_pivot_root, 0, 0},
    {"chroot", SYS_chroot, 0},
    {"fsopen", 430, 0, 0xffff},
    {"fsconfig", 431, -1, 0xffff},
    {"fsmount", 432, -1, 0xffff},
    {"open_tree", 428, -1, 0, 0xffffffff},
    {"ustat", SYS_ustat, 0, 0},
    {"sysfs", SYS_sysfs, 9},
};

static int reach(char** arg) {
  for (size_t at = 0; at < sizeof calls / sizeof *calls; ++at) {
    const struct call* call = &calls[at];
    if (strcmp(call->name, arg[0]) != 0) continue;
    errno = 0;
    if (syscall(call->nr, call->a, call->b, call->c, call->d, call->e) >= 0) return 0;
    return errno == EPERM || errno == ENOSYS || errno == EACCES ? -1 : 0;
  }
  broken("no call named '%s'", arg[0]);
}

// A listener of one's own would be asked about what the sandbox's filter leaves open, and could say
// "go on" where the sandbox's own broker, if any, has to decide.
static int seccomp_listener(char** arg) {
  (void)arg;
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {1, &allow};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                      &program);
}
static int seccomp_listener_wide(char** arg) {
  (void)arg;
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {1, &allow};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER | 1l << 32,
                      SECCOMP_FILTER_FLAG_NEW_LISTENER | 1l << 32, &program);
}

static int trace_child(char** arg) {
  (void)arg;
  const pid_t child = fork();
  if (child == 0) {
    _exit(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 ? 0 : errno);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) broken("child");
  errno = WEXITSTATUS(status);
  return errno == 0 ? 0 : -1;
}

// DIRECTORY: a core file there, of a process that had secrets in memory.
static int core_file(char** arg) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return -1;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_CORE, &limit) != 0) return -1;
  if (chdir(arg[0]) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) abort();
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) broken("child");
  if (WCOREDUMP(status)) return 0;
  errno = EPERM;
  return -1;
}

static const struct verb verbs[] = {
    {"reach", 1, reach},
    {"seccomp_listener", 0, seccomp_listener},
    {"seccomp_listener_wide", 0, seccomp_listener_wide},
    {"trace_child", 0, trace_child},
    {"core_file", 1, core_file},
    {NULL, 0, NULL},
};
