//===- chaos_transport.h - What a bad network does --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_TESTING_CHAOS_TRANSPORT_H_
#define RUNTIME_TRANSPORT_TESTING_CHAOS_TRANSPORT_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/base/steady_time.h"
#include "runtime/transport/testing/chaos_options.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Does to what is sent by another transport what a network may do. Thread-safe.
// As every transport, but that with `duplicate` a message may come twice, and
// with `reorder` or `drop` after later ones of its class. Payloads are delayed
// and lost too, but come once: whoever names memory is told once that it is
// full. Of one thread that sends, the same seed chooses the same. What is late
// at Stop is dropped.
class ChaosTransport : public Transport, private TransportEvents {
 public:
  using MakeInner =
      std::function<std::unique_ptr<Transport>(TransportEvents* events)>;

  // `events` outlives Stop.
  ChaosTransport(ChaosOptions options, TransportEvents* events,
                 const MakeInner& make_inner);
  ~ChaosTransport() override;

  // Ends the connection as if a cable broke: both sides are told Unavailable.
  void Cut(PeerId peer);

  absl::StatusOr<std::string> Listen(absl::string_view address) override;
  absl::StatusOr<PeerId> Dial(absl::string_view address,
                              absl::Duration timeout) override;
  void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload) override;
  void Expect(PeerId peer, uint64_t token, void* memory,
              uint64_t bytes) override;
  void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
           std::function<void()> sent) override;
  uint64_t backlog(PeerId peer) const override;
  void Close(PeerId peer) override;
  bool Poll() override;
  void OnIdle() override { inner_->OnIdle(); }
  void Stop() override;

 private:
  enum MessageClass { kCritical, kBulk, kPayload, kMessageClasses };
  struct Late {  // a message, or what was lent
    std::string header, payload;
    uint64_t token = 0;
    absl::Span<const char> lent;
    std::function<void()> sent;
    bool keeps_order = false;
    uint64_t bytes() const {
      return header.size() + payload.size() + lent.size();
    }
  };
  // What is on its way to one peer.
  struct Line {
    // By when it is due, and which was sent first.
    std::map<std::pair<SteadyTime, uint64_t>, Late> late[kMessageClasses];
    SteadyTime in_order[kMessageClasses];  // none of the message_class is due
                                           // before this
    SteadyTime free;                       // the wire has no room before this
    uint64_t bytes = 0;
    bool closing = false, cut = false;
    bool empty() const {
      return late[kCritical].empty() && late[kBulk].empty() &&
             late[kPayload].empty();
    }
  };
  using Lines = std::map<PeerId, Line>;

  void OnPeerUp(PeerId peer) override;
  void OnMessage(PeerId peer, absl::Span<const char> header,
                 absl::Span<const char> payload) override;
  void OnPayload(PeerId peer, uint64_t token) override;
  void OnPeerDown(PeerId peer, const absl::Status& why) override;

  // Decides what becomes of it.
  void Add(PeerId peer, MessageClass message_class, Late late)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CutLine(PeerId peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Chance(double share) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration SomeDelay() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends what is due. `*next`: when there is more to do.
  bool Release(SteadyTime* next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool ReleaseLine(PeerId peer, Line* line, SteadyTime now, SteadyTime* next)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendNow(PeerId peer, MessageClass message_class, Late late)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SteadyTime Now() const;
  void Watch();

  const ChaosOptions options_;
  TransportEvents* const events_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  uint64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
  Lines lines_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  const std::unique_ptr<Transport> inner_;
  std::thread watch_;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TESTING_CHAOS_TRANSPORT_H_
