// Attacks by running something: a program outside the grants, one that gains privileges, or code
// that never was a file of its own. The last kind stays open: a sandbox that lets a program read or
// make bytes cannot keep it from running them.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "verdict.h"

// Runs argv to its end; its exit status as the errno of an exec that did not come to be.
static int run(char** argv) {
  fflush(stdout);
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) broken("pipe");
  const pid_t child = fork();
  if (child < 0) broken("fork");
  if (child == 0) {
    execv(argv[0], argv);
    const int error = errno;
    (void)!write(pipe_fds[1], &error, sizeof error);
    _exit(127);
  }
  close(pipe_fds[1]);
  int error = 0, status;
  const ssize_t got = read(pipe_fds[0], &error, sizeof error);
  waitpid(child, &status, 0);
  if (got == sizeof error) {
    errno = error;
    return -1;
  }
  // An interpreter that could not open what it was given says so by its status.
  errno = EACCES;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int program(char** arg) { return run(arg); }

// LD.SO PROGRAM: the loader only reads it.
static int program_by_loader(char** arg) { return run(arg); }

static int write_script(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) broken("write %s", path);
  return close(fd);
}
// SCRIPT INTERPRETER: a script of one's own that names an interpreter outside.
static int script_with_interpreter(char** arg) {
  char line[4096];
  snprintf(line, sizeof line, "#!%s\n", arg[1]);
  write_script(arg[0], line);
  char* argv[] = {arg[0], NULL};
  return run(argv);
}
static int script_of_its_own(char** arg) {
  write_script(arg[0], "#!/bin/sh\nexit 0\n");
  char* argv[] = {arg[0], NULL};
  return run(argv);
}

// A copy of PROGRAM in memory, which has no path to grant.
static int memory_file(char** arg) {
  const int from = open(arg[0], O_RDONLY | O_CLOEXEC);
  const int to = memfd_create("attack", 0);
  struct stat status;
  if (from < 0 || to < 0) return -1;
  if (fstat(from, &status) != 0) broken("fstat");
  for (off_t at = 0; at < status.st_size;) {
    char bytes[65536];
    const ssize_t got = read(from, bytes, sizeof bytes);
    if (got <= 0 || write(to, bytes, (size_t)got) != got) broken("copy");
    at += got;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", to);
  const pid_t child = fork();
  if (child < 0) broken("fork");
  if (child == 0) {
    char *argv[] = {arg[0], NULL}, *env[] = {NULL};
    syscall(SYS_execveat, to, "", argv, env, AT_EMPTY_PATH);
    _exit(errno);
  }
  int state;
  waitpid(child, &state, 0);
  errno = WIFEXITED(state) ? WEXITSTATUS(state) : EINTR;
  return errno == 0 ? 0 : -1;
}

// Prints the user that the program after it runs as: `setuid_helper` is what a set-user-ID copy
// runs.
static int effective_user(char** arg) {
  (void)arg;
  printf("effective user %d\n", geteuid());
  return 0;
}
static int without_no_new_privs(char** arg) {
  (void)arg;
  errno = EPERM;
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : -1;
}
// Becoming somebody else, as root may.
static int become_user(char** arg) {
  return setresuid((uid_t)number(arg[0]), (uid_t)-1, (uid_t)-1);
}
static int capability_left(char** arg) {
  (void)arg;
  for (int capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) return 0;
  }
  errno = EPERM;
  return -1;
}

static const struct verb verbs[] = {
    {"program", 1, program},
    {"program_by_loader", 2, program_by_loader},
    {"script_with_interpreter", 2, script_with_interpreter},
    {"script_of_its_own", 1, script_of_its_own},
    {"memory_file", 1, memory_file},
    {"effective_user", 0, effective_user},
    {"without_no_new_privs", 0, without_no_new_privs},
    {"become_user", 1, become_user},
    {"capability_left", 0, capability_left},
    {NULL, 0, NULL},
};
