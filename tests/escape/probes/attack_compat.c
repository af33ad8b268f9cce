// Attacks that spell a refused call in another way: through the i386 entry, with the x32 bit, with
// high bits that the kernel cuts off an int argument and a careless filter does not.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "verdict.h"

static const long kHigh = 1l << 32;

#if defined(__x86_64__)
static char* low_copy(const char* text) {
  char* low =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) broken("mmap below 4 GiB");
  return strncpy(low, text, 4095);
}
static int int80_kill_now(char** arg) { return (int)int80(37, number(arg[0]), SIGURG, 0); }
static int int80_chmod_now(char** arg) {
  return (int)int80(15, (long)(intptr_t)low_copy(arg[0]), 0666, 0);
}
static int int80_unshare_now(char** arg) {
  (void)arg;
  return (int)int80(310, CLONE_NEWUSER, 0, 0);
}
static int int80_socket_now(char** arg) {
  (void)arg;
  return (int)int80(359, 1 /* AF_UNIX */, 1 /* SOCK_STREAM */, 0);
}
#else
static int int80_kill_now(char** arg) {
  (void)arg;
  broken("no int 0x80 here");
}
#define int80_chmod_now int80_kill_now
#define int80_unshare_now int80_kill_now
#define int80_socket_now int80_kill_now
#endif
static int int80_kill(char** arg) { return in_child(int80_kill_now, arg); }
static int int80_chmod(char** arg) { return in_child(int80_chmod_now, arg); }
static int int80_unshare(char** arg) { return in_child(int80_unshare_now, arg); }
static int int80_socket(char** arg) { return in_child(int80_socket_now, arg); }

// Kernels without x32 answer ENOSYS by themselves; the filter has to on those with it.
static int x32_chmod_now(char** arg) { return (int)syscall(0x40000000 | SYS_chmod, arg[0], 0666); }
static int x32_chmod(char** arg) { return in_child(x32_chmod_now, arg); }
static int x32_getpid_now(char** arg) {
  (void)arg;
  return (int)syscall(0x40000000 | SYS_getpid);
}
static int x32_getpid(char** arg) { return in_child(x32_getpid_now, arg); }

// mode_t, open flags, fcntl commands and who-arguments are 32 bits wide.
static int wide_setuid_chmod(char** arg) { return (int)syscall(SYS_chmod, arg[0], 04755 | kHigh); }
static int wide_setuid_create(char** arg) {
  return (int)syscall(SYS_openat, (long)AT_FDCWD, arg[0], O_WRONLY | O_CREAT | O_EXCL | kHigh,
                      04755 | kHigh);
}
static int wide_lease(char** arg) {
  const int fd = open(arg[0], O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_SETLEASE | kHigh, (long)F_RDLCK);
}
static int wide_renice(char** arg) {
  return (int)syscall(SYS_setpriority, PRIO_PROCESS | kHigh, number(arg[0]) | kHigh, 15l);
}
static int wide_limit(char** arg) {
  const struct rlimit limit = {64, 64};
  return (int)syscall(SYS_prlimit64, number(arg[0]) | kHigh, RLIMIT_NOFILE | kHigh, &limit, NULL);
}
static int wide_whiteout(char** arg) {
  return (int)syscall(SYS_renameat2, (long)AT_FDCWD, arg[0], (long)AT_FDCWD, arg[1],
                      4 /* RENAME_WHITEOUT */ | kHigh);
}

static const struct verb verbs[] = {
    {"int80_kill", 1, int80_kill},
    {"int80_chmod", 1, int80_chmod},
    {"int80_unshare", 0, int80_unshare},
    {"int80_socket", 0, int80_socket},
    {"x32_chmod", 1, x32_chmod},
    {"x32_getpid", 0, x32_getpid},
    {"wide_setuid_chmod", 1, wide_setuid_chmod},
    {"wide_setuid_create", 1, wide_setuid_create},
    {"wide_lease", 1, wide_lease},
    {"wide_renice", 1, wide_renice},
    {"wide_limit", 1, wide_limit},
    {"wide_whiteout", 2, wide_whiteout},
    {NULL, 0, NULL},
};
