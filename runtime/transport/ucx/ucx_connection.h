//===- ucx_connection.h - Connection to one peer over UCX -------*- C++ -*-===//
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

// Packets over an endpoint of UCX (ucx.md). Its transport owns it until it is
// over. Invariants: (1) only the thread that is inside the loop calls UCX; (2)
// at most one packet of bytes is in flight in UCX, so that bytes which arrive
// meanwhile are sent together; (3) OnPeerDown comes when the endpoint is closed
// and UCX holds nothing any more, so that expected and lent memory is not
// touched any more.
class UcxConnection : public std::enable_shared_from_this<UcxConnection>,
                      private FrameSink {
 public:
  // State that all connections of a transport share. Must outlive them.
  struct Home {
    UcxLoop* loop;
    TransportEvents* events;
    TransportLimits limits;
    uint64_t window_bytes;
    uint64_t name;  // random name of the transport
    std::chrono::nanoseconds stranger_timeout;
    std::chrono::nanoseconds silence_timeout;  // max(): no limit
    std::atomic<bool> stopped{false};
    // Inside: the other side said hello. Assigns the peer's number.
    std::function<PeerId(UcxConnection*)> admit;
    // Inside: the endpoint no longer belongs to the connection.
    std::function<void(ucp_ep_h)> close_endpoint;
    std::function<void(UcxConnection*)> forget;
    // Any thread: requests calls of Flush and Notify.
    std::function<void(UcxConnection*)> list;
    // Called when a stranger's connection ends.
    std::function<void(absl::string_view from, const absl::Status&)> refused;
  };

  // `from` is the address of the process that dialed; empty if this side
  // dialed. `secret` is that of the side that was dialed.
  UcxConnection(const Home* home, std::string from, uint64_t secret);

  // Functions of Transport, on any thread. Send is used for critical messages
  // only if another thread is inside.
  void Send(Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload);
  void Expect(uint64_t token, void* memory, uint64_t bytes);
  // Returns false, without taking `*sent`, if the connection is down.
  bool Put(uint64_t token, absl::Span<const char> bytes,
           std::function<void()>* sent);
  uint64_t backlog() const;
  void Close();
  // Waits until both sides said hello, or the connection failed. Returns
  // DeadlineExceeded if neither happens in time.
  absl::StatusOr<PeerId> WaitUntilUp(std::chrono::nanoseconds timeout);

  // All functions below must be called inside the loop. SendInside sends a
  // critical message.
  void SendInside(absl::Span<const char> header,
                  absl::Span<const char> payload);
  void Open(ucp_ep_h endpoint);
  bool is_stranger() const { return !from_.empty() && state_ == State::kNew; }
  // The address of the process that dialed, and the deadline of its hello,
  // which ascends with the time of dialing.
  const std::string& from() const { return from_; }
  std::chrono::steady_clock::time_point hello_due() const { return hello_due_; }
  bool is_up() const { return state_ == State::kUp; }
  PeerId peer() const { return peer_; }
  // Handles a packet whose data is `head` followed by `body`.
  void OnPacket(UcxPacket packet, absl::Span<const char> head,
                absl::Span<const char> body);
  // Ends the connection for this reason.
  void Fail(const absl::Status& why);
  // Sends what is queued, or only critical messages if not `all`. Returns false
  // if there was nothing.
  bool Flush(bool all);
  // Calls pending callbacks, and OnPeerDown when the connection is over.
  void Notify();
  // Checks the deadlines. Returns the time of the next one.
  UcxWork::Time Tick(UcxWork::Time now);
  // Closes the endpoint without notifying the peer. Returns false if UCX is not
  // finished with it.
  bool Abandon();

  std::atomic<bool> listed{false};  // owned by the transport

 private:
  enum class State {
    kNew,     // no hello yet
    kUp,      //
    kFailed,  // the endpoint must be closed
    kClosed,  // Notify reports it, as soon as UCX is finished
    kOver,
  };
  using Clock = std::chrono::steady_clock;
  // The peer is notified after this many bytes were taken, or this time.
  static constexpr uint64_t kTellBytes = 128 << 10;
  static constexpr std::chrono::seconds kTellWithin{1};

  absl::Status OnWholeMessage(absl::Span<const char> header,
                              absl::Span<const char> payload) override;
  absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) override;
  absl::Status OnWholePayload(uint64_t token) override;

  void OnHello(absl::Span<const char> data);
  void OnBytes(absl::Span<const char> data);
  void OnTaken(absl::Span<const char> data);
  // Queues a message. Returns false if it is dropped.
  bool Queue(Urgency urgency, absl::Span<const char> header,
             absl::Span<const char> payload);
  // Updates open_and_empty_ after a change of what it depends on.
  void SetOpenAndEmpty() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    open_and_empty_.store(open_ && !closing_ && queue_.empty(),
                          std::memory_order_release);
  }
  // Sends a critical message directly, since the queue is empty.
  void SendAtOnce(absl::Span<const char> header,
                  absl::Span<const char> payload);
  void SendParts(absl::Span<const iovec> parts);
  void SendHello();
  void SendTaken();
  void SendEnd();
  // Records `bytes` more bytes of the stream that the peer must take.
  void Await(uint64_t bytes);
  UcxWork::Time TickSilence(UcxWork::Time now);
  // Sends a packet that carries `bytes` bytes of the queue. Both parts stay in
  // place until UCX is finished with them.
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
  const UcxHello hello_;  // shared by both sides, except for the name
  FrameDecoder decoder_;

  // Used only by the thread that is inside.
  State state_ = State::kNew;
  ucp_ep_h endpoint_ = nullptr;
  PeerId peer_{};
  bool was_up_ = false;
  absl::Status why_;
  ucs_status_t broken_ = UCS_OK;  // error that UCX returned for a packet
  UcxWork::Time hello_due_;
  bool sending_ = false;      // UCX holds a packet
  size_t sending_bytes_ = 0;  // its bytes from the queue
  bool telling_ = false;      // UCX holds a kTaken
  bool closing_endpoint_ = false;
  bool end_sent_ = false;
  uint64_t sent_ = 0;             // bytes of the stream
  uint64_t taken_ = 0;            // bytes of these that the peer took
  uint64_t came_ = 0, told_ = 0;  // received; reported to the peer
  uint64_t telling_bytes_ = 0;
  // Deadlines for reporting to the peer, and for the peer's report. max():
  // none.
  UcxWork::Time tell_due_ = UcxWork::Time::max();
  UcxWork::Time silence_due_ = UcxWork::Time::max();
  bool tells_ = false;       // a report is due
  bool was_silent_ = false;  // once: received packets may be unread
  std::unique_ptr<char[]> scratch_;

  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  SendQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool open_ ABSL_GUARDED_BY(mutex_) = false;  // accepts messages
  // True if messages are accepted and none waits. A reader without the lock may
  // get an outdated value.
  std::atomic<bool> open_and_empty_{false};
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool down_ ABSL_GUARDED_BY(mutex_) = false;  // OnPeerDown was called
  // Last progress while it closes.
  UcxWork::Time progress_ ABSL_GUARDED_BY(mutex_);
  // Reason to fail, set by a thread that is not inside.
  std::optional<absl::Status> failure_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::StatusOr<PeerId>> greeted_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, absl::Span<char>> expected_
      ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_CONNECTION_H_
