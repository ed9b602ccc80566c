//===- peer_notices.cc - News of hosts for actors -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/peer_notices.h"

namespace pathways {

void PeerNotices::Post(LocalId watcher, const PeerWatch::News& news) {
  if (actors_.hot(IndexOf(watcher)).host == news.peer.host) return;
  router_.Post(-1, Envelope::Of(Envelope::kPeer, news, kNoActor, watcher));
}

void PeerNotices::WatchPeers(LocalId actor) {
  peers_.Add(actor, [this](LocalId watcher, const PeerWatch::News& news) {
    Post(watcher, news);
  });
}

void PeerNotices::ReportPeerDown(int32_t host, uint32_t epoch) {
  peers_.ReportDown({host, epoch},
                    [this](LocalId watcher, const PeerWatch::News& news) {
                      Post(watcher, news);
                    });
}

void PeerNotices::ReportPeerUp(int32_t host, uint32_t epoch) {
  peers_.ReportUp({host, epoch},
                  [this](LocalId watcher, const PeerWatch::News& news) {
                    Post(watcher, news);
                  });
}

}  // namespace pathways
