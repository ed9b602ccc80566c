//===- control_message.h - Reused control messages --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside a process a control message is handed over as an object: nothing is
// serialized, and in a steady state nothing is allocated. A message of a kind
// that every launch needs is kept: it is not even rebuilt, but reused for the
// same kind, and its lists keep their capacity.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_CONTROL_MESSAGE_H_
#define RUNTIME_PROTOCOL_CONTROL_MESSAGE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "google/protobuf/arena.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/control_body.h"

namespace pathways {

class ControlPool;

// A message in an arena of its own, whose initial block is large enough for
// most messages. All of it is contiguous, because the reading thread is usually
// not the one that filled it. A message of a kept kind keeps its kind for life.
class alignas(64) ControlMessage final : public ControlBody {
 public:
  using Kind = proto::Control::KindCase;

  // `kept`: the kind that the message keeps; KIND_NOT_SET for a message of any
  // kind.
  ControlMessage(ControlPool* pool, Kind kept);

  // Returns the message behind a body from a world: there is no other class of
  // body.
  static ControlMessage* Of(ControlBody* body) {
    return static_cast<ControlMessage*>(body);
  }

  proto::Control& control() { return *control_; }
  const proto::Control& control() const { return *control_; }
  std::string Serialize() const override {
    return control_->SerializeAsString();
  }

 private:
  friend class ControlPool;

  bool is_kept() const { return kept_ != proto::Control::KIND_NOT_SET; }
  // Builds the message in a new arena.
  void Build();
  void Recycle() override;

  ControlPool& pool_;
  const Kind kept_;
  proto::Control* control_ = nullptr;
  std::atomic<ControlMessage*> next_free_{nullptr};
  std::optional<google::protobuf::Arena> arena_;
  alignas(16) char memory_[2048];
};

// A reference to a message. The creator fills the message before it sends it;
// after that only the receiver may change it, and only if it holds the only
// reference.
class ControlRef {
 public:
  ControlRef() = default;
  // Takes ownership of a reference.
  explicit ControlRef(ControlMessage* message) : message_(message) {}
  ControlRef(ControlRef&& other) noexcept
      : message_(std::exchange(other.message_, nullptr)) {}
  ControlRef& operator=(ControlRef&& other) noexcept {
    std::swap(message_, other.message_);
    return *this;
  }
  ControlRef(const ControlRef& other) : message_(other.message_) {
    if (message_ != nullptr) message_->Retain();
  }
  ControlRef& operator=(const ControlRef& other) {
    return *this = ControlRef(other);
  }
  ~ControlRef() {
    if (message_ != nullptr) message_->Release();
  }

  proto::Control* operator->() const { return &message_->control(); }
  proto::Control& operator*() const { return message_->control(); }
  explicit operator bool() const { return message_ != nullptr; }
  // Gives the reference to a world, which then owns it.
  ControlBody* Hand() && { return std::exchange(message_, nullptr); }

 private:
  ControlMessage* message_ = nullptr;
};

// A pool of messages. It has one free list for each kept kind and one for all
// others; each grows to the largest number that was in use at one time. It must
// outlive the worlds that carry its messages. Any thread may call it; it is
// lock-free except when it creates another message.
class ControlPool {
 public:
  ControlPool() = default;
  ~ControlPool();
  ControlPool(const ControlPool&) = delete;
  ControlPool& operator=(const ControlPool&) = delete;

  // Returns an empty message without a kind.
  ControlRef New() { return Take(proto::Control::KIND_NOT_SET); }
  // Returns an empty message for `kind`; the kind is already set if it is a
  // kept one.
  ControlRef New(ControlMessage::Kind kind);
  // Returns the number of messages created so far.
  size_t size() const { return made_.load(std::memory_order_relaxed); }

 private:
  friend class ControlMessage;
  // The first free message and a change counter. The counter avoids the ABA
  // problem: a message that was taken and returned meanwhile does not match.
  class Top {
   public:
    Top() = default;
    Top(ControlMessage* message, uint64_t changes)
        : bits_(reinterpret_cast<uintptr_t>(message) >> kAlignBits |
                changes << kAddressBits) {}
    ControlMessage* message() const {
      return reinterpret_cast<ControlMessage*>(
          (bits_ & ((uint64_t{1} << kAddressBits) - 1)) << kAlignBits);
    }
    uint64_t changes() const { return bits_ >> kAddressBits; }

   private:
    // User-space addresses have at most 48 bits.
    static constexpr int kAlignBits = 6, kAddressBits = 48 - kAlignBits;
    uint64_t bits_ = 0;
  };

  // Free list of one kind.
  struct alignas(64) Shelf {
    std::atomic<Top> free{Top()};
  };
  // One per kept kind; the first one is for all other kinds.
  static constexpr size_t kShelves = 11;

  ControlRef Take(ControlMessage::Kind kept);
  void Free(ControlMessage* message);

  std::array<Shelf, kShelves> shelves_;
  std::atomic<size_t> made_{0};
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_MESSAGE_H_
