//===- head_cost.h - Virtual time of a device's gangs -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_HEAD_COST_H_
#define RUNTIME_DEVICE_HEAD_COST_H_

#include <cstdint>

#include "runtime/device/device_sender.h"
#include "runtime/device/grant_queue.h"
#include "runtime/device/head_gang.h"
#include "runtime/device/long_work.h"
#include "runtime/program/host_actors.h"
#include "runtime/world/world.h"

namespace pathways {

// Lets the head of a device's queue take virtual time. Owned by the device
// `self`, and used by it alone.
class HeadCost {
 public:
  // Makes the object of device `index` of its host. Does not own what the
  // pointers point to.
  HeadCost(World* world, const Actor* self, uint32_t index,
           const HostActors* actors, const WorkLimits* limits,
           const GrantQueue* queue, HeadGang* head, DeviceSender* sender,
           DeviceCounters* counters)
      : world_(world),
        self_(self),
        index_(index),
        actors_(*actors),
        limits_(*limits),
        queue_(*queue),
        head_(*head),
        sender_(*sender),
        counters_(*counters) {}

  // Starts the virtual time of the head, which then waits for it.
  void Start(const DeviceProgram& program, const Gang& gang);
  // Handles kCostDone, kLongCost and kCostLimit, unless the head no longer
  // waits for that time.
  void OnMessage(const LocalMessage& message);

 private:
  void SendAfter(TimeNs delay, const LocalMessage& message);
  // Reports that the head takes longer than WorkLimits::report_ns.
  void Report();
  // Handles a head that takes longer than WorkLimits::limit_ns, as if its
  // kernel never returned.
  void LoseWorker();

  World* const world_;
  const Actor* const self_;
  const uint32_t index_;
  const HostActors& actors_;
  const WorkLimits& limits_;
  const GrantQueue& queue_;
  HeadGang& head_;
  DeviceSender& sender_;
  DeviceCounters& counters_;
};

}  // namespace pathways

#endif  // RUNTIME_DEVICE_HEAD_COST_H_
