//===- polled_transport.h - A transport with a thread -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_TRANSPORT_POLLED_TRANSPORT_H_
#define UNITTESTS_RUNTIME_TRANSPORT_POLLED_TRANSPORT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "runtime/transport/testing/in_process_transport.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Polls one that has no thread of its own.
class PolledTransport final : public Transport {
 public:
  explicit PolledTransport(std::unique_ptr<Transport> transport)
      : transport_(std::move(transport)), thread_([this] {
          while (!stopping_.load()) {
            if (!transport_->Poll()) std::this_thread::yield();
          }
        }) {}
  ~PolledTransport() override { Stop(); }

  absl::StatusOr<std::string> Listen(absl::string_view address) override {
    return transport_->Listen(address);
  }
  absl::StatusOr<PeerId> Dial(absl::string_view address,
                              absl::Duration timeout) override {
    return transport_->Dial(address, timeout);
  }
  void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload) override {
    transport_->Send(peer, urgency, header, payload);
  }
  void Expect(PeerId peer, uint64_t token, void* memory,
              uint64_t bytes) override {
    transport_->Expect(peer, token, memory, bytes);
  }
  void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
           std::function<void()> sent) override {
    transport_->Put(peer, token, bytes, std::move(sent));
  }
  uint64_t backlog(PeerId peer) const override {
    return transport_->backlog(peer);
  }
  void Close(PeerId peer) override { transport_->Close(peer); }
  bool Poll() override { return transport_->Poll(); }
  // Any thread: a test stops what its owner stops too.
  void Stop() override {
    transport_->Stop();
    stopping_.store(true);
    MutexLock lock(&mutex_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  const std::unique_ptr<Transport> transport_;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  std::thread thread_;
};

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_TRANSPORT_POLLED_TRANSPORT_H_
