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

// Actors by number and by address. Add from any thread at any time; all else
// from any thread for a number that it was told, in a message say, or found by
// its address. Invariants: (1) numbers are dense, in the order of Add; (2) what
// was added stays where it is; (3) reading takes no lock.
class ActorTable {
 public:
  // Read for each message, so apart from the names.
  struct Hot {
    Actor* actor;
    int32_t worker;
    int32_t host;
  };

  ActorTable();
  ~ActorTable();
  ActorTable(const ActorTable&) = delete;
  ActorTable& operator=(const ActorTable&) = delete;

  // Of `placement` all but the epoch is kept. `address`: found by Find from now
  // on, instead of whoever had it; kNoActor: not found. kNobody: there are
  // kMaxActors already, or the address is above that; nothing changed.
  LocalId Add(Actor* actor, const Placement& placement, std::string name,
              ActorId address);
  // kNobody: none has this address.
  LocalId Find(ActorId address) const;
  // The worker of the actor may replace `actor`.
  Hot& hot(uint32_t index) const {
    return chunks_[index / kActors]
        .load(std::memory_order_acquire)
        ->hot[index % kActors];
  }
  Placement PlaceOf(LocalId id) const;
  const std::string& name(LocalId id) const;

 private:
  static constexpr uint32_t kActors = 1024;  // of a chunk
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
  Mutex mutex_;  // held while chunks are added; they are read without
  uint32_t num_actors_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_ACTOR_TABLE_H_
