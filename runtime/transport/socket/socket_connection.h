//===- socket_connection.h - A peer at the end of a socket ------*- C++ -*-===//
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

// Frames over a stream. Thread-safe; the context's threads hold it, and the
// transport until it is down. Invariants: (1) one thread at a time writes
// (writing_), without the lock; whoever adds something meanwhile leaves it to
// that one; (2) one thread at a time reads and calls handlers (calling_), never
// one that is inside a call of the user's; (3) OnPeerDown comes when neither
// does anything any more, so nobody touches what was expected or lent.
class SocketConnection : public std::enable_shared_from_this<SocketConnection>,
                         public PolledReader,
                         private FrameSink {
 public:
  // What all connections of a transport share. Outlives them.
  struct Home {
    PolledContext* polled;
    TransportEvents* events;
    TransportLimits limits;
    std::function<void(PeerId)> forget;  // the peer was told to be down
  };

  // `announce`: the other side dialed.
  SocketConnection(const Home* home, PeerId peer,
                   std::unique_ptr<ByteStream> stream, bool announce);
  ~SocketConnection() override;

  void Start();
  // As of Transport.
  void Send(Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload);
  void Expect(uint64_t token, void* memory, uint64_t bytes);
  // False: it is down, and `*sent` was not taken.
  bool Put(uint64_t token, absl::Span<const char> bytes,
           std::function<void()>* sent);
  uint64_t backlog() const;
  void Close();
  // The context runs nothing any more. Waits for a Send that writes.
  void Abandon();

 private:
  absl::Status OnWholeMessage(absl::Span<const char> header,
                              absl::Span<const char> payload) override;
  absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) override;
  absl::Status OnWholePayload(uint64_t token) override;

  // Writing, in socket_connection_writes.cc; whoever does holds writing_.
  // A message past the queue, which is empty. True: Write has to go on.
  bool WriteAtOnce(absl::Span<const char> header,
                   absl::Span<const char> payload);
  // What is queued, or of that only critical messages; up to a share of it.
  void Write(bool all);
  // Let writing_ go.
  void FinishWriting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BreakWriting(int error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WaitWritable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The context watches the stream, from now on. False: it does not, and the
  // connection has failed.
  bool Watch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Somebody who polls is to write.
  void ScheduleFlush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Says the end of what is written, once.
  void EndWriting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Reading and handlers.
  void PostCalls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunCalls();
  bool RunOneCall();
  // Ends with one of the three below.
  void ReadSome();
  void WaitReadable();
  void ReadLater();  // there may be more already
  void FinishReading(const absl::Status& why);
  // Of PolledReader.
  int fd() const override { return stream_->fd(); }
  void OnReadable() override;
  void WaitInContext() override;

  // It is over: reads what came already, then tells; or at once.
  void Fail(const absl::Status& why, bool at_once)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ArmDeadline(std::chrono::nanoseconds after)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDeadline();
  std::chrono::nanoseconds close_timeout() const;

  const Home* const home_;
  const PeerId peer_;
  const std::unique_ptr<ByteStream> stream_;
  FrameDecoder decoder_;  // of the thread that holds calling_
  std::atomic<bool> abandoned_{false};

  mutable Mutex mutex_;
  asio::posix::stream_descriptor watch_ ABSL_GUARDED_BY(mutex_);
  asio::steady_timer deadline_ ABSL_GUARDED_BY(mutex_);
  SendQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool blocked_ ABSL_GUARDED_BY(mutex_) = false;  // waits to be writable
  bool flush_posted_ ABSL_GUARDED_BY(mutex_) = false;

  bool announce_ ABSL_GUARDED_BY(mutex_);
  bool calling_ ABSL_GUARDED_BY(mutex_) = false;
  bool calls_posted_ ABSL_GUARDED_BY(mutex_) = false;
  bool readable_ ABSL_GUARDED_BY(mutex_) = false;
  bool drained_ ABSL_GUARDED_BY(mutex_) = false;  // nothing more is read
  bool down_ ABSL_GUARDED_BY(mutex_) = false;     // OnPeerDown was called
  std::unordered_map<uint64_t, absl::Span<char>> expected_
      ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> sent_ ABSL_GUARDED_BY(mutex_);

  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  // all is written
  std::chrono::steady_clock::time_point progress_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> why_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_CONNECTION_H_
