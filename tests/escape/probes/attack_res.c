// Attacks on the machine's resources. Small here: whether there is a limit, not how far one gets.
#include <sys/mman.h>
#include <sys/resource.h>

#include "verdict.h"

// BYTES of memory, touched.
static int memory(char** arg) {
  const size_t bytes = (size_t)number(arg[0]);
  char* area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return -1;
  for (size_t at = 0; at < bytes; at += 4096) area[at] = 1;
  return 0;
}
// PATH BYTES of disk.
static int disk(char** arg) {
  const int fd = open(arg[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  return fd < 0 ? -1 : posix_fallocate(fd, 0, number(arg[1])) ? -1 : 0;
}
// COUNT processes at once, each of which waits for the end of a pipe.
static int processes(char** arg) {
  const long count = number(arg[0]);
  int hold[2];
  if (pipe(hold) != 0) broken("pipe");
  long made = 0;
  for (; made < count; ++made) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      char byte;
      close(hold[1]);
      _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
  }
  const int error = errno;
  close(hold[1]);
  while (wait(NULL) > 0) {
  }
  errno = error;
  return made == count ? 0 : -1;
}
// What a limit took away, taken back.
static int raise_limit(char** arg) {
  struct rlimit limit;
  const int resource = (int)number(arg[0]);
  if (getrlimit(resource, &limit) != 0) return -1;
  limit.rlim_max = RLIM_INFINITY;
  return setrlimit(resource, &limit);
}

static const struct verb verbs[] = {
    {"memory", 1, memory},           {"disk", 2, disk}, {"processes", 1, processes},
    {"raise_limit", 1, raise_limit}, {NULL, 0, NULL},
};
