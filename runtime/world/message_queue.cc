//===- message_queue.cc - Queues between workers ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/message_queue.h"

namespace pathways {

BlockPool::BlockPool()
    : slabs_(std::make_unique<std::atomic<MessageBlock*>[]>(kMaxSlabs)) {}

// Blocks still in queues belong to slabs and are freed here. Blocks that were
// allocated beyond the last slab must have been given back by their queues.
BlockPool::~BlockPool() {
  for (uint32_t i = 0; i < num_slabs_; ++i) {
    ::operator delete(slabs_[i].load(std::memory_order_relaxed),
                      std::align_val_t(alignof(MessageBlock)));
  }
}

bool BlockPool::AddSlab() {
  if (num_slabs_ == kMaxSlabs) return false;
  MessageBlock* slab = static_cast<MessageBlock*>(
      ::operator new(kSlabBlocks * sizeof(MessageBlock),
                     std::align_val_t(alignof(MessageBlock))));
  uint32_t first = num_slabs_ * kSlabBlocks;
  for (uint32_t i = 0; i < kSlabBlocks; ++i) {
    MessageBlock* block = ::new (slab + i) MessageBlock;
    block->next = nullptr;
    block->id = first + i;
    block->next_free.store(kNone, std::memory_order_relaxed);
  }
  slabs_[num_slabs_++].store(slab, std::memory_order_release);
  for (uint32_t i = kSlabBlocks; i-- > 0;) Give(slab + i);
  size_.fetch_add(kSlabBlocks, std::memory_order_relaxed);
  return true;
}

void BlockPool::Provision(int64_t blocks) {
  MutexLock lock(&mutex_);
  while (size() < blocks && AddSlab()) {
  }
}

MessageBlock* BlockPool::Grow() {
  bool added;
  {
    MutexLock lock(&mutex_);
    added = AddSlab();
  }
  // Other threads may empty the new slab before this thread takes a block. Each
  // repetition adds another slab, so the recursion ends.
  if (added) return Take();
  // All ids are in use: return a single block, which Give deletes.
  MessageBlock* block = ::new (::operator new(
      sizeof(MessageBlock), std::align_val_t(alignof(MessageBlock))))
      MessageBlock;
  block->next = nullptr;
  block->id = kNone;
  return block;
}

void BlockPool::Delete(MessageBlock* block) {
  ::operator delete(block, std::align_val_t(alignof(MessageBlock)));
}

}  // namespace pathways
