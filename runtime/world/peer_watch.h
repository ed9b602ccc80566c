//===- peer_watch.h - Who is told that a host has gone ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_PEER_WATCH_H_
#define RUNTIME_WORLD_PEER_WATCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/world/world.h"

namespace pathways {

// A host in one of its lives.
struct Peer {
  int32_t host = 0;
  uint32_t epoch = 0;
  bool operator==(const Peer&) const = default;
};

// The list that a world keeps for World::WatchPeers. Any thread. Each watcher
// hears of each peer once, whichever of the two came first.
class PeerWatch {
 public:
  // Returns the peers that went before.
  std::vector<Peer> Add(LocalId watcher) {
    MutexLock lock(&mutex_);
    watchers_.push_back(watcher);
    return gone_;
  }
  // Returns who is to be told; nobody when the peer was known to be gone.
  std::vector<LocalId> Report(Peer peer) {
    MutexLock lock(&mutex_);
    for (const Peer& known : gone_) {
      if (known == peer) return {};
    }
    gone_.push_back(peer);
    return watchers_;
  }

 private:
  Mutex mutex_;
  std::vector<LocalId> watchers_ ABSL_GUARDED_BY(mutex_);
  std::vector<Peer> gone_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_PEER_WATCH_H_
