//===- tls_stream.h - A socket under TLS ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_TLS_STREAM_H_
#define RUNTIME_TRANSPORT_SOCKET_TLS_STREAM_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/descriptor.h"
#include "runtime/transport/socket/byte_stream.h"
#include "runtime/transport/socket/tls_context.h"

namespace pathways {

// What is written comes at the other side, or the stream breaks, and only the
// other side can read it. Invariants: (1) before the other side has proved that
// it knows the key, no more than 4 KiB of it are read; (2) the lock is never
// held while something waits. `context` outlives it.
class TlsStream : public ByteStream {
 public:
  TlsStream(const TlsContext* context, Descriptor socket, bool dialed);
  ~TlsStream() override;

  absl::StatusOr<bool> Open() override;
  ssize_t Write(absl::Span<const iovec> parts) override;
  ssize_t Read(absl::Span<const iovec> parts) override;
  void EndWriting() override;
  void Break() override;
  int fd() const override { return socket_.get(); }

 private:
  // Takes the lock after whoever waited for it first: of a thread that writes
  // on and one that wants to read, the first would get it again and again.
  class ABSL_SCOPED_LOCKABLE InTurn {
   public:
    InTurn(Mutex* turn, Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
        : mutex_(mutex) {
      MutexLock lock(turn);
      mutex_->lock();
    }
    ~InTurn() ABSL_UNLOCK_FUNCTION() { mutex_->unlock(); }
    InTurn(const InTurn&) = delete;
    InTurn& operator=(const InTurn&) = delete;

   private:
    Mutex* const mutex_;
  };

  // What OpenSSL calls to reach the socket.
  static BIO_METHOD* SocketMethod();
  static int BioRead(BIO* bio, char* bytes, int size);
  static int BioWrite(BIO* bio, const char* bytes, int size);
  static long BioControl(BIO* bio, int command, long, void*);

  // Sends what is encrypted. 0, or an errno.
  int FlushLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The next bytes of `parts`, side by side.
  absl::Span<const char> Gather(absl::Span<const iovec> parts, size_t skipped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Descriptor socket_;
  Mutex turn_;  // of who takes the other one next
  Mutex mutex_;
  SSL* const end_ ABSL_PT_GUARDED_BY(mutex_);  // null: it could not be made
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  // The other process went without a word, as those do that are killed.
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  // The last read had all that the socket had.
  bool is_drained_ ABSL_GUARDED_BY(mutex_) = false;
  size_t came_ ABSL_GUARDED_BY(mutex_) = 0;        // before it was open
  std::string encrypted_ ABSL_GUARDED_BY(mutex_);  // and not sent yet
  size_t held_ ABSL_GUARDED_BY(mutex_) = 0;        // of what it was before
  std::string gathered_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_TLS_STREAM_H_
