//===- byte_stream.h - What a connection writes to --------------*- C++ -*-===//
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

// A connected stream that never waits. Write and Read may be called by two
// threads at a time, each by one. Both return bytes, or -1 with errno set:
// EAGAIN, try again when `fd` is ready; else the stream is broken.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Before all else, until it says true: shakes hands of the stream's own.
  // False: it has to be called again when there is something to read.
  virtual absl::StatusOr<bool> Open() = 0;
  // What was not taken comes again, in front, in the next call.
  virtual ssize_t Write(absl::Span<const iovec> parts) = 0;
  // 0: the other side ended the stream. Fewer than there is room for: there are
  // no more now. Else there may be some that `fd` does not show any more, as
  // there may be after Open.
  virtual ssize_t Read(absl::Span<const iovec> parts) = 0;
  // Nothing more is written. What came can be read still, and then the end.
  virtual void EndWriting() = 0;
  // Ends both directions; reads see that at once.
  virtual void Break() = 0;
  virtual int fd() const = 0;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_BYTE_STREAM_H_
