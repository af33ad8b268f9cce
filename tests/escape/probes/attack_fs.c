// Attacks on files by path: reading, changing, making and removing what no grant covers.
// Everything here is Landlock's to refuse, by hierarchy, whatever the spelling of the path.
#include <dirent.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "verdict.h"

static int read_file(char** arg) {
  const int fd = open(arg[0], O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}

// chdir(2) and stat(2) are free under Landlock, so a working directory may lie outside every grant.
static int read_after_chdir(char** arg) {
  if (chdir(arg[0]) != 0) return -1;
  return read_file(arg + 1);
}

static int read_below_dirfd(char** arg) {
  const int dir = open(arg[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) return -1;
  const int fd = openat(dir, arg[1], O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}

// An O_PATH descriptor needs no right; opening it again through /proc must.
static int read_reopened(char** arg) {
  const int path = open(arg[0], O_PATH | O_CLOEXEC);
  if (path < 0) return -1;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", path);
  const int fd = open(link, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}

static int read_through_proc_root(char** arg) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/proc/self/root%s", arg[0]);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}

// LINK TARGET: a link made in the workspace points out of it.
static int read_through_symlink(char** arg) {
  if (symlink(arg[1], arg[0]) != 0) broken("symlink %s", arg[0]);
  return read_file(arg);
}

static int read_by_openat2(char** arg) {
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
  const long fd = syscall(SYS_openat2, AT_FDCWD, arg[0], &how, sizeof how);
  return fd < 0 ? -1 : print_from((int)fd);
}

static int list(char** arg) {
  DIR* dir = opendir(arg[0]);
  if (!dir) return -1;
  for (struct dirent* entry; (entry = readdir(dir));) printf("%s\n", entry->d_name);
  return 0;
}

static int append(char** arg) {
  const int fd = open(arg[0], O_WRONLY | O_APPEND | O_CLOEXEC);
  return fd < 0 || write(fd, "attacked\n", 9) < 0 ? -1 : 0;
}

static int truncate_path(char** arg) { return truncate(arg[0], 0); }

// Opening for reading may truncate: a right of its own since ABI 3 (Linux 6.2).
static int truncate_by_reading(char** arg) { return open(arg[0], O_RDONLY | O_TRUNC | O_CLOEXEC); }

// Access mode 3 asks for neither reading nor writing, so no right is needed (open(2), "Bugs"), but
// the descriptor takes ioctls.
static int open_for_nothing(char** arg) { return open(arg[0], O_ACCMODE | O_CLOEXEC); }
static int truncate_for_nothing(char** arg) {
  return open(arg[0], O_ACCMODE | O_TRUNC | O_CLOEXEC);
}

static int create(char** arg) {
  return open(arg[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static int create_directory(char** arg) { return mkdir(arg[0], 0700); }
static int create_fifo(char** arg) { return mkfifo(arg[0], 0600); }
static int create_symlink(char** arg) { return symlink("anywhere", arg[0]); }
static int create_socket_node(char** arg) { return mknod(arg[0], S_IFSOCK | 0600, 0); }

// Character device 0:0, overlayfs's whiteout, is the one device node that needs no capability.
static int create_whiteout_node(char** arg) { return mknod(arg[0], S_IFCHR | 0600, 0); }

// An unnamed file below the directory, then given a name.
static int create_from_tmpfile(char** arg) {
  const int fd = open(arg[0], O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, link, AT_FDCWD, arg[1], AT_SYMLINK_FOLLOW);
}

static int remove_file(char** arg) { return unlink(arg[0]); }
static int remove_directory(char** arg) { return rmdir(arg[0]); }
static int rename_path(char** arg) { return rename(arg[0], arg[1]); }

static int rename_exchange(char** arg) {
  return renameat2(AT_FDCWD, arg[0], AT_FDCWD, arg[1], RENAME_EXCHANGE);
}

// Leaves a device node where the file was, without a right to make one (Landlock erratum 4).
static int rename_whiteout(char** arg) {
  return renameat2(AT_FDCWD, arg[0], AT_FDCWD, arg[1], RENAME_WHITEOUT);
}

static int link_path(char** arg) { return link(arg[0], arg[1]); }

// FILE NAME: a second name inside the workspace would bring the workspace's rights to the file.
static int link_and_write(char** arg) {
  if (link(arg[0], arg[1]) != 0) return -1;
  return append(arg + 1);
}

// DIRECTORY NAME FILE: so would moving the directory, for all below it.
static int move_and_write(char** arg) {
  if (rename(arg[0], arg[1]) != 0) return -1;
  if (chdir(arg[1]) != 0) return -1;
  return append(arg + 2);
}

static int link_opath(char** arg) {
  const int fd = open(arg[0], O_PATH | O_CLOEXEC);
  if (fd < 0) return -1;
  char source[64];
  snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
  if (linkat(AT_FDCWD, source, AT_FDCWD, arg[1], AT_SYMLINK_FOLLOW) != 0) return -1;
  return read_file(arg + 1);
}

// A file handle outlives every path, and open_by_handle_at(2) looks at no path at all.
static int take_handle(char** arg) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } u = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
  int mount;
  return name_to_handle_at(AT_FDCWD, arg[0], &u.handle, &mount, 0);
}

// The set-user-ID and set-group-ID bits, by every call that makes something with a mode.
static int create_setuid(char** arg) {
  return open(arg[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 04755);
}
static int create_setuid_creat(char** arg) { return (int)syscall(SYS_creat, arg[0], 04755); }
static int create_setuid_openat2(char** arg) {
  struct open_how how = {.flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, .mode = 04755};
  return (int)syscall(SYS_openat2, AT_FDCWD, arg[0], &how, sizeof how);
}
static int create_setuid_mknod(char** arg) { return mknod(arg[0], S_IFREG | 04755, 0); }
static int create_setuid_tmpfile(char** arg) {
  const int fd = open(arg[0], O_TMPFILE | O_WRONLY | O_CLOEXEC, 04755);
  if (fd < 0) return -1;
  return linkat(fd, "", AT_FDCWD, arg[1], AT_EMPTY_PATH);
}

static const struct verb verbs[] = {
    {"read", 1, read_file},
    {"read_after_chdir", 2, read_after_chdir},
    {"read_below_dirfd", 2, read_below_dirfd},
    {"read_reopened", 1, read_reopened},
    {"read_through_proc_root", 1, read_through_proc_root},
    {"read_through_symlink", 2, read_through_symlink},
    {"read_by_openat2", 1, read_by_openat2},
    {"list", 1, list},
    {"append", 1, append},
    {"truncate", 1, truncate_path},
    {"truncate_by_reading", 1, truncate_by_reading},
    {"open_for_nothing", 1, open_for_nothing},
    {"truncate_for_nothing", 1, truncate_for_nothing},
    {"create", 1, create},
    {"create_directory", 1, create_directory},
    {"create_fifo", 1, create_fifo},
    {"create_symlink", 1, create_symlink},
    {"create_socket_node", 1, create_socket_node},
    {"create_whiteout_node", 1, create_whiteout_node},
    {"create_from_tmpfile", 2, create_from_tmpfile},
    {"remove_file", 1, remove_file},
    {"remove_directory", 1, remove_directory},
    {"rename", 2, rename_path},
    {"rename_exchange", 2, rename_exchange},
    {"rename_whiteout", 2, rename_whiteout},
    {"link", 2, link_path},
    {"link_and_write", 2, link_and_write},
    {"move_and_write", 3, move_and_write},
    {"link_opath", 2, link_opath},
    {"take_handle", 1, take_handle},
    {"create_setuid", 1, create_setuid},
    {"create_setuid_creat", 1, create_setuid_creat},
    {"create_setuid_openat2", 1, create_setuid_openat2},
    {"create_setuid_mknod", 1, create_setuid_mknod},
    {"create_setuid_tmpfile", 2, create_setuid_tmpfile},
    {NULL, 0, NULL},
};
