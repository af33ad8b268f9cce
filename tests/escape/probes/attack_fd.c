// Attacks with descriptors that whoever started us left open. Landlock looks at open(2) and at no
// descriptor that was there before, so one that leaks is a hole of its own.
#include <dirent.h>
#include <sys/socket.h>

#include "verdict.h"

static int read_inherited(char** arg) {
  char bytes[256] = "";
  if (pread((int)number(arg[0]), bytes, sizeof bytes - 1, 0) < 0) return -1;
  puts(bytes);
  return 0;
}
static int read_below_inherited(char** arg) {
  const int fd = openat((int)number(arg[0]), arg[1], O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -1 : print_from(fd);
}
static int say_on_inherited(char** arg) {
  return send((int)number(arg[0]), arg[1], strlen(arg[1]), 0) < 0 ? -1 : 0;
}
// Prints every descriptor that is open, found without /proc.
static int list_inherited(char** arg) {
  (void)arg;
  int found = 0;
  for (int fd = 3; fd < 1 << 16; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    printf("open %d\n", fd);
    ++found;
  }
  errno = EBADF;
  return found ? 0 : -1;
}

static const struct verb verbs[] = {
    {"read", 1, read_inherited},
    {"read_below", 2, read_below_inherited},
    {"say", 2, say_on_inherited},
    {"list", 0, list_inherited},
    {NULL, 0, NULL},
};
