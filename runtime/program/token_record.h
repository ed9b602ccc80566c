//===- token_record.h - What a gang tells another process -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens of one edge and firing, or small pieces, that several devices of a
// worker have for a host of another process go there as one message, a *record*
// with a member for each (wire.md): numbered, checked and looked up once. On
// the way they are handed over in batches: from the devices of a cohort to the
// executor, and from that to the devices of a cohort.
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

// Of a piece that may be a member: a larger one takes longer to copy than to
// send on its own.
inline constexpr uint64_t kMaxMemberBytes = 256;
// Of a record that is written here; two have room in a batch (link_batch.h).
inline constexpr size_t kMaxRecordBytes = 3 << 10;
// Of any record.
inline constexpr uint32_t kMaxMembers = 128;

// What stands before the bytes of each member, as in wire.md. Members ascend by
// item, then shard.
struct MemberHeader {
  uint32_t shard = 0;
  uint32_t item = 0;
  uint64_t order() const { return uint64_t{item} << 32 | shard; }
};
static_assert(sizeof(MemberHeader) == 8);

// Tokens or pieces for one host that have all but their members in common.
struct TokenRecord {
  int host = 0;
  uint32_t bytes = 0;   // of data
  uint64_t last = 0;    // member
  WireMessage message;  // kind: kTokensMessage, kPiecesMessage; item: members
  char data[kMaxRecordBytes];

  // Whether it is one for them, and has room for one member more.
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
    if (member_bytes == sizeof(float)) {  // mostly, where there are many
      std::memcpy(data + bytes, of, sizeof(float));
    } else if (member_bytes > 0) {
      std::memcpy(data + bytes, of, member_bytes);
    }
    bytes += static_cast<uint32_t>(member_bytes);
    last = member.order();
    ++message.item;
  }
};

// Filled by one actor, then emptied by another one, perhaps on another worker.
class Batch {
 public:
  bool in_flight() const { return away_.load(std::memory_order_acquire); }
  // By who fills it: another one has it now, to give it back.
  void Leave() { away_.store(true, std::memory_order_relaxed); }
  void Return() { away_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> away_{false};
};

// From the devices of a cohort to their executor.
class RecordBatch : public Batch {
 public:
  // `like`: of the record; its item does not count. `bytes` up to
  // kMaxMemberBytes. False: there is no room, nothing changed.
  bool Add(int host, const WireMessage& like, MemberHeader member,
           const void* data, uint64_t bytes) {
    // One that is filled now is among the last.
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
    uint32_t in_edge;  // entry
  };
  // Not more than kMaxMembers.
  void Add(Member member) { members_[size_++] = member; }
  absl::Span<const Member> members() const {
    return absl::MakeConstSpan(members_, size_);
  }
  void Clear() { size_ = 0; }

 private:
  uint32_t size_ = 0;
  Member members_[kMaxMembers];
};

// Batches of one actor, or of the actors of a worker, who fill one after the
// other: as many as were ever away at one time, and one. Outlives whoever is to
// give one back.
template <typename T>
class Batches {
 public:
  // An empty one that is here.
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
