#include "common/os/seqpacket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/peer.h"
#include "common/os/pipe.h"
#include "common/os/sys.h"

namespace guard::os {
namespace {

TEST(Seqpacket, CarriesBytesAndDescriptorsTogether) {
  auto ends = *seqpacket_pair();
  auto pipe = *make_pipe();
  const int sent[] = {pipe.read.get(), pipe.write.get()};
  ASSERT_TRUE(send_packet(ends.first.get(), "hello", sent));
  pipe = {};
  auto packet = *receive_packet(ends.second.get(), 100);
  EXPECT_EQ(packet.kind, Packet::Kind::kData);
  EXPECT_EQ(packet.bytes, "hello");
  ASSERT_EQ(packet.fds.size(), 2u);
  EXPECT_EQ(::fcntl(packet.fds[0].get(), F_GETFD), FD_CLOEXEC);
  ASSERT_TRUE(write_all(packet.fds[1].get(), "x"));
  packet.fds[1].reset();
  EXPECT_EQ(*read_all(packet.fds[0].get(), 10), "x");
}

TEST(Seqpacket, KeepsDatagramsApart) {
  auto ends = *seqpacket_pair();
  ASSERT_TRUE(send_packet(ends.first.get(), "one"));
  ASSERT_TRUE(send_packet(ends.first.get(), "two"));
  EXPECT_EQ(receive_packet(ends.second.get(), 100)->bytes, "one");
  EXPECT_EQ(receive_packet(ends.second.get(), 100)->bytes, "two");
}

TEST(Seqpacket, TellsTheEndFromNothingYet) {
  auto ends = *seqpacket_pair();
  EXPECT_EQ(receive_packet(ends.second.get(), 100, true)->kind, Packet::Kind::kNothingYet);
  ends.first.reset();
  EXPECT_EQ(receive_packet(ends.second.get(), 100)->kind, Packet::Kind::kEnd);
}

TEST(Seqpacket, WhatWasSentArrivesAlsoFromAPeerThatWentWithSomethingUnread) {
  auto ends = *seqpacket_pair();
  ASSERT_TRUE(send_packet(ends.second.get(), "never read"));
  ASSERT_TRUE(send_packet(ends.first.get(), "last words"));
  ends.first.reset();
  EXPECT_EQ(receive_packet(ends.second.get(), 100)->bytes, "last words");
  EXPECT_EQ(receive_packet(ends.second.get(), 100)->kind, Packet::Kind::kEnd);
}

TEST(Seqpacket, RefusesADatagramThatDoesNotFitAndLeaksNothing) {
  auto ends = *seqpacket_pair();
  auto pipe = *make_pipe();
  const int sent[] = {pipe.write.get()};
  ASSERT_TRUE(send_packet(ends.first.get(), "too long", sent));
  pipe.write.reset();
  const auto packet = receive_packet(ends.second.get(), 3);
  ASSERT_FALSE(packet);
  EXPECT_EQ(packet.error().code, Errc::kInvalid);
  EXPECT_EQ(*read_all(pipe.read.get(), 10), "");  // the copy in the datagram is closed
}

TEST(Seqpacket, RefusesMoreDescriptorsThanAgreed) {
  auto ends = *seqpacket_pair();
  std::vector<int> many(kMaxPacketFds + 1, ends.first.get());
  char byte = 'x';
  iovec content{&byte, 1};
  std::vector<char> control(CMSG_SPACE(many.size() * sizeof(int)));
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(many.size() * sizeof(int));
  std::copy(many.begin(), many.end(), reinterpret_cast<int*>(CMSG_DATA(part)));
  ASSERT_EQ(::sendmsg(ends.first.get(), &message, 0), 1);
  EXPECT_EQ(receive_packet(ends.second.get(), 10).error().code, Errc::kInvalid);
}

TEST(Seqpacket, SendingToNobodyIsUnavailableAndNoSignal) {
  auto ends = *seqpacket_pair();
  ends.second.reset();
  EXPECT_EQ(send_packet(ends.first.get(), "x").error().code, Errc::kUnavailable);
}

TEST(Seqpacket, AFullPeerIsSaidToBeFullInsteadOfWaitedFor) {
  auto ends = *seqpacket_pair();
  Result<> sent;
  for (int i = 0; i < 100000 && sent; ++i) sent = send_packet(ends.first.get(), "x", {}, true);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().os_errno, EAGAIN);
}

TEST(Peer, OfAPairIsThisProcess) {
  auto ends = *seqpacket_pair();
  const auto peer = *peer_of(ends.first.get());
  EXPECT_EQ(peer.pid, ::getpid());
  EXPECT_EQ(peer.uid, ::getuid());
  EXPECT_EQ(static_cast<bool>(peer.pidfd), peer.pidfd_supported);
}

TEST(Peer, OfAPipeIsAnError) {
  const auto pipe = *make_pipe();
  EXPECT_EQ(peer_of(pipe.read.get()).error().os_errno, ENOTSOCK);
}

}  // namespace
}  // namespace guard::os
