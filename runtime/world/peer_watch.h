//===- peer_watch.h - Who is told that a host goes or comes -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_PEER_WATCH_H_
#define RUNTIME_WORLD_PEER_WATCH_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "runtime/base/mutex.h"
#include "runtime/world/world.h"

namespace pathways {

// A host in one of its lives.
struct Peer {
  int32_t host = 0;
  uint32_t epoch = 0;
  bool operator==(const Peer&) const = default;
};

// The list that a world keeps for World::WatchPeers. Invariants: (1) what is
// told of a host has epochs that do not fall, and of each epoch first that it
// is up and then that it is down; (2) that an epoch above 1 is up is told only
// after one before it was told to be down; (3) each is told once to each
// watcher; one that comes later hears the last of each host. Any thread; `tell`
// is called with a lock held, so that all watchers are told in one order, and
// must not call back.
class PeerWatch {
 public:
  struct News {
    Peer peer;
    bool is_up = false;
  };
  using Tell = absl::FunctionRef<void(LocalId watcher, const News& news)>;

  void Add(LocalId watcher, Tell tell) {
    MutexLock lock(&mutex_);
    watchers_.push_back(watcher);
    for (const auto& [host, lives] : hosts_) {
      if (lives.up > 1) tell(watcher, {{host, lives.up - 1}, false});
      if (lives.up > 0) tell(watcher, {{host, lives.up}, true});
      if (lives.down > 0 && lives.down >= lives.up) {
        tell(watcher, {{host, lives.down}, false});
      }
    }
  }
  // Of a life that is over already, as it is when one after it is known, nobody
  // is told.
  void ReportDown(Peer peer, Tell tell) {
    MutexLock lock(&mutex_);
    Lives& lives = hosts_[peer.host];
    if (peer.epoch <= lives.down || peer.epoch < lives.up) return;
    lives.down = peer.epoch;
    NotifyAll({peer, false}, tell);
  }
  // Tells first that the life before is over, if nobody was told.
  void ReportUp(Peer peer, Tell tell) {
    MutexLock lock(&mutex_);
    Lives& lives = hosts_[peer.host];
    if (peer.epoch <= lives.up || peer.epoch <= lives.down) return;
    if (lives.down + 1 < peer.epoch) {
      lives.down = peer.epoch - 1;
      NotifyAll({{peer.host, lives.down}, false}, tell);
    }
    lives.up = peer.epoch;
    NotifyAll({peer, true}, tell);
  }

 private:
  // 0: none that is known of.
  struct Lives {
    uint32_t up = 0;    // the last that began
    uint32_t down = 0;  // the last that is over
  };

  void NotifyAll(const News& news, Tell tell)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (LocalId watcher : watchers_) tell(watcher, news);
  }

  Mutex mutex_;
  std::vector<LocalId> watchers_ ABSL_GUARDED_BY(mutex_);
  std::map<int32_t, Lives> hosts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_PEER_WATCH_H_
