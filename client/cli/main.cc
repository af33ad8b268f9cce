// guardctl, and by argv[0] the names under which its parts will be found.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/guardctl.h"
#include "client/render/terminal.h"
#include "client/rpc/grpc_client.h"

namespace {

using namespace guard;
using namespace guard::client;

// A closed standard descriptor would be the number of the next one that is opened, by gRPC's static
// constructors already, so this runs before any of them, those of shared libraries too. /dev/null
// the wrong way round takes its place: reading or writing it fails with EBADF, as it would have.
void fill_standard_descriptors(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // takes the lowest number
  }
}

using Initializer = void (*)(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] Initializer before_constructors =
    &fill_standard_descriptors;

std::string working_directory() {
  const std::unique_ptr<char, void (*)(void*)> path(::getcwd(nullptr, 0), &std::free);
  // "(unreachable)/…" outside of our root, getcwd(3).
  return path && *path == '/' ? std::string(path.get()) : std::string();
}

std::string_view own_name(const char* argv0) {
  const std::string_view path = argv0 == nullptr ? "guardctl" : argv0;
  return path.substr(path.rfind('/') + 1);
}

Result<std::unique_ptr<GuardClient>> connect(const Endpoint& endpoint) {
  GUARD_ASSIGN(std::unique_ptr<GuardClient> client, GrpcClient::connect(endpoint));
  return client;
}

int guardctl_process(int argc, char** argv, char** variables) {
  const std::string_view name = own_name(argc > 0 ? argv[0] : nullptr);
  std::vector<std::string> environment;
  for (char** variable = variables; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  DescriptorSink out(STDOUT_FILENO, "standard output");
  DescriptorSink err(STDERR_FILENO, "standard error");
  const bool color = wants_color(STDERR_FILENO, environment);
  const TextStyle out_style = style_of(STDOUT_FILENO, environment);
  if (name == "xenarchos" || name == "agentkit") {
    Messages(err, std::string(name), color).error("not built yet", "guardctl run works");
    return kExitBadUsage;
  }
  Messages messages(err, "guardctl", color);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  Context context{.out = out,
                  .messages = messages,
                  .environment = std::move(environment),
                  .cwd = working_directory(),
                  .umask = mask,
                  .out_style = out_style,
                  .connect = connect};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return guardctl(arguments, context);
}

}  // namespace

int main(int argc, char** argv, char** variables) {
  std::signal(SIGPIPE, SIG_IGN);  // a write says EPIPE
  // Without destructors: threads may wait in read(2), and nothing is buffered.
  ::_exit(guardctl_process(argc, argv, variables));
}
