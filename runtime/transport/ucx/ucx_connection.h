//===- ucx_connection.h - One peer over UCX ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_UCX_UCX_CONNECTION_H_
#define RUNTIME_TRANSPORT_UCX_UCX_CONNECTION_H_

#include <ucp/api/ucp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/frame_decoder.h"
#include "runtime/transport/send_queue.h"
#include "runtime/transport/transport.h"
#include "runtime/transport/ucx/ucx_hello.h"
#include "runtime/transport/ucx/ucx_loop.h"

namespace pathways {

// Packets over an endpoint of UCX (ucx.md). Its transport holds it until it is
// over. Invariants: (1) UCX is called by the thread that is inside the loop;
// (2) at most one packet of bytes is with UCX, so what waits meanwhile goes
// together; (3) OnPeerDown comes when the endpoint is closed and nothing is
// with UCX any more, so nobody touches what was expected or lent.
class UcxConnection : public std::enable_shared_from_this<UcxConnection>,
                      private FrameSink {
 public:
  // What all connections of a transport share. Outlives them.
  struct Home {
    UcxLoop* loop;
    TransportEvents* events;
    TransportLimits limits;
    uint64_t window_bytes;
    uint64_t name;  // of the transport
    std::chrono::nanoseconds stranger_timeout;
    std::chrono::nanoseconds silence_timeout;  // max(): any is fine
    std::atomic<bool> stopped{false};
    // Inside: the other side said hello, and has this number from now on.
    std::function<PeerId(UcxConnection*)> admit;
    // Inside: its endpoint is another's from now on; it is over.
    std::function<void(ucp_ep_h)> close_endpoint;
    std::function<void(UcxConnection*)> forget;
    // Any thread: Flush and Tell are to be called.
    std::function<void(UcxConnection*)> list;
    // Who was not a peer yet ended so.
    std::function<void(absl::string_view from, const absl::Status&)> refused;
  };

  // `from`: who dialed; empty: this side did. `secret`: of who was dialed.
  UcxConnection(const Home* home, std::string from, uint64_t secret);

  // Any thread. As of Transport; a critical one only if another thread is
  // inside.
  void Send(Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload);
  void Expect(uint64_t token, void* memory, uint64_t bytes);
  // False: it is down, and `*sent` was not taken.
  bool Put(uint64_t token, absl::Span<const char> bytes,
           std::function<void()>* sent);
  uint64_t backlog() const;
  void Close();
  // Until both said hello, or it failed. DeadlineExceeded: neither.
  absl::StatusOr<PeerId> WaitUntilUp(std::chrono::nanoseconds timeout);

  // All below: inside. As of Transport, a critical one.
  void SendInside(absl::Span<const char> header,
                  absl::Span<const char> payload);
  void Open(ucp_ep_h endpoint);
  bool is_stranger() const { return !from_.empty() && state_ == State::kNew; }
  // Who dialed, and when it must have said hello: later for a later one.
  const std::string& from() const { return from_; }
  std::chrono::steady_clock::time_point hello_due() const { return hello_due_; }
  bool is_up() const { return state_ == State::kUp; }
  PeerId peer() const { return peer_; }
  // Its data is `head` and `body` together.
  void OnPacket(UcxPacket packet, absl::Span<const char> head,
                absl::Span<const char> body);
  // It is over, for this reason.
  void Fail(const absl::Status& why);
  // Sends what is queued, or of that only critical messages. False: nothing.
  bool Flush(bool all);
  // Calls what is to be called.
  void Notify();
  // When it is to be called next.
  UcxWork::Time Tick(UcxWork::Time now);
  // Closes the endpoint without a word. False: UCX has still to do with it.
  bool Abandon();

  std::atomic<bool> listed{false};  // the transport's

 private:
  enum class State {
    kNew,     // no hello yet
    kUp,      //
    kFailed,  // the endpoint is to be closed
    kClosed,  // Tell is to say so, as soon as UCX has done with it
    kOver,
  };
  using Clock = std::chrono::steady_clock;
  // The peer is told that so many were taken.
  static constexpr uint64_t kTellBytes = 128 << 10;
  static constexpr std::chrono::seconds kTellWithin{1};

  absl::Status OnWholeMessage(absl::Span<const char> header,
                              absl::Span<const char> payload) override;
  absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) override;
  absl::Status OnWholePayload(uint64_t token) override;

  void OnHello(absl::Span<const char> data);
  void OnBytes(absl::Span<const char> data);
  void OnTaken(absl::Span<const char> data);
  // Queues a message. False: it is dropped.
  bool Queue(Urgency urgency, absl::Span<const char> header,
             absl::Span<const char> payload);
  // What says whether a message may go past the queue has changed.
  void SetOpenAndEmpty() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    open_and_empty_.store(open_ && !closing_ && queue_.empty(),
                          std::memory_order_release);
  }
  // A critical message past the queue, which is empty.
  void SendAtOnce(absl::Span<const char> header,
                  absl::Span<const char> payload);
  void SendParts(absl::Span<const iovec> parts);
  void SendHello();
  void SendTaken();
  void SendEnd();
  // So much more of the stream is the peer's to take.
  void Await(uint64_t bytes);
  UcxWork::Time TickSilence(UcxWork::Time now);
  // `bytes` of the queue go with it. Both parts stay until UCX has done with
  // it.
  void SendPacket(UcxPacket packet, absl::Span<const char> head,
                  absl::Span<const char> body, size_t bytes);
  static void OnSent(void* request, ucs_status_t status, void* connection);
  static void OnTakenSent(void* request, ucs_status_t status, void* connection);
  static void OnClosed(void* request, ucs_status_t status, void* connection);
  void FinishSend(size_t bytes);
  void CloseEndpoint();
  void NotifyOver();
  bool is_with_ucx() const { return sending_ || telling_ || closing_endpoint_; }

  const Home* const home_;
  const std::string from_;
  const UcxHello hello_;  // of both sides, but for the name
  FrameDecoder decoder_;

  // Of the thread that is inside.
  State state_ = State::kNew;
  ucp_ep_h endpoint_ = nullptr;
  PeerId peer_{};
  bool was_up_ = false;
  absl::Status why_;
  ucs_status_t broken_ = UCS_OK;  // what UCX said of a packet
  UcxWork::Time hello_due_;
  bool sending_ = false;      // UCX has a packet, of
  size_t sending_bytes_ = 0;  // so many bytes of the queue
  bool telling_ = false;      // UCX has a kTaken
  bool closing_endpoint_ = false;
  bool end_sent_ = false;
  uint64_t sent_ = 0;             // bytes of the stream
  uint64_t taken_ = 0;            // of those, by the peer
  uint64_t came_ = 0, told_ = 0;  // of the peer's
  uint64_t telling_bytes_ = 0;
  // When the peer is to be told at the latest, and to have told; max(): it is
  // not.
  UcxWork::Time tell_due_ = UcxWork::Time::max();
  UcxWork::Time silence_due_ = UcxWork::Time::max();
  bool tells_ = false;       // it is due
  bool was_silent_ = false;  // once: what has come may not have been looked at
  std::unique_ptr<char[]> scratch_;

  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  SendQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool open_ ABSL_GUARDED_BY(mutex_) = false;  // takes what is sent
  // What is sent is taken, and nothing waits. For who has no lock: it was so.
  std::atomic<bool> open_and_empty_{false};
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool down_ ABSL_GUARDED_BY(mutex_) = false;       // OnPeerDown was called
  UcxWork::Time progress_ ABSL_GUARDED_BY(mutex_);  // since it closes
  // Why it is to fail, said by a thread that is not inside.
  std::optional<absl::Status> failure_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::StatusOr<PeerId>> greeted_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, absl::Span<char>> expected_
      ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_CONNECTION_H_
