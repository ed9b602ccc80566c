//===- tls_transport_test.cc - Peers without the key ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/transport/descriptor.h"
#include "runtime/transport/socket/cluster_key.h"
#include "runtime/transport/socket/make_stream.h"
#include "runtime/transport/socket/socket_transport.h"
#include "runtime/transport/socket/tls_context.h"
#include "unittests/runtime/transport/socket_folder.h"
#include "unittests/runtime/transport/told_events.h"

namespace pathways {
namespace {

using testing::HasSubstr;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int PortOf(const std::string& address) {
  return std::stoi(address.substr(address.rfind(':') + 1));
}

Descriptor ConnectTo(const std::string& address) {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = Loopback(PortOf(address));
  EXPECT_EQ(
      connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to),
      0);
  return made;
}

// Somebody on the way who takes one connection on, and notes what the side that
// dialed sends.
class Wiretap {
 public:
  explicit Wiretap(const std::string& address)
      : listening_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own = Loopback(0);
    socklen_t bytes = sizeof own;
    auto* name = reinterpret_cast<sockaddr*>(&own);
    EXPECT_EQ(bind(listening_.get(), name, sizeof own), 0);
    EXPECT_EQ(listen(listening_.get(), 1), 0);
    EXPECT_EQ(getsockname(listening_.get(), name, &bytes), 0);
    address_ = absl::StrCat("tcp:127.0.0.1:", ntohs(own.sin_port));
    thread_ = std::thread([this, address] { Run(address); });
  }
  const std::string& address() const { return address_; }
  // Once a side has closed.
  std::string Noted() {
    thread_.join();
    return noted_;
  }

 private:
  void Run(const std::string& address) {
    const Descriptor dialed(accept(listening_.get(), nullptr, nullptr));
    const Descriptor listened = ConnectTo(address);
    for (;;) {
      pollfd waits[] = {{dialed.get(), POLLIN, 0}, {listened.get(), POLLIN, 0}};
      poll(waits, 2, -1);
      for (int side : {0, 1}) {
        if (waits[side].revents == 0) continue;
        char bytes[4096];
        const ssize_t came = read(waits[side].fd, bytes, sizeof bytes);
        if (came <= 0) return;
        if (side == 0) noted_.append(bytes, came);
        send(waits[1 - side].fd, bytes, came, MSG_NOSIGNAL);
      }
    }
  }

  const Descriptor listening_;
  std::string address_, noted_;
  std::thread thread_;
};

class TlsTransportTest : public testing::Test {
 protected:
  std::unique_ptr<Transport> Make(ToldEvents* events, char key) {
    SocketOptions options;
    options.refused = [events](absl::string_view from,
                               const absl::Status& why) {
      events->Refused(from, why);
    };
    options.trust_loopback = true;
    if (key != '\0') {
      options.key =
          *ClusterKey::Read(folder_.NewKey(absl::StrCat("key", ++keys_), key));
    }
    return MakeSocketTransport(options, events);
  }
  void Listen(char key) {
    listening_ = Make(&events_, key);
    const auto address = listening_->Listen("tcp:127.0.0.1:0");
    ASSERT_TRUE(address.ok()) << address.status();
    address_ = *address;
  }
  absl::Status Dial(char key) {
    ToldEvents events;
    return Make(&events, key)->Dial(address_, absl::Seconds(60)).status();
  }

  const SocketFolder folder_;
  int keys_ = 0;
  ToldEvents events_;
  std::unique_ptr<Transport> listening_;
  std::string address_;
};

TEST_F(TlsTransportTest, RefusesAnotherKey) {
  Listen('1');
  const absl::Status status = Dial('2');
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(status.message(), HasSubstr(address_));
  EXPECT_THAT(status.message(), HasSubstr("did not prove that it knows"));
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kPermissionDenied)
      << events_.why();
  EXPECT_TRUE(Dial('1').ok());
  EXPECT_EQ(events_.Next(), "up");
}

TEST_F(TlsTransportTest, RefusesWhoHasNoKey) {
  Listen('1');
  EXPECT_FALSE(Dial('\0').ok());
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kPermissionDenied)
      << events_.why();
}

TEST_F(TlsTransportTest, DoesNotSpeakWithWhoHasNoKey) {
  Listen('\0');
  const absl::Status status = Dial('1');
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_EQ(events_.Next(), "refused");
}

// A controller that dies, or that has just been started again, is dialed again
// and is no reason to look at keys.
TEST_F(TlsTransportTest, MayDialAgainWhoEndsBeforeTheProof) {
  const std::unique_ptr<const TlsContext> context =
      TlsContext::Make(*ClusterKey::Read(folder_.NewKey("key")));
  for (const bool is_read : {false, true}) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    auto other = std::make_unique<Descriptor>(ends[1]);
    const auto stream =
        MakeStream(Descriptor(ends[0]), context.get(), /*dialed=*/true);
    const absl::StatusOr<bool> begun = stream->Open();
    ASSERT_TRUE(begun.ok()) << begun.status();
    EXPECT_FALSE(*begun);
    char hello[4096];
    if (is_read) {
      ASSERT_GT(read(other->get(), hello, sizeof hello), 0);
    }
    other.reset();
    const absl::Status ended = stream->Open().status();
    EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable) << ended;
    EXPECT_THAT(ended.message(), HasSubstr("the connection ended before the "
                                           "other side proved"));
  }
}

TEST_F(TlsTransportTest, IsNotLedToItself) {
  Listen('1');
  const absl::Status status =
      listening_->Dial(address_, absl::Seconds(60)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(status.message(), HasSubstr("leads back to this transport"));
}

TEST_F(TlsTransportTest, NeedsNoLoopback) {
  listening_ = Make(&events_, '1');
  EXPECT_TRUE(listening_->Listen("tcp:0.0.0.0:0").ok());
}

TEST_F(TlsTransportTest, HidesWhatIsSentAndBearsNoReplay) {
  Listen('1');
  Wiretap wiretap(address_);
  ToldEvents events;
  auto dialing = Make(&events, '1');
  const auto peer = dialing->Dial(wiretap.address(), absl::Seconds(60));
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(events_.Next(), "up");
  const std::string secret = "nobody else is to read this";
  dialing->Send(*peer, Urgency::kCritical, secret, secret);
  EXPECT_EQ(events_.Next(), secret);
  dialing->Stop();
  EXPECT_EQ(events_.Next(), "down");
  const std::string noted = wiretap.Noted();
  EXPECT_THAT(noted, testing::Not(HasSubstr(secret)));
  EXPECT_THAT(noted, testing::Not(HasSubstr(secret.substr(0, 6))));

  const Descriptor replay = ConnectTo(address_);
  send(replay.get(), noted.data(), noted.size(), MSG_NOSIGNAL);
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_EQ(events_.why().code(), absl::StatusCode::kPermissionDenied)
      << events_.why();
}

TEST_F(TlsTransportTest, ReadsLittleOfStrangers) {
  Listen('1');
  const Descriptor stranger = ConnectTo(address_);
  // A record of the greatest length, which may hold the beginning of a
  // handshake.
  const std::string record =
      std::string("\x16\x03\x01\x40\x00\x01\x00\x3f\xfc", 9) +
      std::string(16'000, 'x');
  send(stranger.get(), record.data(), record.size(), MSG_NOSIGNAL);
  EXPECT_EQ(events_.Next(), "refused");
  EXPECT_THAT(events_.why().message(), HasSubstr("more than 4096 bytes"));
}

TEST_F(TlsTransportTest, LeavesTheRestOfARecordUnread) {
  const std::unique_ptr<const TlsContext> context =
      TlsContext::Make(*ClusterKey::Read(folder_.NewKey("another")));
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor stranger(ends[1]);
  const auto stream =
      MakeStream(Descriptor(ends[0]), context.get(), /*dialed=*/false);
  const std::string record =
      std::string("\x16\x03\x01\x40\x00\x01\x00\x3f\xfc", 9) +
      std::string(16'000, 'x');
  ASSERT_EQ(send(stranger.get(), record.data(), record.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(record.size()));
  EXPECT_EQ(stream->Open().status().code(),
            absl::StatusCode::kPermissionDenied);
  int left = 0;
  ASSERT_EQ(ioctl(stream->fd(), FIONREAD, &left), 0);
  EXPECT_EQ(record.size() - left, 4097u);
}

}  // namespace
}  // namespace pathways
