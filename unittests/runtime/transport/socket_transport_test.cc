//===- socket_transport_test.cc - Behaviour of sockets alone --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_transport.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/transport/descriptor.h"
#include "runtime/transport/frame.h"
#include "unittests/runtime/transport/socket_folder.h"
#include "unittests/runtime/transport/told_events.h"

namespace pathways {
namespace {

using testing::HasSubstr;

constexpr char kHello[] =
    "pathways\x01\0\0\0\0\0\0\0any sixteen bit";  // and the NUL
static_assert(sizeof kHello == 32);

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// The other side of a connection, without a transport.
class RawPeer {
 public:
  explicit RawPeer(const std::string& path)
      : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = AddressOf(path);
    EXPECT_EQ(
        connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof address),
        0);
  }
  void Send(const std::string& bytes) {
    EXPECT_EQ(send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              bytes.size());
  }
  void ShakeHands() {
    Send(std::string(kHello, sizeof kHello));
    char hello[sizeof kHello];
    EXPECT_EQ(recv(socket_.get(), hello, sizeof hello, MSG_WAITALL),
              sizeof hello);
    EXPECT_EQ(std::memcmp(hello, kHello, 16), 0);
  }
  // Until the other side closes.
  std::string ReadAll() {
    std::string all;
    char bytes[4096];
    for (ssize_t came; (came = read(socket_.get(), bytes, sizeof bytes)) > 0;) {
      all.append(bytes, came);
    }
    return all;
  }

 private:
  const Descriptor socket_;
};

class SocketTransportTest : public testing::Test {
 protected:
  SocketTransportTest() {
    options_.trust_loopback = true;
    options_.refused = [this](absl::string_view from, const absl::Status& why) {
      events_.Refused(from, why);
    };
  }
  std::unique_ptr<Transport> Make(ToldEvents* events) {
    return MakeSocketTransport(options_, events);
  }
  std::unique_ptr<Transport> Listening() {
    auto transport = Make(&events_);
    const auto address = transport->Listen(address_);
    EXPECT_TRUE(address.ok()) << address.status();
    return transport;
  }

  const SocketFolder folder_;
  const std::string path_ = folder_.path("socket");
  const std::string address_ = folder_.address("socket");
  SocketOptions options_;
  ToldEvents events_;  // of who listens
};

TEST_F(SocketTransportTest, NeedsNobodyWhoPolls) {
  auto listening = Listening();
  ToldEvents dialing_events;
  auto dialing = Make(&dialing_events);
  TalkUnpolled(*dialing, dialing_events, *listening, events_, address_);
}

TEST_F(SocketTransportTest, TakesTheAddressOfAProcessThatIsGone) {
  {
    const Descriptor gone(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = AddressOf(path_);
    ASSERT_EQ(bind(gone.get(), reinterpret_cast<const sockaddr*>(&address),
                   sizeof address),
              0);
  }
  ASSERT_TRUE(std::filesystem::exists(path_));
  auto transport = Listening();
  RawPeer peer(path_);
}

TEST_F(SocketTransportTest, LeavesWhatIsNoSocketAlone) {
  std::ofstream(path_) << "precious";
  auto transport = Make(&events_);
  const absl::Status status = transport->Listen(address_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
  EXPECT_EQ(std::filesystem::file_size(path_), 8);
}

TEST_F(SocketTransportTest, KeepsItsSocketForOneUserAndTakesItAway) {
  auto transport = Listening();
  struct stat file;
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600);
  transport->Stop();
  EXPECT_FALSE(std::filesystem::exists(path_));
  // But not what another put in its place.
  transport = Listening();
  std::filesystem::remove(path_);
  std::ofstream(path_) << "another";
  transport->Stop();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SocketTransportTest, SaysWhatTheSystemSays) {
  auto transport = Make(&events_);
  const std::string nowhere = folder_.address("no/such/folder");
  for (const absl::Status& status :
       {transport->Listen(nowhere).status(),
        transport->Dial(nowhere, absl::Seconds(60)).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(status.message(), HasSubstr(nowhere));
    EXPECT_THAT(status.message(), HasSubstr("No such file or directory"));
  }
  const absl::Status status = transport->Listen("tcp:[::zz]:1").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(status.message(), HasSubstr("host of 'tcp:[::zz]:1'"));
}

TEST_F(SocketTransportTest, UsesTcpOnLoopbackAloneAndOnlyIfToldTo) {
  auto transport = Make(&events_);
  ToldEvents dialing_events;
  auto dialing = Make(&dialing_events);
  for (const char* address : {"tcp:127.0.0.1:0", "tcp:[::1]:0"}) {
    const auto listening = transport->Listen(address);
    ASSERT_TRUE(listening.ok()) << listening.status();
    EXPECT_THAT(*listening, testing::Not(testing::EndsWith(":0")));
    EXPECT_TRUE(dialing->Dial(*listening, absl::Seconds(60)).ok());
  }
  absl::Status status = transport->Listen("tcp:0.0.0.0:0").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(status.message(), HasSubstr("it is not loopback"));
  options_.trust_loopback = false;
  transport = Make(&events_);
  status = transport->Listen("tcp:127.0.0.1:0").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(status.message(), HasSubstr("needs a key"));
}

TEST_F(SocketTransportTest, RefusesStrangersWhoSayAnythingElse) {
  auto transport = Listening();
  RawPeer http(path_);
  http.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().message(),
            "the other side does not speak the protocol of this transport");
  EXPECT_EQ(http.ReadAll().size(), sizeof kHello);
  RawPeer other(path_);
  other.Send(std::string(kHello, sizeof kHello).replace(8, 1, "\x02"));
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().message(),
            "the other side speaks version 2 of the frame format, expected 1");
  {
    RawPeer gone(path_);
  }
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SocketTransportTest, RefusesStrangersWhoSayNothing) {
  options_.stranger_timeout = absl::Milliseconds(20);
  auto transport = Listening();
  RawPeer silent(path_);
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kDeadlineExceeded);
  silent.ReadAll();
}

TEST_F(SocketTransportTest, ANewcomerTakesThePlaceOfTheOldestStranger) {
  options_.max_strangers = 2;
  auto transport = Listening();
  RawPeer one(path_), two(path_), three(path_);
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kResourceExhausted)
      << events_.why();
  EXPECT_EQ(events_.why().message(),
            "the connection was dropped in favor of 'a process of this "
            "machine': 2 connections have not completed the handshake");
  one.ReadAll();  // to the end
  two.ShakeHands();
  EXPECT_EQ(events_.Next(), "up");
  three.ShakeHands();
  EXPECT_EQ(events_.Next(), "up");
}

// Whoever says hello gets in, as many as there are who say nothing.
TEST_F(SocketTransportTest, SilentStrangersKeepNobodyOut) {
  options_.max_strangers = 8;
  options_.stranger_timeout = absl::Hours(1);
  auto transport = Listening();
  std::deque<RawPeer> silent;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 8; ++i) silent.emplace_back(path_);
    {
      RawPeer peer(path_);
      peer.ShakeHands();
      std::string what = events_.Next();
      while (what == "refused") {
        ASSERT_EQ(events_.why().code(), absl::StatusCode::kResourceExhausted);
        what = events_.Next();
      }
      ASSERT_EQ(what, "up") << round;
    }
    while (events_.Next() != "down") {
    }
  }
}

TEST_F(SocketTransportTest, EndsTheConnectionOfAPeerThatSendsGarbage) {
  auto transport = Listening();
  RawPeer peer(path_);
  peer.ShakeHands();
  EXPECT_EQ(events_.Next(), "up");
  peer.Send(std::string(100, 'x'));
  EXPECT_EQ(events_.Next(), "down");
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(peer.ReadAll(), "");
}

TEST_F(SocketTransportTest, SaysIfAPeerGoesInTheMiddleOfAMessage) {
  auto transport = Listening();
  for (bool between : {true, false}) {
    {
      RawPeer peer(path_);
      peer.ShakeHands();
      char frame[kFrameBytes];
      EncodeFrame({}, frame);
      peer.Send(std::string(frame, between ? kFrameBytes : 3));
    }
    EXPECT_EQ(events_.Next(), "up");
    if (between) {
      EXPECT_EQ(events_.Next(), "");
    }
    EXPECT_EQ(events_.Next(), "down");
    EXPECT_EQ(events_.why().message(),
              between ? "the other side closed the connection"
                      : "the other side closed the connection in the middle of "
                        "a message");
  }
}

TEST_F(SocketTransportTest, GivesUpClosingToAPeerThatTakesNothing) {
  options_.limits.close_timeout = absl::Milliseconds(20);
  auto transport = Listening();
  RawPeer peer(path_);
  peer.ShakeHands();
  PeerId id;
  EXPECT_EQ(events_.Next(&id), "up");
  const std::string huge(32 << 20, 'x');
  transport->Send(id, Urgency::kBulk, {}, huge);
  transport->Close(id);
  EXPECT_EQ(events_.Next(), "down");
  EXPECT_TRUE(events_.why().ok()) << events_.why();
}

TEST_F(SocketTransportTest, GivesUpDialingWhoDoesNotAnswer) {
  const Descriptor unresponsive(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path_);
  ASSERT_EQ(bind(unresponsive.get(),
                 reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  ASSERT_EQ(listen(unresponsive.get(), 1), 0);
  auto transport = Make(&events_);
  const absl::Status late =
      transport->Dial(address_, absl::Milliseconds(20)).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
  EXPECT_THAT(late.message(), HasSubstr(address_));
  std::thread stopping([&] { transport->Stop(); });
  const absl::Status stopped =
      transport->Dial(address_, absl::InfiniteDuration()).status();
  stopping.join();
  EXPECT_EQ(stopped.code(), absl::StatusCode::kUnavailable) << stopped;
}

std::set<int> InheritedDescriptors() {
  std::set<int> inherited;
  for (int fd = 0; fd < 256; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC)) inherited.insert(fd);
  }
  return inherited;
}

TEST_F(SocketTransportTest, LeavesNothingToProcessesItStarts) {
  const std::set<int> before = InheritedDescriptors();
  auto listening = Listening();
  const auto tcp = listening->Listen("tcp:127.0.0.1:0");
  ASSERT_TRUE(tcp.ok());
  ToldEvents dialing_events;
  auto dialing = Make(&dialing_events);
  EXPECT_TRUE(dialing->Dial(address_, absl::Seconds(60)).ok());
  EXPECT_TRUE(dialing->Dial(*tcp, absl::Seconds(60)).ok());
  EXPECT_EQ(events_.Next(), "up");
  EXPECT_EQ(events_.Next(), "up");
  EXPECT_EQ(InheritedDescriptors(), before);
}

}  // namespace
}  // namespace pathways
