//===- token_record.h - Records of tokens for another process ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens of one edge and firing, or small pieces, that several devices of a
// worker have for a host of another process go there as one message: a *record*
// with a member for each (wire.md), which is numbered, checked and looked up
// once. Within a process they are handed over in batches: from the devices of a
// cohort to the executor, and from an executor to the devices of a cohort.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_TOKEN_RECORD_H_
#define RUNTIME_PROGRAM_TOKEN_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/protocol/wire_kind.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// Upper bound on the size of a piece that may be a member: copying a larger one
// takes longer than sending it on its own.
inline constexpr uint64_t kMaxMemberBytes = 256;
// Upper bound on a record that is written here; two fit into a batch
// (link_batch.h).
inline constexpr size_t kMaxRecordBytes = 3 << 10;
// Upper bound on the members of any record.
inline constexpr uint32_t kMaxMembers = 128;

// Header of each member's bytes, as in wire.md. Members ascend by item, then
// shard.
struct MemberHeader {
  uint32_t shard = 0;
  uint32_t item = 0;
  uint64_t order() const { return uint64_t{item} << 32 | shard; }
};
static_assert(sizeof(MemberHeader) == 8);

// Tokens or pieces for one host that have all fields but their members in
// common.
struct TokenRecord {
  int host = 0;
  uint32_t bytes = 0;  // bytes of data
  uint64_t last = 0;   // order() of the last member
  // kind: kTokensMessage or kPiecesMessage; item: number of members.
  WireMessage message;
  char data[kMaxRecordBytes];

  // Returns true if the record is for such members and has room for one more.
  bool TakesIn(int to, const WireMessage& like, MemberHeader member,
               uint64_t member_bytes) const {
    return message.step == like.step && message.target == like.target &&
           message.kind == like.kind && message.flags == like.flags &&
           message.program == like.program &&
           message.incarnation == like.incarnation && host == to &&
           message.item < kMaxMembers && member.order() > last &&
           bytes + sizeof member + member_bytes <= kMaxRecordBytes;
  }
  void Append(MemberHeader member, const void* of, uint64_t member_bytes) {
    std::memcpy(data + bytes, &member, sizeof member);
    bytes += sizeof member;
    // The common case where there are many.
    if (member_bytes == sizeof(float)) {
      std::memcpy(data + bytes, of, sizeof(float));
    } else if (member_bytes > 0) {
      std::memcpy(data + bytes, of, member_bytes);
    }
    bytes += static_cast<uint32_t>(member_bytes);
    last = member.order();
    ++message.item;
  }
};

// A batch that one actor fills and another one empties, perhaps on another
// worker.
class Batch {
 public:
  bool in_flight() const { return away_.load(std::memory_order_acquire); }
  // Called by the actor that fills it: the other actor owns the batch until it
  // calls Return.
  void Leave() { away_.store(true, std::memory_order_relaxed); }
  void Return() { away_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> away_{false};
};

// Records from the devices of a cohort to their executor.
class RecordBatch : public Batch {
 public:
  // Adds a member. `like`: message of the record; its item is ignored. `bytes`:
  // at most kMaxMemberBytes. Returns false, and changes nothing, if there is no
  // room.
  bool Add(int host, const WireMessage& like, MemberHeader member,
           const void* data, uint64_t bytes) {
    // Search backwards, as the record being filled is among the last.
    for (uint32_t i = size_; i-- > 0;) {
      if (!records_[i].TakesIn(host, like, member, bytes)) continue;
      records_[i].Append(member, data, bytes);
      return true;
    }
    if (size_ == kMaxRecords) return false;
    TokenRecord& record = records_[size_++];
    record.host = host;
    record.bytes = 0;
    record.message = like;
    record.message.item = 0;
    record.Append(member, data, bytes);
    return true;
  }
  absl::Span<const TokenRecord> records() const {
    return absl::MakeConstSpan(records_, size_);
  }
  void Clear() { size_ = 0; }

 private:
  static constexpr uint32_t kMaxRecords = 8;

  uint32_t size_ = 0;
  TokenRecord records_[kMaxRecords];
};

// Tokens of one firing, from an executor to the devices of a cohort.
class TokenBatch : public Batch {
 public:
  struct Member {
    uint32_t device;
    uint32_t in_edge;  // in-edge entry
  };
  // At most kMaxMembers members may be added.
  void Add(Member member) { members_[size_++] = member; }
  absl::Span<const Member> members() const {
    return absl::MakeConstSpan(members_, size_);
  }
  void Clear() { size_ = 0; }

 private:
  uint32_t size_ = 0;
  Member members_[kMaxMembers];
};

// Batches of one actor, or of the actors of a worker, which fill one at a time.
// Holds one more than were ever in flight at a time. Must outlive every actor
// that returns one.
template <typename T>
class Batches {
 public:
  // Returns an empty batch that is not in flight.
  T* Take() {
    for (size_t i = 0; i < all_.size(); ++i) {
      next_ = next_ + 1 < all_.size() ? next_ + 1 : 0;
      if (all_[next_]->in_flight()) continue;
      all_[next_]->Clear();
      return all_[next_].get();
    }
    next_ = all_.size();
    return all_.emplace_back(std::make_unique<T>()).get();
  }
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::unique_ptr<T>> all_;
  size_t next_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_TOKEN_RECORD_H_
