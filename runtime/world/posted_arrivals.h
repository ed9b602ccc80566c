//===- posted_arrivals.h - Messages from other processes --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_POSTED_ARRIVALS_H_
#define RUNTIME_WORLD_POSTED_ARRIVALS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/world/actor_table.h"
#include "runtime/world/router.h"
#include "runtime/world/uplink.h"
#include "runtime/world/worker_set.h"
#include "runtime/world/world_parts.h"

namespace pathways {

// Brings messages of other processes to the workers of their receivers.
// Messages for one worker arrive together. A message whose receiver is not in
// this process is sent on.
class PostedArrivals {
 public:
  // All arguments must outlive this object.
  PostedArrivals(const ActorTable* actors, const WorkerSet* workers,
                 Router* router, Uplink* uplink)
      : actors_(*actors),
        workers_(*workers),
        router_(*router),
        uplink_(*uplink) {}

  // These do what the functions of RemoteArrivals promise.
  bool Offer(ActorId from, ActorId to, const WireMessage& message,
             uint64_t bytes, uint64_t offer);
  void SendAll(absl::Span<const Arrival> arrivals);

 private:
  const ActorTable& actors_;
  const WorkerSet& workers_;
  Router& router_;
  Uplink& uplink_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_POSTED_ARRIVALS_H_
