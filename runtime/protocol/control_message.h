//===- control_message.h - Control messages, used again ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside a process a control message is handed over as it is: nothing writes or
// reads bytes, and in a steady state nothing is allocated. What each launch
// takes is not even built anew: a message of such a kind is used again as one,
// and its lists keep the room that they had.
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

// A message, in memory of its own which is large enough for most: all of it
// lies together, for the thread that reads it is mostly not the one that filled
// it. One of a kind that is kept has it as long as it is there.
class alignas(64) ControlMessage final : public ControlBody {
 public:
  using Kind = proto::Control::KindCase;

  // `kept`: that kind; KIND_NOT_SET: any.
  ControlMessage(ControlPool* pool, Kind kept);

  // The message that a world handed over: there is no other kind of body.
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
  // In a new arena.
  void Build();
  void Recycle() override;

  ControlPool& pool_;
  const Kind kept_;
  proto::Control* control_ = nullptr;
  std::atomic<ControlMessage*> next_free_{nullptr};
  std::optional<google::protobuf::Arena> arena_;
  alignas(16) char memory_[2048];
};

// A reference to a message. Who made it fills it before it is sent; from then
// on it is changed by nobody, or by its only receiver.
class ControlRef {
 public:
  ControlRef() = default;
  // Takes over a reference.
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
  // For a world, which takes over the reference.
  ControlBody* Hand() && { return std::exchange(message_, nullptr); }

 private:
  ControlMessage* message_ = nullptr;
};

// Messages that are free, and those that are not: as many of each kind that is
// kept, and of all others, as there were at one time. Outlives the worlds that
// carry them. Any thread; lock-free but when a message more is made.
class ControlPool {
 public:
  ControlPool() = default;
  ~ControlPool();
  ControlPool(const ControlPool&) = delete;
  ControlPool& operator=(const ControlPool&) = delete;

  // An empty one, of no kind yet.
  ControlRef New() { return Take(proto::Control::KIND_NOT_SET); }
  // An empty one for that kind: it has it already if that is kept.
  ControlRef New(ControlMessage::Kind kind);
  // All that were made.
  size_t size() const { return made_.load(std::memory_order_relaxed); }

 private:
  friend class ControlMessage;
  // The free message on top, and how often that has changed: a message that was
  // taken and came back meanwhile is not taken for the one that was seen.
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
    // Addresses of a process have 48 bits at most.
    static constexpr int kAlignBits = 6, kAddressBits = 48 - kAlignBits;
    uint64_t bits_ = 0;
  };

  // Those of one kind.
  struct alignas(64) Shelf {
    std::atomic<Top> free{Top()};
  };
  // One for each kind that is kept, and the first one for all others.
  static constexpr size_t kShelves = 11;

  ControlRef Take(ControlMessage::Kind kept);
  void Free(ControlMessage* message);

  std::array<Shelf, kShelves> shelves_;
  std::atomic<size_t> made_{0};
};

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_MESSAGE_H_
