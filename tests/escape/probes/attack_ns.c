// Attacks by namespaces and mounts: a user namespace hands out every capability, and with it
// mounts, raw sockets and much kernel code that an ordinary user never reaches.
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "verdict.h"

enum {
  kOpenTree = 428,
  kMoveMount = 429,
  kFsopen = 430,
  kFsconfig = 431,
  kFsmount = 432,
  kFspick = 433,
  kMountSetattr = 442,
  kOpenTreeAttr = 467
};

static int unshare_user(char** arg) {
  (void)arg;
  return unshare(CLONE_NEWUSER);
}
// FLAG: any other namespace by itself. Without capabilities the kernel refuses these anyhow.
static int unshare_flag(char** arg) { return unshare((int)number(arg[0])); }

static int ended(long child) {
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, __WALL);
  return child < 0 ? -1 : 0;
}
static int clone_user(char** arg) {
  (void)arg;
  return ended(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
}
static int clone_user_wide(char** arg) {
  (void)arg;
  return ended(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD | 1l << 40, NULL, NULL, NULL, NULL));
}
static int clone3_user(char** arg) {
  (void)arg;
  struct clone_args how = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  return ended(syscall(SYS_clone3, &how, sizeof how));
}

static void enter(int flags) {
  // The rest of an attack means nothing when this is refused, but then it has to say so.
  if (unshare(CLONE_NEWUSER | flags) != 0) verdict(-1);
}
static int bind_mount_and_read(char** arg) {
  enter(CLONE_NEWNS);
  if (mkdir(arg[1], 0700) != 0 && errno != EEXIST) broken("mkdir %s", arg[1]);
  if (mount(arg[0], arg[1], NULL, MS_BIND | MS_REC, NULL) != 0) return -1;
  if (chdir(arg[1]) != 0) return -1;
  const int fd = open(arg[2], O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}
static int chroot_and_read(char** arg) {
  enter(0);
  if (chroot(arg[0]) != 0 || chdir("/") != 0) return -1;
  const int fd = open(arg[1], O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}
static int mount_tmpfs_over(char** arg) {
  enter(CLONE_NEWNS);
  return mount("tmpfs", arg[0], "tmpfs", 0, NULL);
}
static int detached_tree_read(char** arg) {
  enter(CLONE_NEWNS);
  const int tree = (int)syscall(kOpenTree, AT_FDCWD, arg[0], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) return -1;
  const int fd = openat(tree, arg[1], O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}
static int new_file_system(char** arg) {
  (void)arg;
  enter(CLONE_NEWNS);
  const int context = (int)syscall(kFsopen, "tmpfs", 0);
  if (context < 0 || syscall(kFsconfig, context, 6 /* CMD_CREATE */, NULL, NULL, 0) != 0) return -1;
  return (int)syscall(kFsmount, context, 0, 0);
}
static int raw_socket(char** arg) {
  (void)arg;
  enter(CLONE_NEWNET);
  return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1 /* ICMP */);
}

// PID FILE: joining a namespace of a process outside.
static int join_by_file(char** arg) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/ns/%s", arg[0], arg[1]);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : setns(fd, 0);
}
static int join_by_pidfd(char** arg) {
  const int fd = (int)syscall(SYS_pidfd_open, (pid_t)number(arg[0]), 0);
  return fd < 0 ? -1 : setns(fd, (int)number(arg[1]));
}

// Without a namespace of one's own these want a capability, which a run of root's must not have.
static int chroot_plain(char** arg) { return chroot(arg[0]); }
static int open_tree_plain(char** arg) {
  return (int)syscall(kOpenTree, AT_FDCWD, arg[0], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}
// Without OPEN_TREE_CLONE it is an O_PATH open, which needs nothing; still out of the filter's set.
static int open_tree_path(char** arg) {
  return (int)syscall(kOpenTree, AT_FDCWD, arg[0], OPEN_TREE_CLOEXEC);
}

static const struct verb verbs[] = {
    {"unshare_user", 0, unshare_user},
    {"unshare_flag", 1, unshare_flag},
    {"clone_user", 0, clone_user},
    {"clone_user_wide", 0, clone_user_wide},
    {"clone3_user", 0, clone3_user},
    {"bind_mount_and_read", 3, bind_mount_and_read},
    {"chroot_and_read", 2, chroot_and_read},
    {"mount_tmpfs_over", 1, mount_tmpfs_over},
    {"detached_tree_read", 2, detached_tree_read},
    {"new_file_system", 0, new_file_system},
    {"raw_socket", 0, raw_socket},
    {"join_by_file", 2, join_by_file},
    {"join_by_pidfd", 2, join_by_pidfd},
    {"chroot_plain", 1, chroot_plain},
    {"open_tree_plain", 1, open_tree_plain},
    {"open_tree_path", 1, open_tree_path},
    {NULL, 0, NULL},
};
