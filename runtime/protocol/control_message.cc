//===- control_message.cc - Reused control messages -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/control_message.h"

#include <iterator>

namespace pathways {
namespace {

using proto::Control;

// Kept kinds: the messages of a launch and of the releases that follow it.
constexpr Control::KindCase kKept[] = {
    Control::kLaunchRequest, Control::kReleaseRequest, Control::kPrepareLaunch,
    Control::kLaunchReady,   Control::kDropObjects,    Control::kObjectsDropped,
    Control::kStart,         Control::kGrant,          Control::kGrantDone,
    Control::kLaunchEnded};
constexpr int kKindsBound = 64;  // more than there are kinds

// Index of the free list by kind: 1 plus the place in kKept; 0 for other kinds.
constexpr auto kShelfOf = [] {
  std::array<uint8_t, kKindsBound> shelf_of = {};
  for (size_t i = 0; i < std::size(kKept); ++i) shelf_of[kKept[i]] = i + 1;
  return shelf_of;
}();

// A kept message with more list elements than this is rebuilt when it is
// recycled, so that one large launch does not hold memory forever.
constexpr int kKeptElements = 256;

int CountElements(const Control& control) {
  const auto count = [](const auto& arrays) {
    int elements = 0;
    for (const proto::ObjectRef& array : arrays) {
      elements += 1 + array.hosts_size();
    }
    return elements;
  };
  switch (control.kind_case()) {
    case Control::kLaunchRequest:
      return count(control.launch_request().arguments()) +
             count(control.launch_request().results());
    case Control::kReleaseRequest:
      return control.release_request().objects_size();
    case Control::kPrepareLaunch:
      return control.prepare_launch().arguments_size() +
             control.prepare_launch().results_size();
    case Control::kDropObjects:
      return control.drop_objects().objects_size();
    case Control::kStart:
      return control.start().hosts_size();
    case Control::kGrantDone:
      return control.grant_done().poisoned_size();
    case Control::kLaunchEnded:
      return control.launch_ended().poisoned_size();
    default:
      return 0;
  }
}

// Returns true if a kept message must be rebuilt: it takes more memory than
// usual, or has parts that reuse would lose, because its arena cannot reclaim
// them.
bool HasGrown(const Control& control) {
  return CountElements(control) > kKeptElements ||
         control.grant_done().has_failure() ||
         !control.launch_ended().message().empty() ||
         !control.launch_ready().message().empty();
}

// Returns the message's part of that kind and creates it if absent; null if the
// kind is not kept.
google::protobuf::Message* Have(Control* control, Control::KindCase kind) {
  switch (kind) {
    case Control::kLaunchRequest:
      return control->mutable_launch_request();
    case Control::kReleaseRequest:
      return control->mutable_release_request();
    case Control::kPrepareLaunch:
      return control->mutable_prepare_launch();
    case Control::kLaunchReady:
      return control->mutable_launch_ready();
    case Control::kDropObjects:
      return control->mutable_drop_objects();
    case Control::kObjectsDropped:
      return control->mutable_objects_dropped();
    case Control::kStart:
      return control->mutable_start();
    case Control::kGrant:
      return control->mutable_grant();
    case Control::kGrantDone:
      return control->mutable_grant_done();
    case Control::kLaunchEnded:
      return control->mutable_launch_ended();
    default:
      return nullptr;
  }
}

}  // namespace

ControlMessage::ControlMessage(ControlPool* pool, Kind kept)
    : pool_(*pool), kept_(kept) {
  if (is_kept()) Build();
}

void ControlMessage::Build() {
  // Uses a new arena instead of a reset one: an arena is fastest for the thread
  // that creates it.
  google::protobuf::ArenaOptions options;
  options.initial_block = memory_;
  options.initial_block_size = sizeof(memory_);
  arena_.emplace(options);
  control_ = google::protobuf::Arena::CreateMessage<Control>(&*arena_);
  if (is_kept()) Have(control_, kept_);
}

void ControlMessage::Recycle() {
  if (!is_kept()) {
    control_ = nullptr;
    arena_.reset();
  } else if (control_->kind_case() != kept_ || HasGrown(*control_)) {
    Build();
  } else {
    Have(control_, kept_)->Clear();
    control_->set_client(0);
    control_->set_restarts(0);
    control_->set_sequence(0);
  }
  pool_.Free(this);
}

ControlPool::~ControlPool() {
  for (const Shelf& shelf : shelves_) {
    ControlMessage* message = shelf.free.load().message();
    while (message != nullptr) {
      ControlMessage* const next = message->next_free_.load();
      delete message;
      message = next;
    }
  }
}

ControlRef ControlPool::New(ControlMessage::Kind kind) {
  static_assert(kShelves == std::size(kKept) + 1);
  return Take(kShelfOf[kind] == 0 ? Control::KIND_NOT_SET : kind);
}

ControlRef ControlPool::Take(ControlMessage::Kind kept) {
  std::atomic<Top>& free = shelves_[kShelfOf[kept]].free;
  Top top = free.load(std::memory_order_acquire);
  // Another thread may take top.message() meanwhile. The value of next_free_
  // read here is then discarded, because the exchange fails.
  while (top.message() != nullptr &&
         !free.compare_exchange_weak(
             top,
             Top(top.message()->next_free_.load(std::memory_order_relaxed),
                 top.changes() + 1),
             std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  ControlMessage* message = top.message();
  if (message == nullptr) {
    message = new ControlMessage(this, kept);
    made_.fetch_add(1, std::memory_order_relaxed);
  } else {
    message->Revive();
  }
  if (!message->is_kept()) message->Build();
  return ControlRef(message);
}

void ControlPool::Free(ControlMessage* message) {
  std::atomic<Top>& free = shelves_[kShelfOf[message->kept_]].free;
  Top top = free.load(std::memory_order_relaxed);
  do {
    message->next_free_.store(top.message(), std::memory_order_relaxed);
  } while (!free.compare_exchange_weak(top, Top(message, top.changes() + 1),
                                       std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
}

}  // namespace pathways
