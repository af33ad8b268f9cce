#include "daemon/transport/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include <spdlog/spdlog.h>

namespace guard::daemon {
namespace {

constexpr int kPerTurn = 64;  // then the loop's other work has its turn
constexpr std::chrono::milliseconds kPause{50};

}  // namespace

Acceptor::Acceptor(boost::asio::io_context& loop, int listening, Check check, Admit admit)
    : listening_(loop, listening),
      pause_(loop),
      check_(std::move(check)),
      admit_(std::move(admit)) {}

Acceptor::~Acceptor() { listening_.release(); }

void Acceptor::start() { wait(); }

void Acceptor::stop() {
  stopped_ = true;
  pause_.cancel();
  listening_.cancel();
}

void Acceptor::wait() {
  if (stopped_) return;
  listening_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        [this](const boost::system::error_code& error) {
                          if (!error && !stopped_) accept_some();
                        });
}

void Acceptor::accept_some() {
  for (int i = 0; i < kPerTurn; ++i) {
    os::UniqueFd fd(
        ::accept4(listening_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) break;
      spdlog::warn("accept: {}", std::strerror(errno));
      return back_off();
    }
    const auto peer = os::peer_of(fd.get());
    if (!peer) {
      spdlog::warn("a connection was refused: {}", peer.error().message());
      continue;
    }
    if (const auto allowed = check_(*peer)) {
      admit_(std::move(fd));
    } else if (const auto line = refusals_.note(peer->pid, allowed.error().message(),
                                                std::chrono::steady_clock::now())) {
      spdlog::warn("{}", *line);
    }
  }
  wait();
}

void Acceptor::back_off() {
  pause_.expires_after(kPause);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) wait();
  });
}

}  // namespace guard::daemon
