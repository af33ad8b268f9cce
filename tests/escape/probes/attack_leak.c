// Attacks that only learn something: about files outside the grants, other processes, the machine.
#include <linux/fanotify.h>
#include <poll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "verdict.h"

extern char** environ;

static int file_size(char** arg) {
  struct stat status;
  if (stat(arg[0], &status) != 0) return -1;
  printf("%lld\n", (long long)status.st_size);
  return 0;
}

static int file_size_statx(char** arg) {
  struct statx status;
  if (statx(AT_FDCWD, arg[0], 0, STATX_SIZE, &status) != 0) return -1;
  printf("%llu\n", (unsigned long long)status.stx_size);
  return 0;
}

static int file_exists(char** arg) { return access(arg[0], F_OK); }
static int file_opath(char** arg) { return open(arg[0], O_PATH | O_CLOEXEC); }

static int link_target(char** arg) {
  char target[4096] = "";
  if (readlink(arg[0], target, sizeof target - 1) < 0) return -1;
  puts(target);
  return 0;
}

static int attribute_value(char** arg) {
  char value[4096] = "";
  if (getxattr(arg[0], "user.secret", value, sizeof value - 1) < 0) return -1;
  puts(value);
  return 0;
}

static int free_space(char** arg) {
  struct statfs status;
  return statfs(arg[0], &status);
}

// Names of files as they come and go. "ready" tells the test to make one.
static int watch_by_inotify(char** arg) {
  const int fd = inotify_init1(IN_CLOEXEC);
  if (fd < 0) return -1;
  if (inotify_add_watch(fd, arg[0], IN_CREATE) < 0) return -1;
  puts("ready");
  fflush(stdout);
  char room[sizeof(struct inotify_event) + 256] __attribute__((aligned(8)));
  struct pollfd event = {.fd = fd, .events = POLLIN};
  if (poll(&event, 1, 5000) != 1) broken("nothing happened in %s", arg[0]);
  if (read(fd, room, sizeof room) < 0) return -1;
  puts(((struct inotify_event*)room)->name);
  return 0;
}

static int watch_by_fanotify(char** arg) {
  const int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME, O_RDONLY);
  if (fd < 0) return -1;
  return fanotify_mark(fd, FAN_MARK_ADD, FAN_CREATE | FAN_ONDIR, AT_FDCWD, arg[0]);
}

// PID FILE: /proc/PID/FILE of a process outside.
static int process_file(char** arg) {
  char path[128];
  snprintf(path, sizeof path, "/proc/%s/%s", arg[0], arg[1]);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char bytes[65536];
  const ssize_t got = read(fd, bytes, sizeof bytes);
  if (got < 0) return -1;
  for (ssize_t at = 0; at < got; ++at) putchar(bytes[at] ? bytes[at] : '\n');
  putchar('\n');
  return 0;
}

// PID ADDRESS: the memory of a process outside.
static int process_memory(char** arg) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/mem", arg[0]);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char bytes[128] = "";
  if (pread(fd, bytes, sizeof bytes - 1, number(arg[1])) < 0) return -1;
  puts(bytes);
  return 0;
}

static int process_limits(char** arg) {
  struct rlimit limit;
  return prlimit((pid_t)number(arg[0]), RLIMIT_NOFILE, NULL, &limit);
}

static int process_priority(char** arg) {
  errno = 0;
  getpriority(PRIO_PROCESS, (id_t)number(arg[0]));
  return errno ? -1 : 0;
}

// A signal of 0 asks whether the process is there.
static int process_exists(char** arg) { return kill((pid_t)number(arg[0]), 0); }

static int environment(char** arg) {
  (void)arg;
  for (char** entry = environ; *entry; ++entry) puts(*entry);
  return 0;
}

static int kernel_log(char** arg) {
  (void)arg;
  char bytes[4096];
  return klogctl(3 /* SYSLOG_ACTION_READ_ALL */, bytes, sizeof bytes);
}

static int path_readable(char** arg) {
  const int fd = open(arg[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}

static const struct verb verbs[] = {
    {"file_size", 1, file_size},
    {"file_size_statx", 1, file_size_statx},
    {"file_exists", 1, file_exists},
    {"file_opath", 1, file_opath},
    {"link_target", 1, link_target},
    {"attribute_value", 1, attribute_value},
    {"free_space", 1, free_space},
    {"watch_by_inotify", 1, watch_by_inotify},
    {"watch_by_fanotify", 1, watch_by_fanotify},
    {"process_file", 2, process_file},
    {"process_memory", 2, process_memory},
    {"process_limits", 1, process_limits},
    {"process_priority", 1, process_priority},
    {"process_exists", 1, process_exists},
    {"environment", 0, environment},
    {"kernel_log", 0, kernel_log},
    {"path_readable", 1, path_readable},
    {NULL, 0, NULL},
};
