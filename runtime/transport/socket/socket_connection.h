//===- socket_connection.h - Socket connection to one peer ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_SOCKET_CONNECTION_H_
#define RUNTIME_TRANSPORT_SOCKET_SOCKET_CONNECTION_H_

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/frame_decoder.h"
#include "runtime/transport/send_queue.h"
#include "runtime/transport/socket/byte_stream.h"
#include "runtime/transport/socket/polled_context.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Frames over a stream. Thread-safe. Its owners are the handlers of the context
// and, until it is down, the transport. Invariants: (1) one thread at a time
// writes (writing_), without the lock; a thread that adds something meanwhile
// leaves it to that writer; (2) one thread at a time reads and calls handlers
// (calling_), and never a thread that is inside a call of the user; (3)
// OnPeerDown comes when neither reading nor writing continues, so that expected
// and lent memory is not touched any more.
class SocketConnection : public std::enable_shared_from_this<SocketConnection>,
                         public PolledReader,
                         private FrameSink {
 public:
  // State that all connections of a transport share. Must outlive them.
  struct Home {
    PolledContext* polled;
    TransportEvents* events;
    TransportLimits limits;
    std::function<void(PeerId)> forget;  // called after the peer's OnPeerDown
  };

  // `announce`: the other side dialed, so OnPeerUp must be called.
  SocketConnection(const Home* home, PeerId peer,
                   std::unique_ptr<ByteStream> stream, bool announce);
  ~SocketConnection() override;

  void Start();
  // The functions of Transport, for this peer.
  void Send(Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload);
  void Expect(uint64_t token, void* memory, uint64_t bytes);
  // Returns false, without taking `*sent`, if the connection is down.
  bool Put(uint64_t token, absl::Span<const char> bytes,
           std::function<void()>* sent);
  uint64_t backlog() const;
  void Close();
  // Called when the context no longer runs handlers. Waits for a Send that is
  // writing.
  void Abandon();

 private:
  absl::Status OnWholeMessage(absl::Span<const char> header,
                              absl::Span<const char> payload) override;
  absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) override;
  absl::Status OnWholePayload(uint64_t token) override;

  // Writing is in socket_connection_writes.cc. The thread that writes holds
  // writing_.
  // WriteAtOnce writes a message directly, since the queue is empty. Returns
  // true if the caller must continue with Write.
  bool WriteAtOnce(absl::Span<const char> header,
                   absl::Span<const char> payload);
  // Writes what is queued, or only critical messages if not `all`, up to a
  // limit.
  void Write(bool all);
  // These release writing_.
  void FinishWriting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BreakWriting(int error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WaitWritable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Registers the stream with the context. Returns false if that fails; the
  // connection has then failed.
  bool Watch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets a thread that polls write the queue.
  void ScheduleFlush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the writing direction, once.
  void EndWriting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Reading and handlers.
  void PostCalls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunCalls();
  bool RunOneCall();
  // Ends by calling one of the three functions below.
  void ReadSome();
  void WaitReadable();
  void ReadLater();  // more may have arrived already
  void FinishReading(const absl::Status& why);
  // Functions of PolledReader.
  int fd() const override { return stream_->fd(); }
  void OnReadable() override;
  void WaitInContext() override;

  // Ends the connection. Reports the end after everything that has arrived is
  // read, or without reading on if `at_once`.
  void Fail(const absl::Status& why, bool at_once)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ArmDeadline(std::chrono::nanoseconds after)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDeadline();
  std::chrono::nanoseconds close_timeout() const;

  const Home* const home_;
  const PeerId peer_;
  const std::unique_ptr<ByteStream> stream_;
  FrameDecoder decoder_;  // used by the thread that holds calling_
  std::atomic<bool> abandoned_{false};

  mutable Mutex mutex_;
  asio::posix::stream_descriptor watch_ ABSL_GUARDED_BY(mutex_);
  asio::steady_timer deadline_ ABSL_GUARDED_BY(mutex_);
  SendQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool blocked_ ABSL_GUARDED_BY(mutex_) = false;  // waits until writable
  bool flush_posted_ ABSL_GUARDED_BY(mutex_) = false;

  bool announce_ ABSL_GUARDED_BY(mutex_);
  bool calling_ ABSL_GUARDED_BY(mutex_) = false;
  bool calls_posted_ ABSL_GUARDED_BY(mutex_) = false;
  bool readable_ ABSL_GUARDED_BY(mutex_) = false;
  bool drained_ ABSL_GUARDED_BY(mutex_) = false;  // nothing is read any more
  bool down_ ABSL_GUARDED_BY(mutex_) = false;     // OnPeerDown was called
  std::unordered_map<uint64_t, absl::Span<char>> expected_
      ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> sent_ ABSL_GUARDED_BY(mutex_);

  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  // everything is written
  std::chrono::steady_clock::time_point progress_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> why_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_CONNECTION_H_
