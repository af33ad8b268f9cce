// Attacks by outliving the run: processes that leave the session, the parent, the group, that
// refuse to be looked at or told to stop, or that are never the same for long.
//
// Every verb takes MARKER and STOP first. The marker is how the test finds the survivors again (it
// stays in their arguments). They end by themselves when the file STOP appears, or after 20
// seconds, so that nothing is left when a sandbox fails.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "verdict.h"

static const char* stop_file;
static time_t started;

static int over(void) { return access(stop_file, F_OK) == 0 || time(NULL) - started > 20; }

__attribute__((noreturn)) static void live_on(void) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  while (!over()) nanosleep(&pause, NULL);
  _exit(0);
}

static void ready(char** arg) {
  stop_file = arg[1];
  started = time(NULL);
}

static void let_go_of_output(void) {
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
}

static pid_t forked(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) broken("fork");
  return child;
}

static int own_session(char** arg) {
  ready(arg);
  if (forked() == 0) {
    setsid();
    let_go_of_output();
    live_on();
  }
  return 0;
}

static int double_fork(char** arg) {
  ready(arg);
  const pid_t child = forked();
  if (child == 0) {
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    if (forked() > 0) _exit(0);
    for (int signal_number = 1; signal_number < 32; ++signal_number) signal(signal_number, SIG_IGN);
    let_go_of_output();
    live_on();
  }
  waitpid(child, NULL, 0);
  return 0;
}

// No generation lives long enough for a sweep over /proc to see and hit it.
static void chain(void) {
  const struct timespec blink = {0, 10 * 1000 * 1000};
  while (!over()) {
    const pid_t child = fork();
    if (child > 0) _exit(0);
    if (child == 0) {
      setsid();
      nanosleep(&blink, NULL);
    }
  }
  _exit(0);
}
static int fork_chain(char** arg) {
  ready(arg);
  signal(SIGCHLD, SIG_IGN);
  if (forked() == 0) {
    let_go_of_output();
    chain();
  }
  return 0;
}
static int fork_chains(char** arg) {
  ready(arg);
  signal(SIGCHLD, SIG_IGN);
  for (int count = 0; count < 4; ++count) {
    if (forked() == 0) {
      let_go_of_output();
      setsid();
      if (fork() > 0) _exit(0);
      chain();
    }
  }
  return 0;
}

// The child becomes its grandparent's, who never forked it.
static int child_of_parent(char** arg) {
  ready(arg);
  fflush(stdout);
  const long child = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) {
    setsid();
    let_go_of_output();
    live_on();
  }
  return child < 0 ? -1 : 0;
}

// Whoever waits for the end of the output waits for this one.
static int held_output(char** arg) {
  ready(arg);
  if (forked() == 0) {
    setsid();
    live_on();
  }
  return 0;
}

// Stays in the foreground too: only a time-out ends it.
static int deaf_tree(char** arg) {
  ready(arg);
  for (int signal_number = 1; signal_number < 32; ++signal_number) signal(signal_number, SIG_IGN);
  for (int count = 0; count < 3; ++count) {
    if (forked() == 0) {
      if (count) setsid();
      if (fork() == 0) live_on();
      live_on();
    }
  }
  live_on();
}

// /proc/PID of such a process belongs to root, whoever asks.
static int undumpable(char** arg) {
  ready(arg);
  if (forked() == 0) {
    setsid();
    prctl(PR_SET_DUMPABLE, 0);
    let_go_of_output();
    live_on();
  }
  return 0;
}

// A stopped process does not die of what it would have to handle.
static int stopped(char** arg) {
  ready(arg);
  const pid_t child = forked();
  if (child == 0) {
    setsid();
    let_go_of_output();
    raise(SIGSTOP);
    live_on();
  }
  int status;
  if (waitpid(child, &status, WUNTRACED) != child) broken("waitpid");
  return 0;
}

// COUNT: so many at once, every second one in a session of its own.
static int bomb(char** arg) {
  ready(arg);
  const long count = number(arg[2]);
  for (long made = 0; made < count; ++made) {
    const pid_t child = fork();
    if (child < 0) return -1;
    if (child > 0) continue;
    if (made % 2) setsid();
    let_go_of_output();
    live_on();
  }
  return 0;
}

static const struct verb verbs[] = {
    {"own_session", 2, own_session},
    {"double_fork", 2, double_fork},
    {"fork_chain", 2, fork_chain},
    {"fork_chains", 2, fork_chains},
    {"child_of_parent", 2, child_of_parent},
    {"held_output", 2, held_output},
    {"deaf_tree", 2, deaf_tree},
    {"undumpable", 2, undumpable},
    {"stopped", 2, stopped},
    {"bomb", 3, bomb},
    {NULL, 0, NULL},
};
