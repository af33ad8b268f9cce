// Attacks on the user's terminal, which a program started from a shell has as descriptors 0 to 2
// and as /dev/tty. TEXT that is typed into it is a command to the shell that comes after.
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>

#include "verdict.h"

static int type_into(int fd, const char* text, unsigned long request) {
  if (fd < 0) return -1;
  for (; *text; ++text) {
    if (syscall(SYS_ioctl, fd, request, text) != 0) return -1;
  }
  return 0;
}

// Whichever of the first three is a terminal.
static int inherited(void) {
  for (int fd = 0; fd < 3; ++fd) {
    if (isatty(fd)) return fd;
  }
  errno = ENOTTY;
  return -1;
}

static int type_inherited(char** arg) { return type_into(inherited(), arg[0], TIOCSTI); }
static int type_dev_tty(char** arg) {
  const int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  return fd < 0 ? -1 : type_into(fd, arg[0], TIOCSTI);
}
// The kernel looks at 32 bits of the request.
static int type_wide(char** arg) { return type_into(inherited(), arg[0], TIOCSTI | 1ul << 32); }
static int type_int80_now(char** arg) {
#if defined(__x86_64__)
  char* low =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  const int fd = inherited();
  if (low == MAP_FAILED) broken("mmap below 4 GiB");
  for (const char* text = arg[0]; *text; ++text) {
    *low = *text;
    if (int80(54 /* ioctl */, fd, TIOCSTI, (long)(intptr_t)low) != 0) return -1;
  }
  return 0;
#else
  (void)arg;
  broken("no int 0x80 here");
#endif
}
static int type_int80(char** arg) { return in_child(type_int80_now, arg); }

static int without_echo(int fd) {
  struct termios modes;
  if (fd < 0) return -1;
  if (tcgetattr(fd, &modes) != 0) return -1;
  modes.c_lflag &= ~(tcflag_t)ECHO;
  // Background processes are stopped for this, were it not for the ignored signal.
  signal(SIGTTOU, SIG_IGN);
  return tcsetattr(fd, TCSANOW, &modes);
}
static int echo_off_inherited(char** arg) {
  (void)arg;
  return without_echo(inherited());
}
static int echo_off_dev_tty(char** arg) {
  (void)arg;
  const int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
  return fd < 0 ? -1 : without_echo(fd);
}

// A terminal is open for reading and writing, whichever end of the program it is.
static int read_typing_from_stdout(char** arg) {
  (void)arg;
  char line[256];
  const ssize_t got = read(1, line, sizeof line - 1);
  if (got < 0) return -1;
  line[got] = 0;
  printf("overheard %s\n", line);
  return 0;
}

// PATH: another terminal of the user.
static int write_other_terminal(char** arg) {
  const int fd = open(arg[0], O_RDWR | O_NOCTTY | O_CLOEXEC);
  return fd < 0 || write(fd, "attacked\n", 9) < 0 ? -1 : 0;
}

static const struct verb verbs[] = {
    {"type_inherited", 1, type_inherited},
    {"type_dev_tty", 1, type_dev_tty},
    {"type_wide", 1, type_wide},
    {"type_int80", 1, type_int80},
    {"echo_off_inherited", 0, echo_off_inherited},
    {"echo_off_dev_tty", 0, echo_off_dev_tty},
    {"read_typing_from_stdout", 0, read_typing_from_stdout},
    {"write_other_terminal", 1, write_other_terminal},
    {NULL, 0, NULL},
};
