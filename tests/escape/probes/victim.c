// A process outside every sandbox that counts what is done to it.
//
// Says "ready ADDRESS FD": where in memory its secret (its first argument) lies and which
// descriptor has its file (its second argument) open. Then names each signal that it gets, a line
// each, and its secret as it now stands when asked by "secret" on stdin. Ends when stdin does.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "verdict.h"

static char secret[128];

static int victim(char** arg) {
  snprintf(secret, sizeof secret, "%s", arg[0]);
  const int file = open(arg[1], O_RDONLY | O_CLOEXEC);
  if (file < 0) broken("open %s", arg[1]);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  const int signals = signalfd(-1, &all, SFD_CLOEXEC);
  printf("ready %ld %d\n", (long)(intptr_t)secret, file);
  fflush(stdout);
  struct pollfd events[2] = {{.fd = signals, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
  while (poll(events, 2, -1) > 0) {
    if (events[0].revents) {
      struct signalfd_siginfo info;
      if (read(signals, &info, sizeof info) < 0) broken("signalfd");
      printf("signal %u\n", info.ssi_signo);
    } else if (events[1].revents) {
      char line[16];
      const ssize_t got = read(0, line, sizeof line);
      if (got <= 0) return 0;
      printf("secret %s\n", secret);
    }
    fflush(stdout);
  }
  return 0;
}

static const struct verb verbs[] = {{"wait", 2, victim}, {NULL, 0, NULL}};
