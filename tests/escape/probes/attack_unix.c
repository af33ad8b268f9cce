// Attacks through Unix sockets: a service of the user that listens on a path or an abstract name
// will do as it is told (D-Bus starts units, tmux runs commands, ssh-agent signs, guardd runs
// programs).
//
// Below Landlock ABI 9 no file right stands between a program and a socket file; what is refused
// has to be refused when the socket is made, by every way there is to make one.
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "verdict.h"

// "@name" is an abstract address.
static socklen_t address_of(const char* path, struct sockaddr_un* address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) broken("'%s' is too long for a socket", path);
  strcpy(address->sun_path, path);
  const size_t length = offsetof(struct sockaddr_un, sun_path) + strlen(path);
  if (path[0] != '@') return (socklen_t)(length + 1);
  address->sun_path[0] = 0;
  return (socklen_t)length;
}

static int connect_and_say(int fd, const char* path, const char* text) {
  struct sockaddr_un address;
  const socklen_t length = address_of(path, &address);
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, length) != 0) return -1;
  return send(fd, text, strlen(text), 0) < 0 ? -1 : 0;
}

static int say_by_sendto(int fd, const char* path, const char* text) {
  struct sockaddr_un address;
  const socklen_t length = address_of(path, &address);
  if (fd < 0) return -1;
  return sendto(fd, text, strlen(text), 0, (struct sockaddr*)&address, length) < 0 ? -1 : 0;
}

static int say_by_sendmsg(int fd, const char* path, const char* text) {
  struct sockaddr_un address;
  struct iovec bytes = {(void*)text, strlen(text)};
  struct msghdr message = {.msg_name = &address, .msg_iov = &bytes, .msg_iovlen = 1};
  message.msg_namelen = address_of(path, &address);
  if (fd < 0) return -1;
  return sendmsg(fd, &message, 0) < 0 ? -1 : 0;
}

static int new_socket(int type) { return socket(AF_UNIX, type | SOCK_CLOEXEC, 0); }

static int pair_end(int type) {
  int pair[2];
  return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) != 0 ? -1 : pair[0];
}

static int stream(char** arg) { return connect_and_say(new_socket(SOCK_STREAM), arg[0], arg[1]); }
static int seqpacket(char** arg) {
  return connect_and_say(new_socket(SOCK_SEQPACKET), arg[0], arg[1]);
}
static int dgram_connect(char** arg) {
  return connect_and_say(new_socket(SOCK_DGRAM), arg[0], arg[1]);
}
static int dgram_sendto(char** arg) {
  return say_by_sendto(new_socket(SOCK_DGRAM), arg[0], arg[1]);
}
static int dgram_sendmsg(char** arg) {
  return say_by_sendmsg(new_socket(SOCK_DGRAM), arg[0], arg[1]);
}
// SOCK_RAW is another name of SOCK_DGRAM here (unix(7) does not say; net/unix/af_unix.c does).
static int raw_sendto(char** arg) { return say_by_sendto(new_socket(SOCK_RAW), arg[0], arg[1]); }

static int stream_after_chdir(char** arg) {
  if (chdir(arg[0]) != 0) return -1;
  return stream(arg + 1);
}
static int stream_symlink(char** arg) {
  if (symlink(arg[1], arg[0]) != 0) broken("symlink %s", arg[0]);
  char* through[] = {arg[0], arg[2]};
  return stream(through);
}
static int stream_procfd(char** arg) {
  const int path = open(arg[0], O_PATH | O_CLOEXEC);
  if (path < 0) return -1;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", path);
  return connect_and_say(new_socket(SOCK_STREAM), link, arg[1]);
}

// A pair needs no socket(2), and an end of a datagram pair reaches any path.
static int pair_dgram_sendto(char** arg) {
  return say_by_sendto(pair_end(SOCK_DGRAM), arg[0], arg[1]);
}
static int pair_dgram_sendmsg(char** arg) {
  return say_by_sendmsg(pair_end(SOCK_DGRAM), arg[0], arg[1]);
}
static int pair_dgram_connect(char** arg) {
  return connect_and_say(pair_end(SOCK_DGRAM), arg[0], arg[1]);
}
static int pair_raw_sendto(char** arg) { return say_by_sendto(pair_end(SOCK_RAW), arg[0], arg[1]); }
// The kernel compares 32 bits of an int argument; a filter that compares 64 sees another number.
static int pair_dgram_wide(char** arg) {
  int pair[2];
  const long type = SOCK_DGRAM | 1l << 32;
  if (syscall(SYS_socketpair, AF_UNIX | 1l << 32, type, 0l, pair) != 0) return -1;
  return say_by_sendto(pair[0], arg[0], arg[1]);
}
static int stream_wide(char** arg) {
  return connect_and_say((int)syscall(SYS_socket, AF_UNIX | 1l << 32, (long)SOCK_STREAM, 0l),
                         arg[0], arg[1]);
}

// A descriptor carries the rights of whoever opened it, past every rule of the one who gets it.
static int receive_descriptor(char** arg) {
  const int fd = new_socket(SOCK_STREAM);
  struct sockaddr_un address;
  const socklen_t length = address_of(arg[0], &address);
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, length) != 0) return -1;
  char byte;
  struct iovec bytes = {&byte, 1};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &bytes,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  if (recvmsg(fd, &message, 0) < 0 || !CMSG_FIRSTHDR(&message)) return -1;
  int received;
  memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
  return print_from(received);
}

// Taking a name that a client outside is about to connect to.
static int bind_and_listen(int fd, const char* path) {
  struct sockaddr_un address;
  const socklen_t length = address_of(path, &address);
  if (fd < 0 || bind(fd, (struct sockaddr*)&address, length) != 0) return -1;
  return listen(fd, 1);
}
static int squat(char** arg) { return bind_and_listen(new_socket(SOCK_STREAM), arg[0]); }
// An abstract name of the kernel's choice, for clients that guess.
static int squat_autobind(char** arg) {
  (void)arg;
  const int fd = new_socket(SOCK_STREAM);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  return fd < 0 ? -1 : bind(fd, (struct sockaddr*)&address, sizeof(sa_family_t));
}

static const struct verb verbs[] = {
    {"stream", 2, stream},
    {"seqpacket", 2, seqpacket},
    {"dgram_connect", 2, dgram_connect},
    {"dgram_sendto", 2, dgram_sendto},
    {"dgram_sendmsg", 2, dgram_sendmsg},
    {"raw_sendto", 2, raw_sendto},
    {"stream_after_chdir", 3, stream_after_chdir},
    {"stream_symlink", 3, stream_symlink},
    {"stream_procfd", 2, stream_procfd},
    {"pair_dgram_sendto", 2, pair_dgram_sendto},
    {"pair_dgram_sendmsg", 2, pair_dgram_sendmsg},
    {"pair_dgram_connect", 2, pair_dgram_connect},
    {"pair_raw_sendto", 2, pair_raw_sendto},
    {"pair_dgram_wide", 2, pair_dgram_wide},
    {"stream_wide", 2, stream_wide},
    {"receive_descriptor", 1, receive_descriptor},
    {"squat", 1, squat},
    {"squat_autobind", 0, squat_autobind},
    {NULL, 0, NULL},
};
