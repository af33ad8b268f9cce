// Attacks through the network. Landlock (up to ABI 9) governs connect(2) and bind(2) of TCP sockets
// by port and nothing else: not UDP, MPTCP, SCTP, SMC, fast open, listen without bind, netlink,
// vsock.
//
// HOST is an address in numbers; one with a colon is IPv6.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "ring.h"
#include "verdict.h"

#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

struct endpoint {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  };
  socklen_t length;
};

static struct endpoint endpoint_of(const char* host, const char* port) {
  struct endpoint to = {0};
  const uint16_t port_bytes = htons((uint16_t)number(port));
  if (strchr(host, ':')) {
    to.v6.sin6_family = AF_INET6;
    to.v6.sin6_port = port_bytes;
    to.length = sizeof to.v6;
    if (inet_pton(AF_INET6, host, &to.v6.sin6_addr) != 1) broken("address '%s'", host);
  } else {
    to.v4.sin_family = AF_INET;
    to.v4.sin_port = port_bytes;
    to.length = sizeof to.v4;
    if (inet_pton(AF_INET, host, &to.v4.sin_addr) != 1) broken("address '%s'", host);
  }
  return to;
}

static int connect_and_say(int fd, char** arg) {
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  if (fd < 0 || connect(fd, &to.any, to.length) != 0) return -1;
  return send(fd, arg[2], strlen(arg[2]), 0) < 0 ? -1 : 0;
}

// Type and protocol of every spelling below go with HOST's family.
static int socket_for(char** arg, int type, int protocol) {
  return socket(endpoint_of(arg[0], arg[1]).any.sa_family, type | SOCK_CLOEXEC, protocol);
}

static int tcp(char** arg) { return connect_and_say(socket_for(arg, SOCK_STREAM, 0), arg); }
static int mptcp(char** arg) {
  return connect_and_say(socket_for(arg, SOCK_STREAM, IPPROTO_MPTCP), arg);
}
static int mptcp_wide(char** arg) {
  return connect_and_say(
      (int)syscall(SYS_socket, (long)AF_INET, (long)SOCK_STREAM, IPPROTO_MPTCP | 1l << 32), arg);
}
static int sctp(char** arg) { return socket_for(arg, SOCK_STREAM, IPPROTO_SCTP); }
static int smc(char** arg) { return socket_for(arg, SOCK_STREAM, IPPROTO_SMC); }
static int dccp(char** arg) { return socket_for(arg, SOCK_DCCP, IPPROTO_DCCP); }

// Fast open connects inside of send, past the hook of connect(2) (fixed in mid-2026 kernels).
static int fast_open(int fd, char** arg, long more_flags) {
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  if (fd < 0) return -1;
  return syscall(SYS_sendto, fd, arg[2], strlen(arg[2]), MSG_FASTOPEN | more_flags, &to.any,
                 (long)to.length) < 0
             ? -1
             : 0;
}
static int fast_open_sendto(char** arg) {
  return fast_open(socket_for(arg, SOCK_STREAM, 0), arg, 0);
}
static int fast_open_wide(char** arg) {
  return fast_open(socket_for(arg, SOCK_STREAM, 0), arg, 1l << 40);
}
static int fast_open_sendmsg(char** arg) {
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  const int fd = socket_for(arg, SOCK_STREAM, 0);
  struct iovec bytes = {arg[2], strlen(arg[2])};
  struct msghdr message = {
      .msg_name = (void*)&to, .msg_namelen = to.length, .msg_iov = &bytes, .msg_iovlen = 1};
  if (fd < 0) return -1;
  return sendmsg(fd, &message, MSG_FASTOPEN) < 0 ? -1 : 0;
}
static int fast_open_sendmmsg(char** arg) {
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  const int fd = socket_for(arg, SOCK_STREAM, 0);
  struct iovec bytes = {arg[2], strlen(arg[2])};
  struct mmsghdr message = {
      .msg_hdr = {
          .msg_name = (void*)&to, .msg_namelen = to.length, .msg_iov = &bytes, .msg_iovlen = 1}};
  if (fd < 0) return -1;
  return sendmmsg(fd, &message, 1, MSG_FASTOPEN) < 0 ? -1 : 0;
}
// Connecting later: TCP_FASTOPEN_CONNECT makes connect(2) a promise that write(2) keeps.
static int fast_open_connect(char** arg) {
  const int fd = socket_for(arg, SOCK_STREAM, 0), on = 1;
  if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on) != 0) return -1;
  return connect_and_say(fd, arg);
}

// GRANTED HOST PORT MESSAGE: a socket that was let through once, turned to another port.
static int tcp_reused(char** arg) {
  char* granted[] = {arg[1], arg[0]};
  const struct endpoint first = endpoint_of(granted[0], granted[1]);
  const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, &first.any, first.length) != 0) return -1;
  if (connect(fd, &nowhere, sizeof nowhere) != 0) return -1;
  return connect_and_say(fd, arg + 1);
}

// GRANTED HOST PORT MESSAGE: the port in the address flips while the kernel (or whoever else) looks
// at it. Many tries; one that gets through is enough.
struct flip {
  struct endpoint to;
  in_port_t ports[2];
  atomic_bool stop;
};
static void* flip_port(void* argument) {
  struct flip* flip = argument;
  for (unsigned turn = 0; !atomic_load(&flip->stop); ++turn) {
    __atomic_store_n(&flip->to.v4.sin_port, flip->ports[turn & 1], __ATOMIC_RELAXED);
  }
  return NULL;
}
static int tcp_flipped(char** arg) {
  struct flip flip = {.to = endpoint_of(arg[1], arg[2])};
  flip.ports[0] = htons((uint16_t)number(arg[0]));
  flip.ports[1] = htons((uint16_t)number(arg[2]));
  pthread_t thread;
  if (pthread_create(&thread, NULL, flip_port, &flip) != 0) broken("pthread_create");
  int result = -1, error = EACCES;
  for (int turn = 0; turn < 3000 && result != 0; ++turn) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      error = errno;
      break;
    }
    struct endpoint peer;
    socklen_t length = sizeof peer.v4;
    if (connect(fd, &flip.to.any, sizeof flip.to.v4) == 0 &&
        getpeername(fd, &peer.any, &length) == 0 && peer.v4.sin_port == flip.ports[1]) {
      result = send(fd, arg[3], strlen(arg[3]), 0) < 0 ? -1 : 0;
    }
    close(fd);
  }
  atomic_store(&flip.stop, true);
  pthread_join(thread, NULL);
  errno = error;
  return result;
}

static int say_by_sendto(int fd, char** arg) {
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  if (fd < 0) return -1;
  return sendto(fd, arg[2], strlen(arg[2]), 0, &to.any, to.length) < 0 ? -1 : 0;
}
static int udp(char** arg) { return say_by_sendto(socket_for(arg, SOCK_DGRAM, 0), arg); }
static int udp_connect(char** arg) { return connect_and_say(socket_for(arg, SOCK_DGRAM, 0), arg); }
static int udplite(char** arg) {
  return say_by_sendto(socket_for(arg, SOCK_DGRAM, IPPROTO_UDPLITE), arg);
}
static int udp_sendmsg(char** arg) {
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  const int fd = socket_for(arg, SOCK_DGRAM, 0);
  struct iovec bytes = {arg[2], strlen(arg[2])};
  struct msghdr message = {
      .msg_name = (void*)&to, .msg_namelen = to.length, .msg_iov = &bytes, .msg_iovlen = 1};
  if (fd < 0) return -1;
  return sendmsg(fd, &message, 0) < 0 ? -1 : 0;
}
static int udp_sendmmsg(char** arg) {
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  const int fd = socket_for(arg, SOCK_DGRAM, 0);
  struct iovec bytes = {arg[2], strlen(arg[2])};
  struct mmsghdr message = {
      .msg_hdr = {
          .msg_name = (void*)&to, .msg_namelen = to.length, .msg_iov = &bytes, .msg_iovlen = 1}};
  if (fd < 0) return -1;
  return sendmmsg(fd, &message, 1, 0) < 0 ? -1 : 0;
}
// The kernel looks at 32 bits of family and type.
static int udp_wide(char** arg) {
  return say_by_sendto(
      (int)syscall(SYS_socket, AF_INET | 1l << 32, SOCK_DGRAM | 1l << 32, 1l << 32), arg);
}

// io_uring makes, connects and writes to sockets without any of their system calls.
static int ring_socket(struct ring* ring, int type) {
  if (ring_open(ring) != 0) return -1;
  return ring_do(ring, (struct io_uring_sqe){
                           .opcode = IORING_OP_SOCKET, .fd = AF_INET, .off = (unsigned)type});
}
static int io_uring_udp(char** arg) {
  struct ring ring;
  const int fd = ring_socket(&ring, SOCK_DGRAM);
  if (fd < 0) return -1;
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  struct iovec bytes = {arg[2], strlen(arg[2])};
  struct msghdr message = {
      .msg_name = (void*)&to, .msg_namelen = to.length, .msg_iov = &bytes, .msg_iovlen = 1};
  return ring_do(&ring,
                 (struct io_uring_sqe){
                     .opcode = IORING_OP_SENDMSG, .fd = fd, .addr = (uintptr_t)&message, .len = 1});
}
static int io_uring_tcp(char** arg) {
  struct ring ring;
  const int fd = ring_socket(&ring, SOCK_STREAM);
  if (fd < 0) return -1;
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  if (ring_do(&ring, (struct io_uring_sqe){.opcode = IORING_OP_CONNECT,
                                           .fd = fd,
                                           .addr = (uintptr_t)&to,
                                           .off = to.length}) != 0) {
    return -1;
  }
  return send(fd, arg[2], strlen(arg[2]), 0) < 0 ? -1 : 0;
}

// Serving. "ready PORT" tells the test to come by; what it brings is printed.
static int serve(int fd) {
  struct endpoint at;
  at.length = sizeof at.v6;
  if (fd < 0 || listen(fd, 1) != 0) return -1;
  if (getsockname(fd, &at.any, &at.length) != 0) broken("getsockname");
  printf("ready %d\n", ntohs(at.v4.sin_port));
  fflush(stdout);
  struct pollfd event = {.fd = fd, .events = POLLIN};
  if (poll(&event, 1, 5000) != 1) broken("nobody came");
  const int peer = accept(fd, NULL, NULL);
  return peer < 0 ? -1 : print_from(peer);
}
static int bound(int fd, char** arg) {
  const struct endpoint at = endpoint_of(arg[0], arg[1]);
  const int on = 1;
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  return fd < 0 || bind(fd, &at.any, at.length) != 0 ? -1 : fd;
}
static int tcp_serve(char** arg) { return serve(bound(socket_for(arg, SOCK_STREAM, 0), arg)); }
static int mptcp_serve(char** arg) {
  return serve(bound(socket_for(arg, SOCK_STREAM, IPPROTO_MPTCP), arg));
}
// listen(2) without bind(2) takes a port that no rule was asked about.
static int tcp_serve_unbound(char** arg) {
  (void)arg;
  return serve(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}
static int udp_serve(char** arg) {
  const int fd = bound(socket_for(arg, SOCK_DGRAM, 0), arg);
  struct endpoint at;
  at.length = sizeof at.v6;
  if (fd < 0) return -1;
  if (getsockname(fd, &at.any, &at.length) != 0) broken("getsockname");
  printf("ready %d\n", ntohs(at.v4.sin_port));
  fflush(stdout);
  struct pollfd event = {.fd = fd, .events = POLLIN};
  if (poll(&event, 1, 5000) != 1) broken("nobody came");
  return print_from(fd);
}

static int ping_socket(char** arg) {
  (void)arg;
  return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
}

// FAMILY TYPE PROTOCOL, in numbers: whether such a socket can be had at all.
static int any_socket(char** arg) {
  return (int)syscall(SYS_socket, number(arg[0]), number(arg[1]) | SOCK_CLOEXEC, number(arg[2]));
}

// The addresses of this machine, by netlink and by the older ioctl.
static int addresses_by_netlink(char** arg) {
  (void)arg;
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  const struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request = {{.nlmsg_len = sizeof request,
                .nlmsg_type = RTM_GETADDR,
                .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
               {.rtgen_family = AF_UNSPEC}};
  char reply[8192];
  if (fd < 0 || send(fd, &request, sizeof request, 0) < 0) return -1;
  return recv(fd, reply, sizeof reply, 0) > 0 ? 0 : -1;
}
static int addresses_by_ioctl(char** arg) {
  (void)arg;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct ifreq interfaces[16];
  struct ifconf list = {.ifc_len = sizeof interfaces, .ifc_req = interfaces};
  return fd < 0 ? -1 : ioctl(fd, SIOCGIFCONF, &list);
}

// HOST PORT TIMES: connects to a granted port under a storm of signals; "made N" connections must
// be as many as were asked for, none twice, none lost.
static atomic_int storms;
static void count_storm(int signal_number) {
  (void)signal_number;
  atomic_fetch_add(&storms, 1);
}
static int tcp_in_signal_storm(char** arg) {
  const struct sigaction action = {.sa_handler = count_storm, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  const struct endpoint to = endpoint_of(arg[0], arg[1]);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (long turn = 0; turn < number(arg[2]); ++turn) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, &to.any, to.length) != 0) return -1;
    close(fd);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  return 0;
}

static const struct verb verbs[] = {
    {"tcp", 3, tcp},
    {"mptcp", 3, mptcp},
    {"mptcp_wide", 3, mptcp_wide},
    {"sctp", 2, sctp},
    {"smc", 2, smc},
    {"dccp", 2, dccp},
    {"fast_open_sendto", 3, fast_open_sendto},
    {"fast_open_wide", 3, fast_open_wide},
    {"fast_open_sendmsg", 3, fast_open_sendmsg},
    {"fast_open_sendmmsg", 3, fast_open_sendmmsg},
    {"fast_open_connect", 3, fast_open_connect},
    {"tcp_reused", 4, tcp_reused},
    {"tcp_flipped", 4, tcp_flipped},
    {"udp", 3, udp},
    {"udp_connect", 3, udp_connect},
    {"udplite", 3, udplite},
    {"udp_sendmsg", 3, udp_sendmsg},
    {"udp_sendmmsg", 3, udp_sendmmsg},
    {"udp_wide", 3, udp_wide},
    {"io_uring_udp", 3, io_uring_udp},
    {"io_uring_tcp", 3, io_uring_tcp},
    {"tcp_serve", 2, tcp_serve},
    {"mptcp_serve", 2, mptcp_serve},
    {"tcp_serve_unbound", 0, tcp_serve_unbound},
    {"udp_serve", 2, udp_serve},
    {"ping_socket", 0, ping_socket},
    {"any_socket", 3, any_socket},
    {"addresses_by_netlink", 0, addresses_by_netlink},
    {"addresses_by_ioctl", 0, addresses_by_ioctl},
    {"tcp_in_signal_storm", 3, tcp_in_signal_storm},
    {NULL, 0, NULL},
};
