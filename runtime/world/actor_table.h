//===- actor_table.h - The actors of a process ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_ACTOR_TABLE_H_
#define RUNTIME_WORLD_ACTOR_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/world.h"

namespace pathways {

// The actors of a process by number and by address. Any thread may call Add at
// any time. The other functions may be called on any thread that got the number
// in a message, for example, or from Find. Invariants: (1) numbers are dense,
// in the order of Add; (2) an entry never moves; (3) reading takes no lock.
class ActorTable {
 public:
  // The part of an entry that is read for each message, stored apart from the
  // names.
  struct Hot {
    Actor* actor;
    int32_t worker;
    int32_t host;
  };

  ActorTable();
  ~ActorTable();
  ActorTable(const ActorTable&) = delete;
  ActorTable& operator=(const ActorTable&) = delete;

  // Adds an actor and returns its number. All of `placement` but the epoch is
  // kept. From now on Find returns this actor for `address`, instead of an
  // older one; with kNoActor the actor has no address. Returns kNobody and
  // changes nothing if there are kMaxActors already or the address is above
  // that.
  LocalId Add(Actor* actor, const Placement& placement, std::string name,
              ActorId address);
  // Returns kNobody if no actor has this address.
  LocalId Find(ActorId address) const;
  // Returns the entry of an actor. The actor's worker may replace its `actor`.
  Hot& hot(uint32_t index) const {
    return chunks_[index / kActors]
        .load(std::memory_order_acquire)
        ->hot[index % kActors];
  }
  // Replaces an actor by one that drops all messages. Called by the actor's
  // worker, or after the thread of that worker was given up.
  void Retire(LocalId id) { hot(IndexOf(id)).actor = &retired_; }
  Placement PlaceOf(LocalId id) const;
  const std::string& name(LocalId id) const;

 private:
  static constexpr uint32_t kActors = 1024;  // actors per chunk
  static constexpr uint32_t kMaxChunks = (kMaxActors + 1) / kActors;
  struct Chunk {
    Hot hot[kActors];
    int32_t islands[kActors];
    std::string names[kActors];
  };
  struct AddressChunk {
    std::atomic<LocalId> ids[kActors];
  };

  std::unique_ptr<std::atomic<Chunk*>[]> chunks_;
  std::unique_ptr<std::atomic<AddressChunk*>[]> addresses_;
  Actor retired_;  // receives messages to retired actors
  Mutex mutex_;    // held while chunks are added; they are read without it
  uint32_t num_actors_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_ACTOR_TABLE_H_
