// What a start costs: /bin/true bare, as xenarch-guard, and through a warm guardd by guardctl.
// Read the ratios of one run, not the microseconds: everything varies with the machine.
//
// GUARD_BIN_DIR names the folder of the binaries; the daemon gets a socket of its own.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

std::string binary(const std::string& name) {
  const char* folder = ::getenv("GUARD_BIN_DIR");
  return std::string(folder == nullptr ? "build/release/bin" : folder) + "/" + name;
}

// Standard streams go to /dev/null; -1 when it could not be started.
pid_t start(const std::vector<std::string>& command, int keep = -1) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  if (keep >= 0) posix_spawn_file_actions_adddup2(&actions, keep, 3);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), ::environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

bool succeeds(const std::vector<std::string>& command) {
  const pid_t pid = start(command);
  int status = -1;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

void run(benchmark::State& state, const std::vector<std::string>& command) {
  if (!succeeds(command)) return state.SkipWithError("it does not run");
  for (auto _ : state) {
    if (!succeeds(command)) return state.SkipWithError("it failed");
  }
}

// A guardd of ours, ready when constructed.
class Daemon {
 public:
  Daemon() {
    char folder[] = "/var/tmp/guard-bench-XXXXXX";
    if (::mkdtemp(folder) == nullptr) return;
    folder_ = folder;
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return;
    pid_ = start({binary("guardd"), "--socket", socket(), "--ready-fd", "3"}, ready[1]);
    ::close(ready[1]);
    char word = 0;
    is_ready_ = pid_ > 0 && ::read(ready[0], &word, 1) == 1;
    ::close(ready[0]);
  }
  ~Daemon() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      ::waitpid(pid_, nullptr, 0);
    }
    if (!folder_.empty()) (void)succeeds({"/bin/rm", "-rf", folder_});
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  bool is_ready() const { return is_ready_; }
  std::string socket() const { return folder_ + "/guardd.sock"; }

 private:
  std::string folder_;
  pid_t pid_ = -1;
  bool is_ready_ = false;
};

void bare(benchmark::State& state) { run(state, {"/bin/true"}); }
void one_shot(benchmark::State& state) {
  run(state, {binary("xenarch-guard"), "--quiet", "--", "/bin/true"});
}
void through_guardd(benchmark::State& state) {
  const Daemon daemon;
  if (!daemon.is_ready()) return state.SkipWithError("guardd does not start");
  run(state, {binary("guardctl"), "run", "--socket", daemon.socket(), "--", "/bin/true"});
}

BENCHMARK(bare)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(one_shot)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(through_guardd)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
