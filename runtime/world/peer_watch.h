//===- peer_watch.h - News that a host is up or down ------------*- C++ -*-===//
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

// A host in one of its epochs.
struct Peer {
  int32_t host = 0;
  uint32_t epoch = 0;
  bool operator==(const Peer&) const = default;
};

// The watchers of PeerEvents::WatchPeers and the last state of each host.
// Invariants: (1) the epochs in the news of a host never decrease, and up comes
// before down in each epoch; (2) news that an epoch above 1 is up come after
// news that an earlier epoch is down; (3) each watcher gets each news once; a
// watcher that is added later gets the last state of each host. Thread-safe.
// `tell` is called under a lock, so that all watchers get the news in one
// order; it must not call back.
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
  // Reports an epoch as down. Does nothing if the epoch is known to be over,
  // which is also so if a later epoch is known.
  void ReportDown(Peer peer, Tell tell) {
    MutexLock lock(&mutex_);
    Lives& lives = hosts_[peer.host];
    if (peer.epoch <= lives.down || peer.epoch < lives.up) return;
    lives.down = peer.epoch;
    NotifyAll({peer, false}, tell);
  }
  // Reports an epoch as up. First notifies watchers that the epoch before is
  // down, if they do not know.
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
  // The last known epochs of a host; 0 if none is known.
  struct Lives {
    uint32_t up = 0;    // last epoch that began
    uint32_t down = 0;  // last epoch that is over
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
