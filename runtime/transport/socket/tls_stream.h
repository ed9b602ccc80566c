//===- tls_stream.h - Stream of a socket under TLS --------------*- C++ -*-===//
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

// A stream under TLS: written bytes arrive at the other side, or the stream
// breaks, and only the other side can read them. Invariants: (1) before the
// other side has proved that it knows the key, at most 4 KiB are read from it;
// (2) the lock is never held while a thread waits. `context` must outlive it.
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
  // Takes the lock in order of arrival. Otherwise a thread that writes
  // continuously would get it again and again before one that wants to read.
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

  // Functions by which OpenSSL reaches the socket.
  static BIO_METHOD* SocketMethod();
  static int BioRead(BIO* bio, char* bytes, int size);
  static int BioWrite(BIO* bio, const char* bytes, int size);
  static long BioControl(BIO* bio, int command, long, void*);

  // Sends the encrypted bytes. Returns 0 or an errno.
  int FlushLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the next bytes of `parts` after the first `skipped` ones,
  // contiguously.
  absl::Span<const char> Gather(absl::Span<const iovec> parts, size_t skipped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Descriptor socket_;
  Mutex turn_;  // held by the next thread to take mutex_
  Mutex mutex_;
  SSL* const end_ ABSL_PT_GUARDED_BY(mutex_);  // null if it could not be made
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  // True if the other process closed without notice, as a killed process does.
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  // True if the last read emptied the socket.
  bool is_drained_ ABSL_GUARDED_BY(mutex_) = false;
  // Bytes that arrived before it was open.
  size_t came_ ABSL_GUARDED_BY(mutex_) = 0;
  // Encrypted bytes that are not sent yet.
  std::string encrypted_ ABSL_GUARDED_BY(mutex_);
  size_t held_ ABSL_GUARDED_BY(mutex_) = 0;  // plain size of those bytes
  std::string gathered_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_TLS_STREAM_H_
