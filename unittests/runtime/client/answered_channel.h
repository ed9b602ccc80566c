//===- answered_channel.h - Channel that a test answers ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_ANSWERED_CHANNEL_H_
#define UNITTESTS_RUNTIME_CLIENT_ANSWERED_CHANNEL_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/client/control_channel.h"
#include "runtime/protocol/block_pull.h"
#include "runtime/protocol/wire_kind.h"
#include "runtime/world/testing/recording_world.h"

namespace pathways::testing {

// The channel of a client named "ann" in a recording world without other
// actors. While a call waits, the test handles the messages that it has sent.
class AnsweredChannel {
 public:
  AnsweredChannel() {
    world.is_simulated = false;
    world.on_wait = [this] { HandleSent(); };
    runtime.world = &world;
    runtime.directory = Directory({0}, {{}, {}});
    context.runtime = &runtime;
    actor.Attach("ann");
  }

  // Records the control messages that were sent, and calls `on_message` for
  // each.
  void HandleSent() {
    for (const Sent& one : world.Take()) {
      if (one.kind != Sent::kControl) continue;
      messages.push_back(one.As<proto::Control>());
      if (on_message) on_message(messages.back());
    }
  }
  // Returns the messages of which a field is set, by its kind.
  std::vector<proto::Control> Take(proto::Control::KindCase kind) {
    HandleSent();
    std::vector<proto::Control> taken;
    for (proto::Control& one : std::exchange(messages, {})) {
      if (one.kind_case() == kind) taken.push_back(std::move(one));
    }
    return taken;
  }
  // Sends what a fetch asks for: host h has the number `values[h]`.
  void SendBlocks(const proto::FetchRequest& fetch,
                  const std::vector<float>& values) {
    for (const proto::FetchSource& source : fetch.sources()) {
      actor.transfers().OnWire(static_cast<int32_t>(source.host()),
                               TransferMessage(kBlockMessage, fetch.request(),
                                               {source.first_piece(), 0}),
                               {&values[source.host()], sizeof(float)},
                               [](int32_t, const WireMessage&, Payload) {});
    }
  }
  // Answers a request, with success by default.
  void Answer(uint64_t request, proto::Answer answer = {}) {
    answer.set_request(request);
    channel.OnAnswer(answer);
  }
  void Answer(uint64_t request, absl::StatusCode code, std::string message) {
    proto::Answer answer;
    answer.set_code(static_cast<int>(code));
    answer.set_message(std::move(message));
    Answer(request, std::move(answer));
  }

  RecordingWorld world;
  RuntimeContext runtime;
  ClientContext context;
  ClientActor actor{&world, &runtime.directory, &runtime.controls, 0};
  ControlChannel channel{&context, &actor, "ann"};
  std::function<void(const proto::Control&)> on_message;
  std::vector<proto::Control> messages;
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_ANSWERED_CHANNEL_H_
