//===- transport_mux.h - Choice of the engine by the address ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_TRANSPORT_MUX_H_
#define RUNTIME_TRANSPORT_TRANSPORT_MUX_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Combines two engines: one for addresses with a prefix, the special one, and
// one for all others. The special engine is made when such an address is first
// listened on or dialed. From then on each Poll polls it, and only now and then
// the other engine, whose peers have less to send. Thread-safe as a Transport;
// numbers of peers ascend for each engine.
class TransportMux final : public Transport {
 public:
  using Make = std::function<absl::StatusOr<std::unique_ptr<Transport>>(
      TransportEvents*)>;

  // `events` must outlive Stop. Listen and Dial return the error of
  // `make_special` if it fails.
  TransportMux(std::string prefix, Make make_special, Make make_other,
               TransportEvents* events);
  ~TransportMux() override;

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
  void OnIdle() override;
  void Stop() override;

 private:
  // Passes an engine's events on, with the numbers that its peers have here.
  class Events;

  absl::StatusOr<Transport*> For(absl::string_view address);
  // Return the engine of a peer, and the peer's number there.
  Transport* Of(PeerId peer) const;
  static PeerId Inner(PeerId peer);

  const std::string prefix_;
  const Make make_special_;
  const std::unique_ptr<Events> special_events_, other_events_;
  absl::StatusOr<std::unique_ptr<Transport>> other_;
  std::atomic<Transport*> special_{nullptr};
  std::atomic<uint32_t> polls_{0};
  // Polls of the special engine since it last moved bytes.
  std::atomic<uint32_t> fruitless_{0};
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Transport> made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TRANSPORT_MUX_H_
