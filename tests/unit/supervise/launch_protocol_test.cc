#include "common/supervise/launch_protocol.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/memfd.h"
#include "common/os/pipe.h"
#include "common/os/seqpacket.h"
#include "common/os/sys.h"

namespace guard::supervise {
namespace {

Launch full_launch() {
  Launch launch;
  launch.argv = {"prog", "", "a b\n", "\xff\xfe"};
  launch.candidates = {"/usr/local/bin/prog", "/usr/bin/prog"};
  launch.env = {"PATH=/bin", "EMPTY="};
  launch.confine = true;
  launch.drop_capabilities = false;
  launch.filter = {{0x06, 1, 2, 0x7fff0000}, {0x20, 0, 0, 4}};
  launch.limits = {{RLIMIT_CORE, 1}, {RLIMIT_AS, RLIM_INFINITY}};
  launch.canary_name = "canary";
  launch.wall = std::chrono::milliseconds(1500);
  launch.grace = std::chrono::milliseconds(0);
  launch.umask = 077;
  launch.oom_score_adj = -3;
  return launch;
}

std::size_t index(LaunchFd which) { return static_cast<std::size_t>(which); }

LaunchFds some_fds() {
  LaunchFds fds;
  for (const auto which :
       {LaunchFd::kControl, LaunchFd::kStdin, LaunchFd::kStdout, LaunchFd::kStderr, LaunchFd::kCwd})
    fds[index(which)] = *os::open("/dev/null", O_RDWR);
  return fds;
}

TEST(LaunchBlock, ComesBackAsItWent) {
  const Launch launch = full_launch();
  const auto decoded = decode(encode(launch));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->argv, launch.argv);
  EXPECT_EQ(decoded->candidates, launch.candidates);
  EXPECT_EQ(decoded->env, launch.env);
  EXPECT_TRUE(decoded->confine);
  EXPECT_FALSE(decoded->drop_capabilities);
  ASSERT_EQ(decoded->filter.size(), 2u);
  EXPECT_EQ(decoded->filter[0].k, 0x7fff0000u);
  EXPECT_EQ(decoded->limits, launch.limits);
  EXPECT_EQ(decoded->canary_name, "canary");
  EXPECT_EQ(decoded->wall, launch.wall);
  EXPECT_EQ(decoded->grace, launch.grace);
  EXPECT_EQ(decoded->umask, launch.umask);
  EXPECT_EQ(decoded->oom_score_adj, launch.oom_score_adj);
}

TEST(LaunchBlock, CutShortAnywhereIsAnError) {
  const std::string block = encode(full_launch());
  for (std::size_t length = 0; length < block.size(); ++length)
    EXPECT_FALSE(decode(std::string_view(block).substr(0, length))) << length;
}

TEST(LaunchBlock, WithBytesLeftOverIsAnError) {
  EXPECT_FALSE(decode(encode(full_launch()) + std::string(1, '\0')));
}

TEST(LaunchBlock, ChangedAtRandomIsReadOrRefusedAndNeverMore) {
  const std::string original = encode(full_launch());
  std::mt19937 random(20260101);  // the same blocks every time
  int read = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string block = original;
    for (unsigned changes = 1 + random() % 8; changes > 0; --changes) {
      const std::size_t at = random() % block.size();
      switch (random() % 4) {
        case 0:
          block[at] = static_cast<char>(random());
          break;
        case 1:
          block[at] = static_cast<char>(0xff);
          break;
        case 2:
          block.erase(at, random() % 9);
          if (block.empty()) block = "x";
          break;
        default:
          block.insert(at, random() % 9, static_cast<char>(random()));
      }
    }
    const auto decoded = decode(block);
    if (decoded) {
      ++read;
      EXPECT_FALSE(decoded->argv.empty());
      EXPECT_FALSE(decoded->candidates.empty());
      EXPECT_TRUE(decode(encode(*decoded))) << "what is read can be written and read again";
    } else {
      ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 10000);
}

TEST(LaunchBlock, ClaimingMoreThanThereIsAllocatesNothingOfIt) {
  std::string block = encode(full_launch());
  const std::uint64_t many = kMaxBlockBytes;
  block.replace(0, sizeof many, reinterpret_cast<const char*>(&many), sizeof many);
  EXPECT_FALSE(decode(block));
}

TEST(LaunchBlock, WithNumbersOutOfRangeIsAnError) {
  const auto refused = [](auto change) {
    Launch launch = full_launch();
    change(launch);
    return !decode(encode(launch));
  };
  EXPECT_TRUE(refused([](Launch& l) { l.wall = std::chrono::milliseconds(-1); }));
  EXPECT_TRUE(refused([](Launch& l) { l.wall = std::chrono::milliseconds::max(); }));
  EXPECT_TRUE(refused([](Launch& l) { l.grace = std::chrono::hours(2); }));
  EXPECT_TRUE(refused([](Launch& l) { l.umask = 01000; }));
  EXPECT_TRUE(refused([](Launch& l) { l.oom_score_adj = 1001; }));
  EXPECT_TRUE(refused([](Launch& l) { l.limits = {{RLIM_NLIMITS, 1}}; }));
  EXPECT_TRUE(refused([](Launch& l) { l.limits = {{-1, 1}}; }));
  EXPECT_TRUE(refused([](Launch& l) { l.filter.resize(BPF_MAXINSNS + 1); }));
  EXPECT_FALSE(refused([](Launch&) {}));
}

TEST(LaunchBlock, WithANulInATextIsAnError) {
  std::string block = encode(full_launch());
  const std::size_t at = block.find("prog");
  block[at + 1] = '\0';
  EXPECT_FALSE(decode(block));
}

TEST(LaunchHandover, CarriesTheBlockAndItsDescriptors) {
  auto ends = *os::seqpacket_pair();
  LaunchFds fds = some_fds();
  auto pipe = *os::make_pipe();
  fds[index(LaunchFd::kResult)] = std::move(pipe.write);
  ASSERT_TRUE(send_launch(ends.first.get(), full_launch(), fds));
  fds = {};
  const auto handover = *receive_launch(ends.second.get());
  ASSERT_TRUE(handover);
  EXPECT_EQ(encode(*read_launch(*handover)), encode(full_launch()));
  EXPECT_EQ(handover->fd(LaunchFd::kRuleset), -1);
  EXPECT_EQ(handover->fd(LaunchFd::kCanaryDir), -1);
  ASSERT_TRUE(os::write_all(handover->fd(LaunchFd::kResult), "r"));
  char byte = 0;
  EXPECT_EQ(*os::read_some(pipe.read.get(), &byte, 1), 1u);
}

TEST(LaunchHandover, PassesThroughAForwarderUnread) {
  auto first = *os::seqpacket_pair(), second = *os::seqpacket_pair();
  ASSERT_TRUE(send_launch(first.first.get(), full_launch(), some_fds()));
  const auto forwarded = *receive_launch(first.second.get());
  ASSERT_TRUE(forward_launch(second.first.get(), *forwarded));
  const auto handover = *receive_launch(second.second.get());
  EXPECT_EQ(encode(*read_launch(*handover)), encode(full_launch()));
}

TEST(LaunchHandover, LackingADescriptorIsRefusedBeforeItIsSent) {
  auto ends = *os::seqpacket_pair();
  LaunchFds fds = some_fds();
  fds[index(LaunchFd::kCwd)].reset();
  EXPECT_EQ(send_launch(ends.first.get(), full_launch(), fds).error().code, Errc::kInvalid);
}

TEST(LaunchHandover, TooLongIsSaidToBeTooLong) {
  auto ends = *os::seqpacket_pair();
  Launch launch = full_launch();
  launch.env.emplace_back(kMaxBlockBytes, 'x');
  const auto sent = send_launch(ends.first.get(), launch, some_fds());
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().what, testing::HasSubstr("arguments and environment"));
}

TEST(LaunchHandover, OfADeadPeerIsUnavailable) {
  auto ends = *os::seqpacket_pair();
  ends.second.reset();
  EXPECT_EQ(send_launch(ends.first.get(), full_launch(), some_fds()).error().code,
            Errc::kUnavailable);
}

TEST(LaunchHandover, TellsTheEndOfTheSender) {
  auto ends = *os::seqpacket_pair();
  ends.first.reset();
  const auto handover = receive_launch(ends.second.get());
  ASSERT_TRUE(handover);
  EXPECT_FALSE(*handover);
}

// A datagram as a broken or hostile sender would make it.
Result<std::optional<Handover>> received(LaunchHeader header, int descriptors) {
  auto ends = *os::seqpacket_pair();
  const std::vector<int> fds(static_cast<std::size_t>(descriptors), ends.first.get());
  EXPECT_TRUE(os::send_packet(ends.first.get(),
                              {reinterpret_cast<const char*>(&header), sizeof header}, fds));
  return receive_launch(ends.second.get());
}

TEST(LaunchHandover, RefusesHeadersThatDoNotMatchWhatCame) {
  constexpr std::uint32_t kSix = 0x3f;  // block to cwd
  EXPECT_TRUE(received({.present = kSix}, 6));
  EXPECT_FALSE(received({.present = kSix}, 5));
  EXPECT_FALSE(received({.present = kSix}, 7));
  EXPECT_FALSE(received({.present = kSix & ~2u}, 5));
  EXPECT_FALSE(received({.present = kSix | 1u << 31}, 7));
  EXPECT_FALSE(received({.magic = 1, .present = kSix}, 6));
  EXPECT_FALSE(received({.version = kProtocolVersion + 1, .present = kSix}, 6));
}

TEST(LaunchHandover, RefusesABlockThatIsNotSealedOrOfAnotherSize) {
  Handover handover;
  auto& block = handover.fds[index(LaunchFd::kBlock)];
  const std::string bytes = encode(full_launch());
  block = *os::sealed_memfd("block", bytes);
  handover.header.block_bytes = static_cast<std::uint32_t>(bytes.size());
  EXPECT_TRUE(read_launch(handover));
  ++handover.header.block_bytes;
  EXPECT_FALSE(read_launch(handover));
  block = *os::open("/dev/null", O_RDONLY);
  EXPECT_FALSE(read_launch(handover));
}

TEST(Events, ComeBackAsTheyWent) {
  auto ends = *os::seqpacket_pair();
  const MonitorEvent event{.kind = EventKind::kFinished,
                           .pid = 42,
                           .wait_status = 0x700,
                           .cause = EndCause::kWall,
                           .killed = 3,
                           .wall_us = 1ull << 40,
                           .max_rss_bytes = 1ull << 33,
                           .kill_layer = 1};
  ASSERT_TRUE(send_event(ends.first.get(), event));
  const auto received = *receive_event(ends.second.get());
  ASSERT_TRUE(received.message);
  EXPECT_EQ(received.message->pid, 42);
  EXPECT_EQ(received.message->wall_us, 1ull << 40);
  EXPECT_EQ(received.message->cause, EndCause::kWall);
}

TEST(Orders, TellNothingYetFromTheEnd) {
  auto ends = *os::seqpacket_pair();
  auto received = *receive_order(ends.second.get(), true);
  EXPECT_FALSE(received.message);
  EXPECT_FALSE(received.ended);
  ASSERT_TRUE(send_order(ends.first.get(), {.kind = OrderKind::kSignal, .signal = 10}));
  EXPECT_EQ(receive_order(ends.second.get(), true)->message->signal, 10);
  ends.first.reset();
  received = *receive_order(ends.second.get(), true);
  EXPECT_TRUE(received.ended);
}

TEST(Orders, OfAnotherSizeAreRefused) {
  auto ends = *os::seqpacket_pair();
  ASSERT_TRUE(os::send_packet(ends.first.get(), "kill"));
  EXPECT_FALSE(receive_order(ends.second.get(), true));
}

}  // namespace
}  // namespace guard::supervise
