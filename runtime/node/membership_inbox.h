//===- membership_inbox.h - Events of a process's links ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_MEMBERSHIP_INBOX_H_
#define RUNTIME_NODE_MEMBERSHIP_INBOX_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/base/steady_time.h"
#include "runtime/proto/membership.pb.h"
#include "runtime/transport/transport.h"

namespace pathways {

struct MembershipEvent {
  enum What { kSaid, kGone, kStuck };
  What what = kSaid;
  PeerId peer{};
  proto::Membership said;
  // KGone: the process that it was linked to; kStuck: the process.
  std::optional<uint32_t> process;
  absl::Status why;   // kGone and kStuck
  uint32_t life = 0;  // kStuck: the epoch number of the process's hosts
};

// Largest number of kept messages of kind kSaid.
inline constexpr size_t kMaxMembershipEvents = 4096;

// Passes events from a transport's threads to the one thread that manages a
// process's links. Thread-safe.
class MembershipInbox {
 public:
  // Adds a message. Returns false if there is no room.
  bool Say(PeerId peer, proto::Membership said);
  void Go(PeerId peer, std::optional<uint32_t> process,
          const absl::Status& why);
  // Records that a kernel of the process, in this life of its hosts, does not
  // return.
  void GetStuck(uint32_t process, uint32_t life, const absl::Status& why);
  // Makes Next return this error, now and later.
  void Fail(absl::Status why);

  // Waits for the next event. Returns nullopt if none comes until `until`, or
  // the error of Fail.
  absl::StatusOr<std::optional<MembershipEvent>> Next(SteadyTime until);

 private:
  void Add(MembershipEvent event);

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<MembershipEvent> events_ ABSL_GUARDED_BY(mutex_);
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_NODE_MEMBERSHIP_INBOX_H_
