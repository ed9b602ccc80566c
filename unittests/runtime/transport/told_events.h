//===- told_events.h - Waits for what is told -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_TRANSPORT_TOLD_EVENTS_H_
#define UNITTESTS_RUNTIME_TRANSPORT_TOLD_EVENTS_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Waits for what the transport's own thread tells.
class ToldEvents : public TransportEvents {
 public:
  void OnPeerUp(PeerId peer) override { Notify("up", peer); }
  void OnMessage(PeerId peer, absl::Span<const char> header,
                 absl::Span<const char>) override {
    Notify(std::string(header.data(), header.size()), peer);
  }
  void OnPayload(PeerId peer, uint64_t) override { Notify("payload", peer); }
  void OnPeerDown(PeerId peer, const absl::Status& why) override {
    {
      MutexLock lock(&mutex_);
      why_ = why;
    }
    Notify("down", peer);
  }
  void Refused(absl::string_view, const absl::Status& why) {
    {
      MutexLock lock(&mutex_);
      why_ = why;
    }
    Notify("refused", {});
  }

  // Waits for the next.
  std::string Next(PeerId* peer = nullptr) {
    MutexLock lock(&mutex_);
    while (told_.size() == seen_) changed_.wait(mutex_);
    if (peer != nullptr) *peer = told_[seen_].second;
    return told_[seen_++].first;
  }
  absl::Status why() {
    MutexLock lock(&mutex_);
    return why_;
  }

 private:
  void Notify(std::string what, PeerId peer) {
    MutexLock lock(&mutex_);
    told_.emplace_back(std::move(what), peer);
    changed_.notify_all();
  }

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::pair<std::string, PeerId>> told_ ABSL_GUARDED_BY(mutex_);
  size_t seen_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
};

// `from` and `to`, who listens at `address`, talk with each other while nobody
// polls, and again after somebody did; then `from` closes.
inline void TalkUnpolled(Transport& from, ToldEvents& from_events,
                         Transport& to, ToldEvents& to_events,
                         const std::string& address) {
  const auto peer = from.Dial(address, absl::Seconds(60));
  ASSERT_TRUE(peer.ok()) << peer.status();
  PeerId other;
  EXPECT_EQ(to_events.Next(&other), "up");
  for (Urgency urgency : {Urgency::kCritical, Urgency::kBulk}) {
    from.Send(*peer, urgency, absl::MakeSpan("there", 5), {});
    EXPECT_EQ(to_events.Next(), "there");
    to.Send(other, urgency, absl::MakeSpan("back", 4), {});
    EXPECT_EQ(from_events.Next(), "back");
  }
  // Those who did poll stop.
  for (int i = 0; i < 100; ++i) {
    from.Poll();
    to.Poll();
  }
  to.Send(other, Urgency::kBulk, absl::MakeSpan("again", 5), {});
  EXPECT_EQ(from_events.Next(), "again");
  from.Close(*peer);
  EXPECT_EQ(from_events.Next(), "down");
  EXPECT_TRUE(from_events.why().ok()) << from_events.why();
  EXPECT_EQ(to_events.Next(), "down");
}

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_TRANSPORT_TOLD_EVENTS_H_
