//===- dispatch.h - What a host does before actions may fire ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host *prepares* an action for a firing, once for all its shards there, and
// then enqueues it on its devices. Parallel dispatch prepares whatever was
// granted; sequential dispatch waits until the host knows that the
// predecessors, on any host, were enqueued (docs/protocol.md, "Dispatch"). When
// dispatch is parallel and preparing costs nothing, a grant says it all and
// nothing of this exists.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_DISPATCH_H_
#define RUNTIME_PROGRAM_DISPATCH_H_

#include <cstdint>
#include <vector>

#include "runtime/world/world.h"

namespace pathways {

struct DispatchOptions {
  bool sequential = false;
  TimeNs host_work_ns = 0;  // to prepare one action for one firing
  // Whether entries wait for their host.
  bool prepares() const { return sequential || host_work_ns > 0; }
};

// How far the actions of one program are prepared on one host. Numbers of
// firings only grow, so messages that say them may come twice and in any order.
struct DispatchTable {
  // What an action waits for before it is prepared for firing n: that firing
  // n - tokens was enqueued, here (index: of items) or elsewhere (of remotes).
  struct Source {
    bool remote = false;
    uint32_t index = 0;
    uint32_t tokens = 0;
  };
  // Another host to be told, with the edge.
  struct Follower {
    int32_t host = 0;
    uint32_t edge = 0;
  };
  // An action with shards on this host.
  struct Item {
    uint32_t action = 0;
    std::vector<uint32_t> devices;
    std::vector<Source> sources;      // sequential dispatch; else none
    std::vector<uint32_t> followers;  // items with this one as a source
    std::vector<Follower> elsewhere;
    uint32_t shards = 0;
    uint64_t prepared = 0;       // firings below are enqueued
    uint64_t fired = 0;          // firings below have happened, on all shards
    std::vector<uint32_t> left;  // [slot]: shards that have not fired
    bool working = false;        // `prepared` waits for the host's time
  };
  // The source of a movement into this host, on another one.
  struct Remote {
    int32_t host = 0;
    uint32_t edge = 0;
    uint32_t item = 0;  // that waits for it
    uint64_t enqueued = 0;
  };

  uint32_t window = 1;
  std::vector<Item> items;       // in the order of the table
  std::vector<int32_t> item_of;  // per action; -1: no shard is here
  std::vector<Remote> remotes;   // by (edge, host)

  // Null: none such.
  Remote* FindRemote(uint32_t edge, int32_t host);
  // Whether `item` can be prepared for its next firing, of those below
  // `granted`. No more than `window` of them are ahead of the devices.
  bool Ready(const Item& item, uint64_t granted) const;
  // The first source that keeps `item` from being prepared; null: none.
  const Source* Missing(const Item& item) const;
};

// The time of one host: one piece of work after another, of all its programs.
// What comes first in the order of the device queues is done first. Invariants:
// (1) the host is busy from Begin to End, with one piece; (2) a piece begins
// when it could be done and the one before has ended, however late that is
// heard. One owner calls it; what is pending goes with it.
class HostWork {
 public:
  struct Piece {
    uint64_t place = 0;  // of the grant
    uint64_t firing = 0;
    uint32_t item = 0;
    uint32_t program = 0, incarnation = 0;
    TimeNs since = 0;  // it could be done
    // For a heap with the first on top. Items are in the order of the table.
    bool operator<(const Piece& other) const {
      if (place != other.place) return place > other.place;
      if (firing != other.firing) return firing > other.firing;
      return item > other.item;
    }
  };

  // A piece that the host is busy with.
  struct Turn {
    Piece piece;
    uint64_t number = 0;  // of the turn
    TimeNs begin = 0, end = 0;
  };

  void Add(const Piece& piece);
  bool empty() const { return heap_.empty(); }
  Piece Take();  // the first; not empty
  // Takes the first, which needs `cost`. The host is not busy, nor empty.
  Turn Begin(TimeNs cost);
  void End() { busy_ = false; }
  bool busy() const { return busy_; }
  // Whether the host is in that turn.
  bool IsIn(uint64_t number) const { return busy_ && number == number_; }
  // Forgets the pieces of a program, but for that of a turn.
  void Drop(uint32_t program, uint32_t incarnation);

 private:
  std::vector<Piece> heap_;
  bool busy_ = false;
  // Of this turn, or the last.
  TimeNs end_ = 0;
  uint64_t number_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_DISPATCH_H_
