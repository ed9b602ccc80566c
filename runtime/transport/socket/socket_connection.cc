//===- socket_connection.cc - Socket connection to one peer -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/socket_connection.h"

#include <asio/post.hpp>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace pathways {
namespace {

// Limit of one read, so that other peers get their turn.
constexpr size_t kReadBytes = 1 << 20;

}  // namespace

SocketConnection::SocketConnection(const Home* home, PeerId peer,
                                   std::unique_ptr<ByteStream> stream,
                                   bool announce)
    : home_(home),
      peer_(peer),
      stream_(std::move(stream)),
      decoder_(home->limits.max_message_bytes, this),
      watch_(home->polled->context()),
      deadline_(home->polled->context()),
      queue_(home->limits.piece_bytes),
      announce_(announce) {}

SocketConnection::~SocketConnection() {
  MutexLock lock(&mutex_);
  if (watch_.is_open()) watch_.release();  // the stream owns the descriptor
}

void SocketConnection::Start() {
  MutexLock lock(&mutex_);
  if (Watch()) ReadLater();
}

bool SocketConnection::Watch() {
  if (watch_.is_open()) return true;
  asio::error_code error;
  watch_.assign(stream_->fd(), error);
  if (!error) return true;
  Fail(absl::UnavailableError(
           absl::StrCat("cannot wait for the connection: ", error.message())),
       /*at_once=*/true);
  return false;
}

void SocketConnection::Expect(uint64_t token, void* memory, uint64_t bytes) {
  MutexLock lock(&mutex_);
  if (down_) return;
  expected_[token] = absl::MakeSpan(static_cast<char*>(memory), bytes);
}

uint64_t SocketConnection::backlog() const {
  MutexLock lock(&mutex_);
  return why_ ? 0 : queue_.bytes();
}

void SocketConnection::Close() {
  MutexLock lock(&mutex_);
  if (closing_ || why_) return;
  closing_ = true;
  progress_ = std::chrono::steady_clock::now();
  ArmDeadline(close_timeout());
  if (!writing_ && queue_.empty()) EndWriting();
}

void SocketConnection::Abandon() {
  abandoned_.store(true);
  for (;; std::this_thread::yield()) {
    MutexLock lock(&mutex_);
    // The writing thread finishes its current write and then sees abandoned_.
    if (!writing_) break;
  }
  stream_->Break();
}

void SocketConnection::PostCalls() {
  if (calls_posted_) return;
  calls_posted_ = true;
  asio::post(home_->polled->context(), [self = shared_from_this()] {
    {
      MutexLock lock(&self->mutex_);
      self->calls_posted_ = false;
    }
    self->RunCalls();
  });
}

void SocketConnection::RunCalls() {
  {
    MutexLock lock(&mutex_);
    if (calling_) return;  // the thread that holds calling_ sees the news
    calling_ = true;
  }
  while (RunOneCall()) {
  }
}

bool SocketConnection::RunOneCall() {
  std::vector<std::function<void()>> sent;
  bool up = false, read = false;
  std::optional<absl::Status> down;
  {
    MutexLock lock(&mutex_);
    if (abandoned_.load()) return false;
    sent.swap(sent_);
    if (announce_) {
      up = true;
      announce_ = false;
    } else if (!sent.empty()) {
      // nothing else in this turn
    } else if (readable_ && !drained_) {
      read = true;
      readable_ = false;
    } else if (why_ && drained_ && !writing_) {
      down = *why_;
      down_ = true;
      queue_.Clear(&sent);
      expected_.clear();
      deadline_.cancel();
    } else {
      calling_ = false;
      return false;
    }
  }
  if (up) home_->events->OnPeerUp(peer_);
  for (auto& call : sent) call();
  if (read) ReadSome();
  if (!down) return true;
  home_->events->OnPeerDown(peer_, *down);
  home_->forget(peer_);
  return false;  // no thread calls again
}

void SocketConnection::ReadSome() {
  for (size_t done = 0; done < kReadBytes;) {
    const auto buffers = decoder_.Buffers();
    const iovec parts[] = {{buffers[0].data(), buffers[0].size()},
                           {buffers[1].data(), buffers[1].size()}};
    const ssize_t came =
        stream_->Read(absl::MakeConstSpan(parts, buffers[1].empty() ? 1 : 2));
    if (came < 0 && errno == EINTR) continue;
    if (came < 0 && errno == EAGAIN) return WaitReadable();
    if (came < 0) {
      return FinishReading(absl::UnavailableError(absl::StrCat(
          "the connection broke: ", std::generic_category().message(errno))));
    }
    if (came == 0) {
      return FinishReading(absl::UnavailableError(absl::StrCat(
          "the other side closed the connection",
          decoder_.is_between_frames() ? "" : " in the middle of a message")));
    }
    absl::Status status = decoder_.Advance(came);
    if (abandoned_.load()) return;
    if (!status.ok()) return FinishReading(status);
    done += came;
    if (static_cast<size_t>(came) < buffers[0].size() + buffers[1].size()) {
      return WaitReadable();
    }
  }
  ReadLater();
}

void SocketConnection::FinishReading(const absl::Status& why) {
  MutexLock lock(&mutex_);
  drained_ = true;
  Fail(why, /*at_once=*/true);
}

void SocketConnection::WaitReadable() {
  if (home_->polled->is_polled()) {
    MutexLock lock(&mutex_);
    if (watch_.is_open() && !blocked_) watch_.release();
  }
  home_->polled->AwaitReadable(shared_from_this());
}

void SocketConnection::WaitInContext() {
  MutexLock lock(&mutex_);
  if (!Watch()) return;
  watch_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [self = shared_from_this()](const asio::error_code&) {
                      self->OnReadable();
                    });
}

void SocketConnection::ReadLater() {
  asio::post(home_->polled->context(),
             [self = shared_from_this()] { self->OnReadable(); });
}

void SocketConnection::OnReadable() {
  {
    MutexLock lock(&mutex_);
    readable_ = true;
  }
  RunCalls();
}

absl::Status SocketConnection::OnWholeMessage(absl::Span<const char> header,
                                              absl::Span<const char> payload) {
  if (abandoned_.load()) return absl::CancelledError("stopped");
  home_->events->OnMessage(peer_, header, payload);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<char>> SocketConnection::FindPayload(uint64_t token) {
  MutexLock lock(&mutex_);
  const auto found = expected_.find(token);
  if (found != expected_.end()) return found->second;
  return absl::InvalidArgumentError(
      absl::StrCat("received payload ", token, ", which is not expected"));
}

absl::Status SocketConnection::OnWholePayload(uint64_t token) {
  {
    MutexLock lock(&mutex_);
    expected_.erase(token);
  }
  if (abandoned_.load()) return absl::CancelledError("stopped");
  home_->events->OnPayload(peer_, token);
  return absl::OkStatus();
}

void SocketConnection::Fail(const absl::Status& why, bool at_once) {
  if (!why_) {
    // If the connection is being closed, any end of it counts as closed.
    why_ = closing_ && absl::IsUnavailable(why) ? absl::OkStatus() : why;
    stream_->Break();
    ArmDeadline(close_timeout());
  }
  drained_ |= at_once;
  PostCalls();
}

void SocketConnection::ArmDeadline(std::chrono::nanoseconds after) {
  deadline_.expires_after(after);
  deadline_.async_wait(
      [self = shared_from_this()](const asio::error_code& error) {
        if (!error) self->OnDeadline();
      });
}

void SocketConnection::OnDeadline() {
  MutexLock lock(&mutex_);
  if (down_) return;
  const auto since = std::chrono::steady_clock::now() - progress_;
  if (!why_ && since < close_timeout()) {
    return ArmDeadline(close_timeout() - since);
  }
  Fail(absl::UnavailableError(
           "the other side did not close the connection in time"),
       /*at_once=*/true);
}

std::chrono::nanoseconds SocketConnection::close_timeout() const {
  return absl::ToChronoNanoseconds(home_->limits.close_timeout);
}

}  // namespace pathways
