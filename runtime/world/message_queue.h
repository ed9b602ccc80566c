//===- message_queue.h - Queues between workers -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages under way are stored in fixed blocks from one pool per world. A
// queue is a chain of blocks, so it has no bound. The pool is provisioned for
// all messages that may be under way at one time, so no push allocates. The
// pool is used once per block, not per message.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_MESSAGE_QUEUE_H_
#define RUNTIME_WORLD_MESSAGE_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/world/world.h"

namespace pathways {

// Most actors of one process; also the largest address that an actor may have.
inline constexpr uint32_t kMaxActors = (1u << 24) - 1;

// A wire message and its payload.
struct WireBody {
  WireMessage message;
  Payload payload;
};

// A message whose payload is still in its sender's memory, and the message that
// gives the payload back to its owner.
struct LentBody {
  WireBody wire;
  LocalId owner = kNobody;
  LocalMessage returned;
};

// A message under way, with its sender and receiver. The kind tells the type of
// the body; some bodies own memory.
struct Envelope {
  enum Kind : uint32_t {
    kLocal,  // LocalMessage
    kWire,   // WireBody
    // WireBody that owns a copy of its payload, made for a fault or a post.
    kOwned,
    kControl,  // std::string*, owned
    kBody,     // ControlBody*, a reference to it
    kLater,    // Posted*, owned: another envelope and the time when it is due
    kPeer,     // PeerWatch::News
    kOffer,    // WireBody; payload.data is the number of an offer
    kLent      // LentBody*, owned
  };
  alignas(8) std::byte body[64];
  ActorId from;  // kNoActor for kLocal, kLater and kPeer
  uint32_t to : 28;
  uint32_t kind : 4;

  template <typename T>
  T& As() {
    static_assert(sizeof(T) <= sizeof(body) &&
                  std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    return *std::launder(reinterpret_cast<T*>(body));
  }
  template <typename T>
  const T& As() const {
    return const_cast<Envelope*>(this)->As<T>();
  }
  template <typename T>
  void Fill(Kind new_kind, const T& new_body, ActorId new_from,
            LocalId new_to) {
    static_assert(sizeof(T) <= sizeof(body) && std::is_trivially_copyable_v<T>);
    ::new (body) T(new_body);
    from = new_from;
    to = IndexOf(new_to);
    kind = new_kind;
  }
  template <typename T>
  static Envelope Of(Kind kind, const T& body, ActorId from, LocalId to) {
    Envelope envelope;
    envelope.Fill(kind, body, from, to);
    return envelope;
  }
};
static_assert(sizeof(Envelope) == 72 && sizeof(WireBody) == 64);

struct alignas(64) MessageBlock {
  static constexpr uint32_t kSlots = 32;

  MessageBlock* next;               // next block of the queue
  uint32_t id;                      // index in the pool; kNone: not of the pool
  std::atomic<uint32_t> next_free;  // next free block of the pool
  alignas(64) std::byte slots[kSlots * sizeof(Envelope)];

  Envelope* slot(uint32_t index) {
    return std::launder(
        reinterpret_cast<Envelope*>(slots + index * sizeof(Envelope)));
  }
  // Returns a new envelope, not filled.
  Envelope* Write(uint32_t index) {
    return ::new (slots + index * sizeof(Envelope)) Envelope;
  }
};

// The free blocks of a world. Thread-safe; Take and Give are lock-free unless
// the pool is empty. The pool keeps the memory of the most blocks ever
// provisioned or in use.
class BlockPool {
 public:
  BlockPool();
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  MessageBlock* Take() {
    uint64_t head = head_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(head) != kNone) {
      MessageBlock* block = At(static_cast<uint32_t>(head));
      // The value is stale if another thread took the block and gave it back.
      // Then the tag in the upper half differs and the exchange fails.
      uint64_t next =
          NextTag(head) | block->next_free.load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(head, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        block->next = nullptr;
        return block;
      }
    }
    return Grow();
  }
  void Give(MessageBlock* block) {
    if (block->id == kNone) return Delete(block);
    uint64_t head = head_.load(std::memory_order_relaxed);
    uint64_t next;
    do {
      block->next_free.store(static_cast<uint32_t>(head),
                             std::memory_order_relaxed);
      next = NextTag(head) | block->id;
    } while (!head_.compare_exchange_weak(head, next, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  }
  // Makes the pool own at least `blocks` blocks, in use or free.
  void Provision(int64_t blocks);
  int64_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kSlabBlocks = 64;
  static constexpr uint32_t kMaxSlabs = 1 << 15;

  static uint64_t NextTag(uint64_t head) { return ((head >> 32) + 1) << 32; }
  MessageBlock* At(uint32_t id) {
    return slabs_[id / kSlabBlocks].load(std::memory_order_acquire) +
           id % kSlabBlocks;
  }
  bool AddSlab() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  MessageBlock* Grow();
  static void Delete(MessageBlock* block);

  // Tag and id of the first free block. The tag makes each value unique.
  alignas(64) std::atomic<uint64_t> head_{kNone};
  alignas(64) std::atomic<int64_t> size_{0};
  Mutex mutex_;  // held while slabs_ grows; slabs_ is read without it
  std::unique_ptr<std::atomic<MessageBlock*>[]> slabs_;
  uint32_t num_slabs_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A queue from a worker to itself.
class LocalQueue {
 public:
  template <typename T>
  void Push(BlockPool& pool, Envelope::Kind kind, const T& body, ActorId from,
            LocalId to) {
    if (tail_ == nullptr) {
      head_ = tail_ = pool.Take();
    } else if (tail_at_ == MessageBlock::kSlots) {
      MessageBlock* block = pool.Take();
      tail_->next = block;
      tail_ = block;
      tail_at_ = 0;
    }
    tail_->Write(tail_at_++)->Fill(kind, body, from, to);
  }
  // Returns the first message, valid until Pop, or null if the queue is empty.
  Envelope* Front(BlockPool& pool) {
    if (head_ == tail_) {
      if (head_at_ == tail_at_) return nullptr;
    } else if (head_at_ == MessageBlock::kSlots) {
      // The next block is not empty: blocks are added only for a message.
      MessageBlock* block = head_;
      head_ = block->next;
      head_at_ = 0;
      pool.Give(block);
    }
    return head_->slot(head_at_);
  }
  void Pop() {
    ++head_at_;
    // An empty queue starts over in memory that is still in the cache.
    if (head_at_ == tail_at_ && head_ == tail_) head_at_ = tail_at_ = 0;
  }
  bool empty() const { return head_ == tail_ && head_at_ == tail_at_; }

 private:
  MessageBlock* head_ = nullptr;
  MessageBlock* tail_ = nullptr;
  uint32_t head_at_ = 0, tail_at_ = 0;
};

// A queue from one worker to another. The sender calls Push, the receiver all
// other functions.
class RemoteQueue {
 public:
  template <typename T>
  void Push(BlockPool& pool, Envelope::Kind kind, const T& body, ActorId from,
            LocalId to) {
    if (tail_ == nullptr) {
      first_ = tail_ = pool.Take();
    } else if (tail_at_ == MessageBlock::kSlots) {
      MessageBlock* block = pool.Take();
      tail_->next = block;
      tail_ = block;
      tail_at_ = 0;
    }
    tail_->Write(tail_at_++)->Fill(kind, body, from, to);
    // Publishes the slot and the links to it. The store is in one total order
    // with the `asleep` flag of a worker: see Mailbox::Sleep.
    pushed_.store(++count_, std::memory_order_seq_cst);
  }
  Envelope* Front(BlockPool& pool) {
    if (popped_ == seen_) {
      seen_ = pushed_.load(std::memory_order_acquire);
      if (popped_ == seen_) return nullptr;
    }
    if (head_at_ == MessageBlock::kSlots) {
      // The next block was linked before the message in it was published.
      MessageBlock* block = head_;
      head_ = block->next;
      head_at_ = 0;
      pool.Give(block);
    } else if (head_ == nullptr) {
      head_ = first_;
    }
    return head_->slot(head_at_);
  }
  void Pop() {
    ++head_at_;
    ++popped_;
  }
  bool empty() const {
    return pushed_.load(std::memory_order_seq_cst) == popped_;
  }

 private:
  // Written by the sender; the receiver reads first_ once a message is
  // published.
  alignas(64) MessageBlock* tail_ = nullptr;
  MessageBlock* first_ = nullptr;
  uint64_t count_ = 0;
  uint32_t tail_at_ = 0;
  alignas(64) std::atomic<uint64_t> pushed_{0};
  // Used by the receiver.
  alignas(64) MessageBlock* head_ = nullptr;
  uint64_t popped_ = 0, seen_ = 0;
  uint32_t head_at_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_MESSAGE_QUEUE_H_
