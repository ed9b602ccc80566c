//===- dispatch.h - Preparation of actions by their host --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A host *prepares* an action for a firing, once for all its shards on the
// host, and then enqueues it on its devices. Parallel dispatch prepares
// everything that is granted. Sequential dispatch waits until the host knows
// that the predecessors, on any host, were enqueued (docs/protocol.md,
// "Dispatch"). If dispatch is parallel and preparation costs nothing, a grant
// alone lets actions fire, and these tables are not built.
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
  TimeNs host_work_ns = 0;  // time to prepare one action for one firing
  // Returns true if entries wait for their host.
  bool prepares() const { return sequential || host_work_ns > 0; }
};

// Dispatch progress of one program on one host. Firing numbers only grow, so
// the messages that carry them may be duplicated and reordered.
struct DispatchTable {
  // A predecessor of an action. Firing n of the action is prepared once firing
  // n - tokens of the predecessor was enqueued, on this host (index: in items)
  // or another one (index: in remotes).
  struct Source {
    bool remote = false;
    uint32_t index = 0;
    uint32_t tokens = 0;
  };
  // Another host to notify, with the edge.
  struct Follower {
    int32_t host = 0;
    uint32_t edge = 0;
  };
  // An action with shards on this host.
  struct Item {
    uint32_t action = 0;
    std::vector<uint32_t> devices;
    std::vector<Source> sources;      // empty unless dispatch is sequential
    std::vector<uint32_t> followers;  // items that have this one as a source
    std::vector<Follower> elsewhere;
    uint32_t shards = 0;
    uint64_t prepared = 0;  // firings below are enqueued
    // Firings below have happened on all shards.
    uint64_t fired = 0;
    std::vector<uint32_t> left;  // [slot]: shards that have not fired
    // True while the host spends its time on the next firing.
    bool working = false;
  };
  // A sender on another host of a movement into this host.
  struct Remote {
    int32_t host = 0;
    uint32_t edge = 0;
    uint32_t item = 0;  // the item that waits for it
    uint64_t enqueued = 0;
  };

  uint32_t window = 1;
  std::vector<Item> items;       // ordered as in the plan's table
  std::vector<int32_t> item_of;  // per action; -1: no shard on this host
  std::vector<Remote> remotes;   // by (edge, host)

  // Returns null if there is none.
  Remote* FindRemote(uint32_t edge, int32_t host);
  // Returns true if `item` can be prepared for its next firing, which must be
  // below `granted`. At most `window` prepared firings are ahead of the
  // devices.
  bool Ready(const Item& item, uint64_t granted) const;
  // Returns the first source that blocks the preparation of `item`, or null if
  // there is none.
  const Source* Missing(const Item& item) const;
};

// Time of one host, which does one piece of work at a time for all its
// programs. Pieces run in the order of the device queues. Invariants: (1) the
// host is busy with one piece from Begin to End; (2) a piece begins once it
// could be done and the previous one has ended, even if that end is reported
// late. Not thread-safe; destroying it drops pending pieces.
class HostWork {
 public:
  struct Piece {
    uint64_t place = 0;  // position of the grant
    uint64_t firing = 0;
    uint32_t item = 0;
    uint32_t program = 0, incarnation = 0;
    TimeNs since = 0;  // when it could be done
    // Orders a heap with the first piece on top. Items are in the order of the
    // plan's table.
    bool operator<(const Piece& other) const {
      if (place != other.place) return place > other.place;
      if (firing != other.firing) return firing > other.firing;
      return item > other.item;
    }
  };

  // The piece that the host is busy with.
  struct Turn {
    Piece piece;
    uint64_t number = 0;  // number of the turn
    TimeNs begin = 0, end = 0;
  };

  void Add(const Piece& piece);
  bool empty() const { return heap_.empty(); }
  Piece Take();  // removes the first piece; requires !empty()
  // Removes the first piece, which needs `cost`, and begins it. Requires
  // !busy() and !empty().
  Turn Begin(TimeNs cost);
  void End() { busy_ = false; }
  bool busy() const { return busy_; }
  // Returns true if the host is in turn `number`.
  bool IsIn(uint64_t number) const { return busy_ && number == number_; }
  // Drops the pieces of a program, except one that is in a turn.
  void Drop(uint32_t program, uint32_t incarnation);

 private:
  std::vector<Piece> heap_;
  bool busy_ = false;
  // End and number of the current or last turn.
  TimeNs end_ = 0;
  uint64_t number_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_DISPATCH_H_
