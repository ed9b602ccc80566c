//===- byte_stream.h - Non-blocking byte stream -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_BYTE_STREAM_H_
#define RUNTIME_TRANSPORT_SOCKET_BYTE_STREAM_H_

#include <sys/types.h>
#include <sys/uio.h>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace pathways {

// A connected stream that never blocks. Two threads may call Write and Read at
// the same time, each one of them. Both return a number of bytes, or -1 with
// errno set: EAGAIN means to try again when `fd` is ready; otherwise the stream
// is broken.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Does the stream's own handshake. Must be called before everything else,
  // until it returns true. If it returns false, it must be called again when
  // there is something to read.
  virtual absl::StatusOr<bool> Open() = 0;
  // Writes some of `parts`. The next call must begin with the bytes that were
  // not taken.
  virtual ssize_t Write(absl::Span<const iovec> parts) = 0;
  // Returns 0 if the other side ended the stream. If it fills less than the
  // room given, there are no more bytes now. Otherwise, and after Open, there
  // may be bytes that `fd` does not show as readable.
  virtual ssize_t Read(absl::Span<const iovec> parts) = 0;
  // Ends writing. Bytes that the other side sent can still be read, and then
  // the end.
  virtual void EndWriting() = 0;
  // Ends both directions. Reads see this at once.
  virtual void Break() = 0;
  virtual int fd() const = 0;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_BYTE_STREAM_H_
