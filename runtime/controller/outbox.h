//===- outbox.h - Messages that the controller sends ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_OUTBOX_H_
#define RUNTIME_CONTROLLER_OUTBOX_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/controller/client_table.h"
#include "runtime/protocol/control_message.h"
#include "runtime/protocol/directory.h"
#include "runtime/protocol/host_epochs.h"
#include "runtime/resources/client_requests.h"
#include "runtime/world/world.h"

namespace pathways {

// Sends the controller's messages, each at once. Invariants: (1) a message to a
// host carries its current epoch, and a host that is gone gets none: its next
// epoch starts without state; (2) a request that expects no answer gets none.
// One owner calls it.
class Outbox {
 public:
  // All arguments must outlive the outbox. `epochs`: the current ones.
  Outbox(World* world, const Directory* directory, ControlPool* controls,
         const HostEpochs* epochs)
      : world_(*world),
        directory_(*directory),
        controls_(*controls),
        epochs_(*epochs) {}

  ControlRef New() const { return controls_.New(); }
  ControlRef New(ControlMessage::Kind kind) const {
    return controls_.New(kind);
  }

  void Send(ActorId to, ControlRef control) {
    world_.PassControl(directory_.controller(), to, std::move(control).Hand());
  }
  void SendToHost(int32_t host, ControlRef control);
  // Sends a message once more, unchanged, because the host may be reading it.
  void SendAgain(int32_t host, const ControlRef& control);
  // Sends each host a message that `fill` writes.
  void SendToHosts(const std::vector<int32_t>& hosts,
                   absl::FunctionRef<void(proto::Control*)> fill);
  void SendToClient(ControlRef control);  // `control` names the client
  // Answers a request. `handle`: handle of the program that it has loaded; 0:
  // none.
  void Answer(ClientRequest request, const absl::Status& status,
              uint64_t handle = 0);
  void AnswerAll(const std::vector<ClientAnswer>& answers);

 private:
  World& world_;
  const Directory& directory_;
  ControlPool& controls_;
  const HostEpochs& epochs_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_OUTBOX_H_
