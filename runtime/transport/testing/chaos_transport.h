//===- chaos_transport.h - Transport with a network's faults ----*- C++ -*-===//
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

// Applies the faults of a bad network to the messages that another transport
// sends. Thread-safe. It keeps the contract of Transport, except that with
// `duplicate` a message may arrive twice, and with `reorder` or `drop` after
// later ones of its class. Payloads are delayed and lost too, but arrive once:
// the owner of the memory is notified only once. If one thread sends, the same
// seed makes the same choices. Delayed messages are dropped at Stop.
class ChaosTransport : public Transport, private TransportEvents {
 public:
  using MakeInner =
      std::function<std::unique_ptr<Transport>(TransportEvents* events)>;

  // `events` must outlive Stop.
  ChaosTransport(ChaosOptions options, TransportEvents* events,
                 const MakeInner& make_inner);
  ~ChaosTransport() override;

  // Breaks the connection like a cut cable: both sides get OnPeerDown with
  // Unavailable.
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
  struct Late {  // a message, or a lent payload
    std::string header, payload;
    uint64_t token = 0;
    absl::Span<const char> lent;
    std::function<void()> sent;
    bool keeps_order = false;
    uint64_t bytes() const {
      return header.size() + payload.size() + lent.size();
    }
  };
  // Messages and payloads in flight to one peer.
  struct Line {
    // The key is the time at which it is due, and its rank in sending.
    std::map<std::pair<SteadyTime, uint64_t>, Late> late[kMessageClasses];
    // Earliest time of the next message of a class, unless reordered.
    SteadyTime in_order[kMessageClasses];
    SteadyTime free;  // the wire is busy until then
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

  // Decides the fate of a message or payload.
  void Add(PeerId peer, MessageClass message_class, Late late)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CutLine(PeerId peer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Chance(double share) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration SomeDelay() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends everything that is due. Sets `*next` to the time of the next work.
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
