//===- device_sender.h - Sends the messages of a device ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_SENDER_H_
#define RUNTIME_DEVICE_DEVICE_SENDER_H_

#include "runtime/device/counters.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/program/local_kind.h"
#include "runtime/world/world.h"

namespace pathways {

// Sends messages in the name of the device `self` and counts them. Does not own
// what the pointers point to.
class DeviceSender {
 public:
  DeviceSender(World* world, const Actor* self, const HostActors* actors,
               DeviceCounters* counters)
      : world_(world), self_(self), actors_(*actors), counters_(*counters) {}

  // Returns a message about a program.
  static LocalMessage New(LocalKind kind, const DeviceProgram& program) {
    LocalMessage message;
    message.kind = kind;
    message.program = program.program;
    message.incarnation = program.incarnation;
    return message;
  }
  void Send(LocalId to, const LocalMessage& message) {
    counters_.sent[message.kind].Add();
    world_->SendLocal(self_->local_id(), to, message);
  }
  void SendExecutor(const LocalMessage& message) {
    Send(actors_.executor, message);
  }
  // Sends to the device at `index` of the host.
  void SendDevice(uint32_t index, const LocalMessage& message) {
    Send(actors_.devices[index], message);
  }

 private:
  World* const world_;
  const Actor* const self_;
  const HostActors& actors_;
  DeviceCounters& counters_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_SENDER_H_
