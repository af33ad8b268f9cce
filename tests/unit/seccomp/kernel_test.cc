// The filter in the kernel: a child puts it on and tries. Every attempt is also made by a child
// without the filter, which shows that the refusal is the filter's.
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include <gtest/gtest.h>

#include "tests/unit/seccomp/made_up_call.h"

namespace guard::seccomp {
namespace {

// Returns 0, or the errno with which the attempt failed. Runs in a child.
using Attempt = int (*)();

bool put_on(const Program& program) {
  sock_fprog loaded{static_cast<unsigned short>(program.size()),
                    const_cast<sock_filter*>(program.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded) == 0;
}

// What became of a child that made the attempt: its errno, -signal, or 255 when the filter would
// not go on.
int outcome(Attempt attempt, const Program* program) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(program && !put_on(*program) ? 255 : attempt());
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return 254;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int of(long result) { return result < 0 ? errno : 0; }

struct Trial {
  const char* what;
  Attempt attempt;
  int without;
  int with;
};

void expect(const FilterSpec& spec, std::span<const Trial> trials) {
  const Program& program = filter_for(spec);
  for (const Trial& trial : trials) {
    EXPECT_EQ(outcome(trial.attempt, nullptr), trial.without) << trial.what << ", unfiltered";
    EXPECT_EQ(outcome(trial.attempt, &program), trial.with) << trial.what << ", filtered";
  }
}

TEST(FilterInTheKernel, RefusesWhatItShould) {
  const Trial trials[] = {
      {"a Unix socket", [] { return of(::socket(AF_UNIX, SOCK_STREAM, 0)); }, 0, EPERM},
      {"a Unix socket spelt in 64 bits",
       [] { return of(::syscall(SYS_socket, AF_UNIX | 1ul << 32, 1ul, 0ul)); }, 0, EPERM},
      {"a UDP socket", [] { return of(::socket(AF_INET, SOCK_DGRAM, 0)); }, 0, EPERM},
      {"a netlink socket", [] { return of(::socket(AF_NETLINK, SOCK_RAW, 0)); }, 0, EAFNOSUPPORT},
      {"a datagram pair",
       [] {
         int ends[2];
         return of(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
       },
       0, EPROTONOSUPPORT},
      {"clone3 with no arguments", [] { return of(::syscall(SYS_clone3, nullptr, 0)); }, EINVAL,
       ENOSYS},
      {"SysV shared memory",
       [] {
         const int id = ::shmget(IPC_PRIVATE, 1, 0600);
         const int error = of(id);
         if (id >= 0) ::shmctl(id, IPC_RMID, nullptr);
         return error;
       },
       0, EACCES},
      {"a setuid file",
       [] {
         const int file = ::open("/var/tmp", O_TMPFILE | O_RDWR, 0600);
         return file < 0 ? 253 : of(::fchmod(file, 04700));
       },
       0, EPERM},
      {"the limits of another process",
       [] {
         const pid_t parent = ::getppid();
         rlimit limit{};
         if (::prlimit(parent, RLIMIT_NOFILE, nullptr, &limit) != 0) return 253;
         return of(::prlimit(parent, RLIMIT_NOFILE, &limit, nullptr));
       },
       0, EPERM},
      {"an open that asks for no access", [] { return of(::open("/dev/null", 3)); }, 0, EPERM},
      {"typing into a terminal", [] { return of(::ioctl(-1, TIOCSTI | 1ul << 32, "x")); }, EBADF,
       EPERM},
  };
  expect({}, trials);
}

TEST(FilterInTheKernel, AllowsWhatItShould) {
  const Trial trials[] = {
      {"a stream pair",
       [] {
         int ends[2];
         return of(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
       },
       0, 0},
      {"a child", [] { return outcome([] { return 7; }, nullptr) == 7 ? 0 : 253; }, 0, 0},
      {"a thread, which falls back from clone3",
       [] {
         pthread_t thread;
         const int error =
             ::pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
         return error != 0 ? error : ::pthread_join(thread, nullptr);
       },
       0, 0},
      {"a program that is run", [] { return of(::execl("/bin/true", "true", nullptr)); }, 0, 0},
      {"its own limits",
       [] {
         rlimit limit{};
         if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 253;
         return of(::setrlimit(RLIMIT_NOFILE, &limit));
       },
       0, 0},
      {"a second filter on top", [] { return put_on(filter_for({})) ? 0 : 253; }, 0, 0},
  };
  expect({}, trials);
  const Trial tcp{"a TCP socket", [] { return of(::socket(AF_INET, SOCK_STREAM, 0)); }, 0, 0};
  expect({.inet_stream = true}, {&tcp, 1});
}

#if defined(__x86_64__)
TEST(FilterInTheKernel, KillsAProcessThatEntersAsI386) {
  const Trial trial{
      "getpid by int 0x80",
      [] {
        ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would report it and exit
        long result = 20;            // i386's getpid
        asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
        return result > 0 ? 0 : 253;
      },
      0, -SIGSYS};
  if (outcome(trial.attempt, nullptr) == -SIGSEGV) GTEST_SKIP() << "kernel: no i386 entry";
  expect({}, {&trial, 1});
}
#endif

}  // namespace
}  // namespace guard::seccomp
