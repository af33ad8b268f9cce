// What every probe shares: its table of verbs, and how it says what became of its attempt.
//
// A probe is a small hostile program. It makes one attempt per start, `attack_fs read PATH`, and
// its last line and exit status say how that went:
//
//   did              0   the kernel let it happen
//   refused EACCES  10   it came to nothing, with this errno
//   refused SIGSYS  10   the kernel killed the process that tried, with this signal
//   broken: why      3   the attempt could not be made at all, which proves nothing
//
// Whatever the attempt brought home (the bytes of a secret, say) is printed before that. A probe is
// no judge: whether the world outside has changed is for the test to look up.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRefused = 10, kBroken = 3 };

__attribute__((noreturn, format(printf, 1, 2))) static inline void broken(const char* format, ...) {
  const int error = errno;
  va_list arguments;
  va_start(arguments, format);
  printf("broken: ");
  vprintf(format, arguments);
  va_end(arguments);
  printf(" (%s)\n", strerror(error));
  fflush(stdout);
  _exit(kBroken);
}

// Ends the probe: `result` >= 0 is "did", else errno names the refusal.
__attribute__((noreturn)) static inline void verdict(long result) {
  const char* name = result >= 0 ? NULL : strerrorname_np(errno);
  if (result >= 0) {
    puts("did");
  } else {
    printf("refused %s\n", name ? name : "?");
  }
  fflush(stdout);
  _exit(result >= 0 ? 0 : kRefused);
}

// The number of a descriptor, process or port on the command line.
// Keeps errno.
static inline long number(const char* text) {
  char* end;
  const int error = errno;
  errno = 0;
  const long value = strtol(text, &end, 0);
  if (errno || *end || end == text) broken("'%s' is no number", text);
  errno = error;
  return value;
}

// What a read brought home. Short reads do: the secrets are one line.
static inline int print_from(int fd) {
  char bytes[4096];
  const ssize_t got = read(fd, bytes, sizeof bytes - 1);
  if (got < 0) return -1;
  bytes[got] = 0;
  printf("%s\n", bytes);
  return 0;
}

// Runs `attempt` in a child, because a system call filter may answer with a signal. Ends the probe
// with "refused SIGSYS" then; else hands on what the child got, errno included.
static inline int in_child(int (*attempt)(char**), char** argument) {
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) broken("fork");
  if (child == 0) {
    const int result = attempt(argument);
    const int error = errno;
    fflush(stdout);
    _exit(result >= 0 ? 0 : error);
  }
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) broken("waitpid");
  }
  if (WIFSIGNALED(status)) {
    printf("refused SIG%s\n", sigabbrev_np(WTERMSIG(status)));
    fflush(stdout);
    _exit(kRefused);
  }
  errno = WEXITSTATUS(status);
  return errno == 0 ? 0 : -1;
}

// int 0x80, the i386 entry, which works from 64-bit code too. Pointers must lie below 4 GiB (see
// low_copy). Returns as a library function does: -1 and errno.
#if defined(__x86_64__)
static inline long int80(long nr, long a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(nr), "b"(a), "c"(b), "d"(c)
                   : "memory", "r8", "r9", "r10", "r11");
  const int value = (int)result;
  if (value < 0 && value > -4096) {
    errno = -value;
    return -1;
  }
  return value;
}
#endif

struct verb {
  const char* name;
  int arguments;           // how many it needs
  int (*attempt)(char**);  // < 0: refused, errno says how
};

static const struct verb verbs[];  // each probe's own, ends with a null name

int main(int count, char** argument) {
  signal(SIGPIPE, SIG_IGN);
  if (count < 2) broken("no verb");
  for (const struct verb* verb = verbs; verb->name; ++verb) {
    if (strcmp(verb->name, argument[1]) != 0) continue;
    if (count - 2 < verb->arguments) broken("%s takes %d arguments", verb->name, verb->arguments);
    verdict(verb->attempt(argument + 2));
  }
  broken("unknown verb '%s'", argument[1]);
}
