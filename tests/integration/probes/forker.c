// Processes that do what they can to outlive whoever started them.
//
//   forker setsid N SECONDS MARK   N children, each in a session of its own
//   forker daemon N SECONDS MARK   N daemons by double fork, orphans from the start
//   forker chain N SECONDS MARK    N chains: each process forks the next, in a new session, and
//   exits forker stopped N SECONDS MARK  N children in sessions of their own, all stopped forker
//   parent N SECONDS MARK   N siblings, made with CLONE_PARENT forker leave N SECONDS MARK    as
//   setsid, but the first process then exits with status 3
//
// All ignore SIGTERM, SIGHUP and SIGINT, and end by themselves after SECONDS. "ready\n" on standard
// output when all are there. MARK is for finding them: it stays in every command line.
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static time_t deadline;
static int arrived[2];  // a byte from each child that is where it wants to be

static time_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

static void stay(void) {
  alarm((unsigned)(deadline - now() + 1));  // SIGALRM ends it
  for (;;) pause();
}

static void be_child(const char* mode) {
  setsid();
  if (write(arrived[1], "x", 1) != 1) _exit(1);
  if (strcmp(mode, "stopped") == 0) {
    alarm((unsigned)(deadline - now() + 1));
    raise(SIGSTOP);
  }
  stay();
}

static void be_chain(void) {
  while (now() < deadline) {
    setsid();
    pid_t next = fork();
    if (next != 0 && next != -1) _exit(0);  // EAGAIN: try again
  }
  _exit(0);
}

static void add(const char* mode) {
  if (strcmp(mode, "parent") == 0) {
    long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0) perror("clone");
    if (pid == 0) be_child(mode);
    return;
  }
  pid_t pid = fork();
  if (pid < 0) perror("fork");
  if (pid != 0) {
    if (strcmp(mode, "daemon") == 0) waitpid(pid, NULL, 0);
    return;
  }
  if (strcmp(mode, "chain") == 0) be_chain();
  if (strcmp(mode, "daemon") == 0 && fork() != 0) _exit(0);
  be_child(mode);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: forker MODE N SECONDS MARK\n");
    return 2;
  }
  const char* mode = argv[1];
  deadline = now() + atoi(argv[3]);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  if (pipe(arrived) != 0) return 2;
  int count = atoi(argv[2]);
  for (int i = 0; i < count; ++i) add(mode);
  char byte;
  if (strcmp(mode, "chain") != 0)
    for (int i = 0; i < count && read(arrived[0], &byte, 1) == 1; ++i) continue;
  if (write(1, "ready\n", 6) != 6) return 2;
  if (strcmp(mode, "leave") == 0) return 3;
  stay();
}
