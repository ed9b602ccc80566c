//===- actor_table.cc - The actors of a process -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/actor_table.h"

#include <utility>

namespace pathways {

ActorTable::ActorTable()
    : chunks_(std::make_unique<std::atomic<Chunk*>[]>(kMaxChunks)),
      addresses_(std::make_unique<std::atomic<AddressChunk*>[]>(kMaxChunks)) {}

ActorTable::~ActorTable() {
  for (uint32_t i = 0; i < kMaxChunks; ++i) {
    delete chunks_[i].load(std::memory_order_relaxed);
    delete addresses_[i].load(std::memory_order_relaxed);
  }
}

LocalId ActorTable::Add(Actor* actor, const Placement& placement,
                        std::string name, ActorId address) {
  MutexLock lock(&mutex_);
  const uint32_t index = num_actors_ / kActors;
  const uint32_t at = num_actors_ % kActors;
  const uint32_t address_index = address / kActors;
  if (index == kMaxChunks ||
      (address != kNoActor && address_index >= kMaxChunks)) {
    return kNobody;
  }
  Chunk* chunk = chunks_[index].load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = new Chunk;
    chunks_[index].store(chunk, std::memory_order_release);
  }
  chunk->hot[at] = {actor, placement.worker, placement.host};
  chunk->islands[at] = placement.island;
  chunk->names[at] = std::move(name);
  const LocalId id{num_actors_++};
  // Other threads read the entry only after they got the number in a message or
  // found the address.
  if (address == kNoActor) return id;
  AddressChunk* addresses =
      addresses_[address_index].load(std::memory_order_relaxed);
  if (addresses == nullptr) {
    addresses = new AddressChunk;
    for (std::atomic<LocalId>& one : addresses->ids) {
      one.store(kNobody, std::memory_order_relaxed);
    }
    addresses_[address_index].store(addresses, std::memory_order_release);
  }
  addresses->ids[address % kActors].store(id, std::memory_order_release);
  return id;
}

LocalId ActorTable::Find(ActorId address) const {
  const uint32_t index = address / kActors;
  if (index >= kMaxChunks) return kNobody;
  const AddressChunk* chunk = addresses_[index].load(std::memory_order_acquire);
  if (chunk == nullptr) return kNobody;
  return chunk->ids[address % kActors].load(std::memory_order_acquire);
}

Placement ActorTable::PlaceOf(LocalId id) const {
  const Chunk* chunk =
      chunks_[IndexOf(id) / kActors].load(std::memory_order_acquire);
  const uint32_t at = IndexOf(id) % kActors;
  return {chunk->hot[at].host, chunk->hot[at].worker, chunk->islands[at]};
}

const std::string& ActorTable::name(LocalId id) const {
  return chunks_[IndexOf(id) / kActors]
      .load(std::memory_order_acquire)
      ->names[IndexOf(id) % kActors];
}

}  // namespace pathways
