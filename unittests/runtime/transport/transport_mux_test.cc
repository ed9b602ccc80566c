//===- transport_mux_test.cc - Chosen by the address ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/transport_mux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/transport/socket/socket_transport.h"
#include "unittests/runtime/transport/socket_folder.h"
#include "unittests/runtime/transport/told_events.h"

namespace pathways {
namespace {

TransportMux::Make Sockets() {
  return [](TransportEvents* events) {
    return MakeSocketTransport(SocketOptions(), events);
  };
}

TEST(TransportMuxTest, ServePeersOfBothAtATime) {
  const SocketFolder folder;
  ToldEvents listening_events, dialing_events;
  TransportMux listening("unix:@", Sockets(), Sockets(), &listening_events);
  TransportMux dialing("unix:@", Sockets(), Sockets(), &dialing_events);
  const std::string named = "unix:@pathways-two-" + std::to_string(getpid());
  for (const std::string& address : {named, folder.address("socket")}) {
    ASSERT_TRUE(listening.Listen(address).ok());
    const auto peer = dialing.Dial(address, absl::Seconds(60));
    ASSERT_TRUE(peer.ok()) << peer.status();
    PeerId other, from;
    EXPECT_EQ(listening_events.Next(&other), "up");
    dialing.Send(*peer, Urgency::kCritical, absl::MakeSpan("there", 5), {});
    EXPECT_EQ(listening_events.Next(&from), "there");
    EXPECT_EQ(from, other);
    listening.Send(other, Urgency::kBulk, absl::MakeSpan("back", 4), {});
    EXPECT_EQ(dialing_events.Next(&from), "back");
    EXPECT_EQ(from, *peer);
  }
}

TEST(TransportMuxTest, SayWhyThereIsNoFirstOne) {
  ToldEvents events;
  TransportMux two(
      "ucx:",
      [](TransportEvents*) -> absl::StatusOr<std::unique_ptr<Transport>> {
        return absl::FailedPreconditionError("not installed");
      },
      Sockets(), &events);
  for (const absl::Status& status :
       {two.Listen("ucx:127.0.0.1:0").status(),
        two.Dial("ucx:127.0.0.1:1", absl::Seconds(1)).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), "not installed");
  }
}

}  // namespace
}  // namespace pathways
