//===- peer_notices.h - News of hosts for actors ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_PEER_NOTICES_H_
#define RUNTIME_WORLD_PEER_NOTICES_H_

#include <cstdint>

#include "runtime/world/actor_table.h"
#include "runtime/world/peer_watch.h"
#include "runtime/world/router.h"

namespace pathways {

// Posts news of hosts to the actors that watch them. The news always go through
// the inbox of the actor's worker, which keeps one order for all threads.
class PeerNotices {
 public:
  // Both must outlive this object.
  PeerNotices(const ActorTable* actors, Router* router)
      : actors_(*actors), router_(*router) {}

  // These do what the functions of PeerEvents promise.
  void WatchPeers(LocalId actor);
  void ReportPeerDown(int32_t host, uint32_t epoch);
  void ReportPeerUp(int32_t host, uint32_t epoch);

 private:
  void Post(LocalId watcher, const PeerWatch::News& news);

  const ActorTable& actors_;
  Router& router_;
  PeerWatch peers_;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_PEER_NOTICES_H_
