// Attacks on the attributes of files: mode, owner, times, extended attributes, flags, leases.
//
// Landlock has no right for any of these (up to ABI 11), so they reach every file of the user, in
// and out of the grants. Each call has many spellings, and closing some of them closes nothing.
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#include "ring.h"
#include "verdict.h"

// Numbers that this C library's headers may not know yet.
enum {
  kFchmodat2 = 452,
  kSetxattrat = 463,
  kRemovexattrat = 466,
  kFileGetattr = 468,
  kFileSetattr = 469
};

static const mode_t kOpen = 0666;
static const char kName[] = "user.attacked";

static int opened(const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) broken("open %s", path);
  return fd;
}

static int chmod_path(char** arg) { return (int)syscall(SYS_chmod, arg[0], kOpen); }
static int chmod_shut(char** arg) { return (int)syscall(SYS_chmod, arg[0], 0); }
static int fchmodat_path(char** arg) { return (int)syscall(SYS_fchmodat, AT_FDCWD, arg[0], kOpen); }
static int fchmodat2_path(char** arg) {
  return (int)syscall(kFchmodat2, AT_FDCWD, arg[0], kOpen, AT_SYMLINK_NOFOLLOW);
}
static int fchmod_read_only(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : fchmod(fd, kOpen);
}
static int chmod_below_dirfd(char** arg) {
  const int dir = opened(arg[0], O_PATH | O_DIRECTORY);
  return dir < 0 ? -1 : (int)syscall(SYS_fchmodat, dir, arg[1], kOpen);
}
static int chmod_opath(char** arg) {
  const int fd = opened(arg[0], O_PATH);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return fd < 0 ? -1 : chmod(link, kOpen);
}
static int chmod_symlink(char** arg) {
  if (symlink(arg[1], arg[0]) != 0) broken("symlink %s", arg[0]);
  return chmod(arg[0], kOpen);
}
static int chmod_after_chdir(char** arg) { return chdir(arg[0]) != 0 ? -1 : chmod(arg[1], kOpen); }
static int chmod_setuid(char** arg) { return (int)syscall(SYS_chmod, arg[0], 04755); }
static int fchmodat_setgid(char** arg) {
  return (int)syscall(SYS_fchmodat, AT_FDCWD, arg[0], 02755);
}
static int fchmod_setuid(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : (int)syscall(SYS_fchmod, fd, 04755);
}
static int fchmodat2_setuid(char** arg) {
  return (int)syscall(kFchmodat2, AT_FDCWD, arg[0], 04755, 0);
}

static int chown_path(char** arg) { return chown(arg[0], getuid(), getgid()); }
static int lchown_path(char** arg) { return lchown(arg[0], getuid(), getgid()); }
static int fchown_read_only(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : fchown(fd, getuid(), getgid());
}
static int fchownat_opath(char** arg) {
  const int fd = opened(arg[0], O_PATH);
  return fd < 0 ? -1 : fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH);
}

static int utime_path(char** arg) {
  const struct utimbuf times = {1, 1};
  return (int)syscall(SYS_utime, arg[0], &times);
}
static int utimes_path(char** arg) {
  const struct timeval times[2] = {{1, 0}, {1, 0}};
  return (int)syscall(SYS_utimes, arg[0], times);
}
static int futimesat_path(char** arg) {
  const struct timeval times[2] = {{1, 0}, {1, 0}};
  return (int)syscall(SYS_futimesat, AT_FDCWD, arg[0], times);
}
static int utimensat_path(char** arg) {
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  return utimensat(AT_FDCWD, arg[0], times, 0);
}
static int futimens_read_only(char** arg) {
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : futimens(fd, times);
}

static int setxattr_path(char** arg) { return setxattr(arg[0], kName, "1", 1, 0); }
static int lsetxattr_path(char** arg) { return lsetxattr(arg[0], kName, "1", 1, 0); }
static int fsetxattr_read_only(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : fsetxattr(fd, kName, "1", 1, 0);
}
static int setxattrat_path(char** arg) {
  struct {
    uint64_t value;
    uint32_t size, flags;
  } args = {(uintptr_t)"1", 1, 0};
  return (int)syscall(kSetxattrat, AT_FDCWD, arg[0], 0, kName, &args, sizeof args);
}
// The file carries "user.keep" from the fixture.
static int removexattr_path(char** arg) { return removexattr(arg[0], "user.keep"); }
static int lremovexattr_path(char** arg) { return lremovexattr(arg[0], "user.keep"); }
static int fremovexattr_read_only(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : fremovexattr(fd, "user.keep");
}
static int removexattrat_path(char** arg) {
  return (int)syscall(kRemovexattrat, AT_FDCWD, arg[0], 0, "user.keep");
}

// A POSIX ACL is an extended attribute: user::rw-, everyone else rw-, as acl(5) lays it out.
static int acl_for_everyone(char** arg) {
  const struct {
    uint32_t version;
    struct {
      uint16_t tag, perm;
      uint32_t id;
    } entry[3];
  } acl = {2, {{0x01, 6, ~0u}, {0x04, 6, ~0u}, {0x20, 6, ~0u}}};
  return setxattr(arg[0], "system.posix_acl_access", &acl, sizeof acl, 0);
}

// "Leave out of dumps" is the flag that an owner may set without a capability.
static int ioctl_setflags(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  int flags = 0;
  if (fd < 0) return -1;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
  flags |= FS_NODUMP_FL;
  return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}
static int ioctl_fssetxattr(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  struct fsxattr attributes;
  if (fd < 0) return -1;
  if (ioctl(fd, FS_IOC_FSGETXATTR, &attributes) != 0) return -1;
  attributes.fsx_xflags |= FS_XFLAG_NODUMP;
  return ioctl(fd, FS_IOC_FSSETXATTR, &attributes);
}
static int file_setattr_path(char** arg) {
  struct {
    uint64_t xflags;
    uint32_t extsize, nextents, projid, cowextsize;
  } attributes = {0};
  if (syscall(kFileGetattr, AT_FDCWD, arg[0], &attributes, sizeof attributes, 0) != 0) return -1;
  attributes.xflags |= FS_XFLAG_NODUMP;
  return (int)syscall(kFileSetattr, AT_FDCWD, arg[0], &attributes, sizeof attributes, 0);
}

// A read lease stalls whoever opens the file for writing, up to /proc/sys/fs/lease-break-time.
static int read_lease(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : fcntl(fd, F_SETLEASE, F_RDLCK);
}
static int directory_notify(char** arg) {
  const int fd = opened(arg[0], O_RDONLY | O_DIRECTORY);
  return fd < 0 ? -1 : fcntl(fd, F_NOTIFY, DN_CREATE);
}
static int lock_exclusively(char** arg) {
  const int fd = opened(arg[0], O_RDONLY);
  return fd < 0 ? -1 : flock(fd, LOCK_EX | LOCK_NB);
}

static int io_uring_setxattr(char** arg) {
  struct ring ring;
  if (ring_open(&ring) != 0) return -1;
  return ring_do(&ring, (struct io_uring_sqe){.opcode = IORING_OP_SETXATTR,
                                              .addr = (uintptr_t)kName,
                                              .addr2 = (uintptr_t)"1",
                                              .addr3 = (uintptr_t)arg[0],
                                              .len = 1});
}

static const struct verb verbs[] = {
    {"chmod", 1, chmod_path},
    {"chmod_shut", 1, chmod_shut},
    {"fchmodat", 1, fchmodat_path},
    {"fchmodat2", 1, fchmodat2_path},
    {"fchmod_read_only", 1, fchmod_read_only},
    {"chmod_below_dirfd", 2, chmod_below_dirfd},
    {"chmod_opath", 1, chmod_opath},
    {"chmod_symlink", 2, chmod_symlink},
    {"chmod_after_chdir", 2, chmod_after_chdir},
    {"chmod_setuid", 1, chmod_setuid},
    {"fchmodat_setgid", 1, fchmodat_setgid},
    {"fchmod_setuid", 1, fchmod_setuid},
    {"fchmodat2_setuid", 1, fchmodat2_setuid},
    {"chown", 1, chown_path},
    {"lchown", 1, lchown_path},
    {"fchown_read_only", 1, fchown_read_only},
    {"fchownat_opath", 1, fchownat_opath},
    {"utime", 1, utime_path},
    {"utimes", 1, utimes_path},
    {"futimesat", 1, futimesat_path},
    {"utimensat", 1, utimensat_path},
    {"futimens_read_only", 1, futimens_read_only},
    {"setxattr", 1, setxattr_path},
    {"lsetxattr", 1, lsetxattr_path},
    {"fsetxattr_read_only", 1, fsetxattr_read_only},
    {"setxattrat", 1, setxattrat_path},
    {"removexattr", 1, removexattr_path},
    {"lremovexattr", 1, lremovexattr_path},
    {"fremovexattr_read_only", 1, fremovexattr_read_only},
    {"removexattrat", 1, removexattrat_path},
    {"acl_for_everyone", 1, acl_for_everyone},
    {"ioctl_setflags", 1, ioctl_setflags},
    {"ioctl_fssetxattr", 1, ioctl_fssetxattr},
    {"file_setattr", 1, file_setattr_path},
    {"read_lease", 1, read_lease},
    {"directory_notify", 1, directory_notify},
    {"lock_exclusively", 1, lock_exclusively},
    {"io_uring_setxattr", 1, io_uring_setxattr},
    {NULL, 0, NULL},
};
