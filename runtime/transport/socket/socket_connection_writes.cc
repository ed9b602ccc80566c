//===- socket_connection_writes.cc - Writes of a connection -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <asio/post.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/transport/socket/socket_connection.h"

namespace pathways {
namespace {

// Limit of one write, so that received messages and other peers get their turn.
constexpr size_t kWriteBytes = 128 << 10;

}  // namespace

void SocketConnection::Send(Urgency urgency, absl::Span<const char> header,
                            absl::Span<const char> payload) {
  const uint64_t bytes = header.size() + payload.size();
  // Lengths on the wire have 32 bits.
  const uint64_t most =
      std::min<uint64_t>(home_->limits.max_message_bytes, UINT32_MAX);
  bool copied = false;
  {
    MutexLock lock(&mutex_);
    if (why_ || closing_ || abandoned_.load()) return;
    if (bytes > most) {
      return Fail(absl::InvalidArgumentError(
                      absl::StrCat("a message of ", bytes,
                                   " bytes was sent, expected at most ", most)),
                  /*at_once=*/true);
    }
    if (urgency == Urgency::kBulk) {
      queue_.AddMessage(urgency, header, payload);
      return ScheduleFlush();
    }
    const bool at_once = queue_.empty();
    if (writing_ || blocked_ || !at_once) {
      queue_.AddMessage(urgency, header, payload);
    }
    if (writing_ || blocked_) return;  // the writing thread takes it along
    writing_ = true;
    copied = !at_once;
  }
  if (copied || WriteAtOnce(header, payload)) Write(/*all=*/false);
}

bool SocketConnection::Put(uint64_t token, absl::Span<const char> bytes,
                           std::function<void()>* sent) {
  MutexLock lock(&mutex_);
  if (down_ || abandoned_.load()) return false;
  if (why_ || closing_) {
    sent_.push_back(std::move(*sent));
    PostCalls();
    return true;
  }
  queue_.AddPayload(token, bytes, std::move(*sent));
  ScheduleFlush();
  return true;
}

bool SocketConnection::WriteAtOnce(absl::Span<const char> header,
                                   absl::Span<const char> payload) {
  char bytes[kFrameBytes];
  EncodeFrame(WholeFrame(FrameKind::kCritical, header.size(), payload.size()),
              bytes);
  const iovec parts[] = {{bytes, kFrameBytes},
                         {const_cast<char*>(header.data()), header.size()},
                         {const_cast<char*>(payload.data()), payload.size()}};
  const size_t all = kFrameBytes + header.size() + payload.size();
  ssize_t written;
  do {
    written = stream_->Write(parts);
  } while (written < 0 && errno == EINTR);
  const int error = written < 0 ? errno : 0;
  MutexLock lock(&mutex_);
  if (error == EAGAIN) written = 0;
  if (written < 0) {
    BreakWriting(error);
    return false;
  }
  if (static_cast<size_t>(written) < all) {
    queue_.AddRest(parts, written);
    WaitWritable();
    return false;
  }
  if (queue_.has_critical()) return true;
  FinishWriting();
  return false;
}

void SocketConnection::Write(bool all) {
  size_t done = 0;
  std::vector<iovec> parts;
  for (;;) {
    {
      MutexLock lock(&mutex_);
      const bool goes_on = !why_ && !abandoned_.load() && done < kWriteBytes;
      parts = goes_on ? queue_.Compose(all) : std::vector<iovec>();
      if (parts.empty()) return FinishWriting();
    }
    size_t shown = 0;
    for (const iovec& part : parts) shown += part.iov_len;
    const ssize_t written = stream_->Write(parts);
    const int error = written < 0 ? errno : 0;
    if (error == EINTR) continue;
    MutexLock lock(&mutex_);
    if (error != 0 && error != EAGAIN) return BreakWriting(error);
    if (written > 0) {
      done += written;
      queue_.Consume(written, &sent_);
      progress_ = std::chrono::steady_clock::now();
      if (!sent_.empty()) PostCalls();
    }
    if (written < static_cast<ssize_t>(shown)) return WaitWritable();
  }
}

void SocketConnection::FinishWriting() {
  writing_ = false;
  if (why_) return PostCalls();  // they may wait for the end of the write
  if (!queue_.empty()) return ScheduleFlush();
  if (closing_) EndWriting();
}

void SocketConnection::BreakWriting(int error) {
  writing_ = false;
  // Bytes that the other side sent before can still be read.
  Fail(absl::UnavailableError(absl::StrCat(
           "the connection broke: ", std::generic_category().message(error))),
       /*at_once=*/false);
}

void SocketConnection::EndWriting() {
  if (ended_) return;
  ended_ = true;
  progress_ = std::chrono::steady_clock::now();
  stream_->EndWriting();
}

void SocketConnection::ScheduleFlush() {
  if (writing_ || blocked_ || flush_posted_) return;
  flush_posted_ = true;
  asio::post(home_->polled->context(), [self = shared_from_this()] {
    {
      MutexLock lock(&self->mutex_);
      self->flush_posted_ = false;
      if (self->writing_ || self->blocked_) return;
      self->writing_ = true;
    }
    self->Write(/*all=*/true);
  });
}

void SocketConnection::WaitWritable() {
  writing_ = false;
  if (why_) return PostCalls();
  if (!Watch()) return;
  blocked_ = true;
  watch_.async_wait(asio::posix::stream_descriptor::wait_write,
                    [self = shared_from_this()](const asio::error_code&) {
                      {
                        MutexLock lock(&self->mutex_);
                        self->blocked_ = false;
                        if (self->writing_) return;
                        self->writing_ = true;
                      }
                      self->Write(/*all=*/true);
                    });
}

}  // namespace pathways
