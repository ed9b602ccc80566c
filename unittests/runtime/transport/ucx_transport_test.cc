//===- ucx_transport_test.cc - Behaviour of UCX alone ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_transport.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "runtime/transport/descriptor.h"
#include "runtime/transport/load_ucx.h"
#include "runtime/transport/ucx/ucx_address.h"
#include "runtime/transport/ucx/ucx_hello.h"
#include "unittests/runtime/transport/told_events.h"

namespace pathways {
namespace {

using testing::HasSubstr;

constexpr char kLoopback[] = "ucx:127.0.0.1:0";

class UcxTransportTest : public testing::TestWithParam<UcxWay> {
 protected:
  UcxTransportTest() {
    options_.way = GetParam();
    options_.refused = [this](absl::string_view from, const absl::Status& why) {
      events_.Refused(from, why);
    };
  }
  // What others dial.
  std::string Listen() {
    listening_ = MakeUcxTransport(options_, &events_);
    const auto address = listening_->Listen(kLoopback);
    EXPECT_TRUE(address.ok()) << address.status();
    return address.ok() ? *address : "";
  }

  UcxOptions options_;
  ToldEvents events_;  // of who listens
  std::unique_ptr<Transport> listening_;
};

TEST_P(UcxTransportTest, NeedsNobodyWhoPolls) {
  const std::string address = Listen();
  ToldEvents dialing_events;
  auto dialing = MakeUcxTransport(options_, &dialing_events);
  TalkUnpolled(*dialing, dialing_events, *listening_, events_, address);
}

TEST_P(UcxTransportTest, RefusesWhoLacksTheSecret) {
  const std::string address = Listen();
  const std::string shown = address.substr(0, address.find('/'));
  ToldEvents dialing_events;
  auto dialing = MakeUcxTransport(options_, &dialing_events);
  for (const std::string& tried : {shown, shown + "/0123456789abcdef"}) {
    const absl::Status status =
        dialing->Dial(tried, absl::Seconds(60)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(status.message(), HasSubstr("'" + shown + "'"));
    EXPECT_EQ(events_.Next(), "refused");
    EXPECT_EQ(events_.why().code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(events_.why().message(), HasSubstr("secret"));
  }
  EXPECT_TRUE(dialing->Dial(address, absl::Seconds(60)).ok());
}

TEST_P(UcxTransportTest, DoesNotSpeakToItself) {
  const std::string address = Listen();
  EXPECT_FALSE(listening_->Dial(address, absl::Seconds(60)).ok());
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_THAT(events_.why().message(), HasSubstr("this transport"));
}

TEST_P(UcxTransportTest, OutlivesWhoSpeaksSomethingElse) {
  const std::string address = Listen();
  uint32_t port = 0;
  const std::string shown = address.substr(0, address.find('/'));
  ASSERT_TRUE(absl::SimpleAtoi(shown.substr(shown.rfind(':') + 1), &port));
  sockaddr_in in = {};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (const std::string& says :
       {std::string(), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string(1000, 'x')}) {
    const Descriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(stranger.get(), reinterpret_cast<const sockaddr*>(&in),
                      sizeof in),
              0);
    send(stranger.get(), says.data(), says.size(), MSG_NOSIGNAL);
  }
  ToldEvents dialing_events;
  auto dialing = MakeUcxTransport(options_, &dialing_events);
  EXPECT_TRUE(dialing->Dial(address, absl::Seconds(60)).ok());
}

// Waits for an address on `from`, dials it, says so, and is there.
[[noreturn]] void BeAPeer(const UcxOptions& options, int from) {
  char address[256] = "";
  if (read(from, address, sizeof address - 1) <= 0) _exit(1);
  ToldEvents events;
  auto transport = MakeUcxTransport(options, &events);
  const auto peer = transport->Dial(address, absl::Seconds(60));
  if (!peer.ok()) _exit(2);
  transport->Send(*peer, Urgency::kCritical, absl::MakeSpan("here", 4), {});
  for (;;) pause();
}

TEST_P(UcxTransportTest, TellsOfAProcessThatWasKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();  // before there is any thread
  ASSERT_GE(child, 0);
  if (child == 0) {
    options_.refused = nullptr;
    BeAPeer(options_, ends[0]);
  }
  const Descriptor read_end(ends[0]), write_end(ends[1]);
  const std::string address = Listen();
  ASSERT_EQ(write(write_end.get(), address.data(), address.size()),
            address.size());
  PeerId peer;
  EXPECT_EQ(events_.Next(&peer), "up");
  EXPECT_EQ(events_.Next(), "here");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  PeerId gone;
  EXPECT_EQ(events_.Next(&gone), "down");
  EXPECT_EQ(gone, peer);
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kUnavailable)
      << events_.why();
}

// The network no longer reaches the peer: UCX reports nothing.
TEST_P(UcxTransportTest, TellsOfAPeerThatTakesNothing) {
  if (options_.way != UcxWay::kTcp) GTEST_SKIP() << "by TCP only";
  options_.silence_timeout = absl::Milliseconds(50);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();  // before there is any thread
  ASSERT_GE(child, 0);
  if (child == 0) {
    options_.refused = nullptr;
    BeAPeer(options_, ends[0]);
  }
  const Descriptor read_end(ends[0]), write_end(ends[1]);
  const std::string address = Listen();
  ASSERT_EQ(write(write_end.get(), address.data(), address.size()),
            address.size());
  PeerId peer;
  EXPECT_EQ(events_.Next(&peer), "up");
  EXPECT_EQ(events_.Next(), "here");
  kill(child, SIGSTOP);
  listening_->Send(peer, Urgency::kCritical, absl::MakeSpan("hear", 4), {});
  PeerId gone;
  EXPECT_EQ(events_.Next(&gone), "down");
  EXPECT_EQ(gone, peer);
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(events_.why().message(),
              HasSubstr("the other side has acknowledged none of"));
  EXPECT_THAT(events_.why().message(), HasSubstr("bytes for 50ms"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_P(UcxTransportTest, IsLoadedWhenAskedFor) {
  auto loaded = LoadUcxTransport(options_, &events_);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE((*loaded)->Listen(kLoopback).ok());
}

INSTANTIATE_TEST_SUITE_P(Ways, UcxTransportTest,
                         testing::Values(UcxWay::kSharedMemory, UcxWay::kTcp),
                         [](const testing::TestParamInfo<UcxWay>& info) {
                           return info.param == UcxWay::kTcp ? "Tcp"
                                                             : "SharedMemory";
                         });

TEST(UcxAddressTest, SaysWhichDeviceLeadsThere) {
  const auto address = ResolveUcx("ucx:127.0.0.1:80");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(DeviceTowards(address->endpoint), "lo");
  EXPECT_EQ(DescribeUcx(address->endpoint), "ucx:127.0.0.1:80");
  EXPECT_EQ(DescribeUcx(ResolveUcx("ucx:[::1]:80")->endpoint), "ucx:[::1]:80");
}

TEST(UcxAddressTest, KeepsItsSecretToItself) {
  const std::string text = WithSecret("ucx:127.0.0.1:80", 0xabc);
  EXPECT_EQ(text, "ucx:127.0.0.1:80/0000000000000abc");
  const auto address = ResolveUcx(text);
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->secret, 0xabc);
  EXPECT_EQ(address->shown, "ucx:127.0.0.1:80");
  for (const std::string& bad :
       {text + "0", text.substr(0, text.size() - 1), text + "/",
        std::string("ucx:127.0.0.1:80/wxyzwxyzwxyzwxyz")}) {
    const absl::Status status = ResolveUcx(bad).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(status.message(), testing::Not(HasSubstr("0abc")));
  }
}

TEST(UcxHelloTest, SaysWhatIsWrong) {
  const UcxHello own{.secret = 1, .name = 2};
  const auto check = [&](const UcxHello& hello, size_t bytes) {
    char text[UcxHello::kBytes];
    EncodeUcxHello(hello, text);
    return CheckUcxHello(absl::MakeConstSpan(text, bytes), own);
  };
  EXPECT_TRUE(check({.secret = 1, .name = 3}, UcxHello::kBytes).ok());
  EXPECT_EQ(check({.secret = 1, .name = 3}, 31).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(check({.secret = 3, .name = 3}, UcxHello::kBytes).code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(check(own, UcxHello::kBytes).code(),
            absl::StatusCode::kPermissionDenied);
  const std::string other(UcxHello::kBytes, 'x');
  EXPECT_EQ(CheckUcxHello(other, own).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pathways
