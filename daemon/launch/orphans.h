// What guardd is left with when a launcher dies: its monitors, whose runs go on, and now and then
// the processes of a run that has lost its monitor too.
//
// guardd is a subreaper, so all of them become its children. The living monitors are spared: they
// are known by the runs that they keep. Whoever descends from guardd otherwise, and not from the
// launcher, has nobody else to end it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace guard::daemon {

// On the loop.
class Orphans {
 public:
  // Who is to be left alone: the launcher and the monitors of all runs. Nothing while a monitor is
  // not known yet: then nobody is killed.
  using Keepers = std::function<std::optional<std::vector<pid_t>>()>;

  // `cgroups`: where runs have control groups, or -1; borrowed for good.
  Orphans(boost::asio::io_context& loop, int cgroups, Keepers keepers)
      : cgroups_(cgroups), keepers_(std::move(keepers)), pause_(loop) {}
  Orphans(const Orphans&) = delete;

  // At SIGCHLD. What is left of an orphan's process group goes with it.
  void reap();

  // A launcher or a monitor was lost. Sweeps, a stroke at a time, until two in a row find nobody,
  // or for kBound.
  // `monitor`: its pid, if it is that.
  void hunt(pid_t monitor = 0);
  void stop();  // for good: the launcher ends now because it was told to

  static constexpr std::chrono::seconds kBound{5};

 private:
  void stroke_after(std::chrono::milliseconds pause);
  void stroke();

  int cgroups_;
  Keepers keepers_;
  std::vector<pid_t> lost_;  // monitors whose control groups may be left
  boost::asio::steady_timer pause_;
  std::chrono::steady_clock::time_point until_{};
  bool hunting_ = false;
  bool stopped_ = false;
  int empty_in_a_row_ = 0;
};

}  // namespace guard::daemon
