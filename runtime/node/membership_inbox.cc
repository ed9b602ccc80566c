//===- membership_inbox.cc - Events of a process's links ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/membership_inbox.h"

#include <utility>

#include "runtime/base/steady_time.h"

namespace pathways {

namespace {

// Statuses share their text. The installed library frees it in an order that
// ThreadSanitizer does not see, so the text is copied.
absl::Status CopyOf(const absl::Status& status) {
  return absl::Status(status.code(), status.message());
}

}  // namespace

bool MembershipInbox::Say(PeerId peer, proto::Membership said) {
  MutexLock lock(&mutex_);
  if (events_.size() >= kMaxMembershipEvents) return false;
  events_.push_back(
      {MembershipEvent::kSaid, peer, std::move(said), std::nullopt, {}, 0});
  changed_.notify_all();
  return true;
}

void MembershipInbox::Go(PeerId peer, std::optional<uint32_t> process,
                         const absl::Status& why) {
  Add({MembershipEvent::kGone, peer, {}, process, CopyOf(why)});
}

void MembershipInbox::GetStuck(uint32_t process, uint32_t life,
                               const absl::Status& why) {
  Add({MembershipEvent::kStuck, {}, {}, process, CopyOf(why), life});
}

void MembershipInbox::Add(MembershipEvent event) {
  MutexLock lock(&mutex_);
  events_.push_back(std::move(event));
  changed_.notify_all();
}

void MembershipInbox::Fail(absl::Status why) {
  MutexLock lock(&mutex_);
  if (failed_.ok()) failed_ = std::move(why);
  changed_.notify_all();
}

absl::StatusOr<std::optional<MembershipEvent>> MembershipInbox::Next(
    SteadyTime until) {
  MutexLock lock(&mutex_);
  while (true) {
    if (!failed_.ok()) return failed_;
    if (!events_.empty()) {
      std::optional<MembershipEvent> event = std::move(events_.front());
      events_.pop_front();
      return event;
    }
    if (WaitUntil(&changed_, &mutex_, until) == std::cv_status::timeout &&
        events_.empty() && failed_.ok()) {
      return std::nullopt;
    }
  }
}

}  // namespace pathways
