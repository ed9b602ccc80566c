//===- ucx_connection.cc - Connection to one peer over UCX ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/prefetch.h"
#include "runtime/transport/ucx/ucx_worker.h"

namespace pathways {
namespace {

// Bytes that are prefetched of each packet. The other side has just written it,
// so its lines come from another core's caches: all at once instead of one
// after the other as they are read.
constexpr size_t kPrefetchedBytes = 1 << 10;

}  // namespace

UcxConnection::UcxConnection(const Home* home, std::string from,
                             uint64_t secret)
    : home_(home),
      from_(std::move(from)),
      hello_{secret, home->name},
      decoder_(home->limits.max_message_bytes, this),
      hello_due_(Clock::now() + home->stranger_timeout),
      scratch_(new char[UcxWorker::kPacketBytes]),
      queue_(home->limits.piece_bytes) {}

void UcxConnection::Expect(uint64_t token, void* memory, uint64_t bytes) {
  MutexLock lock(&mutex_);
  if (down_) return;
  expected_[token] = absl::MakeSpan(static_cast<char*>(memory), bytes);
}

uint64_t UcxConnection::backlog() const {
  MutexLock lock(&mutex_);
  return open_ ? queue_.bytes() : 0;
}

void UcxConnection::Close() {
  const UcxWork::Time now = Clock::now();
  {
    MutexLock lock(&mutex_);
    if (closing_ || !open_) return;
    closing_ = true;
    SetOpenAndEmpty();
    progress_ = now;
  }
  home_->list(this);
  home_->loop->WakeAt(now +
                      absl::ToChronoNanoseconds(home_->limits.close_timeout));
}

absl::StatusOr<PeerId> UcxConnection::WaitUntilUp(
    std::chrono::nanoseconds timeout) {
  MutexLock lock(&mutex_);
  const auto due = Clock::now() + timeout;
  while (!greeted_) {
    if (changed_.wait_until(mutex_, due) == std::cv_status::timeout) break;
  }
  if (greeted_) return *greeted_;
  return absl::DeadlineExceededError("no answer came in time");
}

void UcxConnection::Open(ucp_ep_h endpoint) {
  endpoint_ = endpoint;
  if (from_.empty()) SendHello();
}

void UcxConnection::OnPacket(UcxPacket packet, absl::Span<const char> head,
                             absl::Span<const char> data) {
  if (state_ == State::kUp && packet == UcxPacket::kBytes) {
    came_ += head.size() + data.size();
    if (!head.empty()) OnBytes(head);
    if (state_ == State::kUp) OnBytes(data);
    if (came_ - told_ >= kTellBytes) {
      // The report is sent now, and not after everything that UCX holds is
      // handled, which may be as much as the other side sends before it waits
      // for this.
      if (state_ == State::kUp && endpoint_ != nullptr && !telling_) {
        SendTaken();
      } else {
        home_->list(this);
      }
    } else if (tell_due_ == UcxWork::Time::max()) {
      tell_due_ = Clock::now() + kTellWithin;
      home_->loop->WakeAt(tell_due_);
    }
    return;
  }
  if (state_ == State::kNew && packet == UcxPacket::kHello) {
    return OnHello(data);
  }
  if (state_ == State::kUp) {
    switch (packet) {
      case UcxPacket::kTaken:
        return OnTaken(data);
      case UcxPacket::kEnd:
        return Fail(absl::UnavailableError(absl::StrCat(
            "the other side closed the connection",
            decoder_.is_between_frames() ? ""
                                         : " in the middle of a message")));
      default:
        break;
    }
  }
  Fail(absl::InvalidArgumentError(
      absl::StrCat("received a packet of kind ", static_cast<unsigned>(packet),
                   " and ", data.size(), " bytes, which is not expected")));
}

void UcxConnection::OnHello(absl::Span<const char> data) {
  absl::Status status = CheckUcxHello(data, hello_);
  if (!status.ok()) return Fail(status);
  state_ = State::kUp;
  was_up_ = true;
  {
    MutexLock lock(&mutex_);
    open_ = true;
    SetOpenAndEmpty();
  }
  peer_ = home_->admit(this);
  if (from_.empty()) {
    MutexLock lock(&mutex_);
    greeted_ = peer_;
    changed_.notify_all();
    return;
  }
  SendHello();
  home_->events->OnPeerUp(peer_);
}

void UcxConnection::OnBytes(absl::Span<const char> data) {
  PrefetchBytes(data.data(), std::min(data.size(), kPrefetchedBytes));
  while (!data.empty()) {
    absl::Status status;
    if (decoder_.TakeWhole(data, &status)) {
      data = {};
    } else {
      size_t copied = 0;
      for (absl::Span<char> buffer : decoder_.Buffers()) {
        const size_t part = std::min(buffer.size(), data.size());
        if (part > 0) std::memcpy(buffer.data(), data.data(), part);
        data.remove_prefix(part);
        copied += part;
      }
      status = decoder_.Advance(copied);
    }
    if (home_->stopped.load(std::memory_order_relaxed)) return;
    if (!status.ok()) return Fail(status);
    if (state_ != State::kUp) return;
  }
}

void UcxConnection::OnTaken(absl::Span<const char> data) {
  uint64_t taken = 0;
  if (data.size() == sizeof taken) {
    std::memcpy(&taken, data.data(), sizeof taken);
  }
  if (data.size() != sizeof taken || taken < taken_ || taken > sent_) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        "the other side acknowledged ", taken, " bytes in a packet of ",
        data.size(), " bytes, expected ", taken_, " to ", sent_,
        " bytes in a packet of ", sizeof taken)));
  }
  taken_ = taken;
  was_silent_ = false;
  silence_due_ = UcxWork::Time::max();
  if (taken_ < sent_) Await(0);
  home_->list(this);
  MutexLock lock(&mutex_);
  if (closing_) progress_ = Clock::now();
}

absl::Status UcxConnection::OnWholeMessage(absl::Span<const char> header,
                                           absl::Span<const char> payload) {
  if (home_->stopped.load(std::memory_order_relaxed)) {
    return absl::CancelledError("stopped");
  }
  home_->events->OnMessage(peer_, header, payload);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<char>> UcxConnection::FindPayload(uint64_t token) {
  MutexLock lock(&mutex_);
  const auto found = expected_.find(token);
  if (found != expected_.end()) return found->second;
  return absl::InvalidArgumentError(
      absl::StrCat("received payload ", token, ", which is not expected"));
}

absl::Status UcxConnection::OnWholePayload(uint64_t token) {
  {
    MutexLock lock(&mutex_);
    expected_.erase(token);
  }
  if (home_->stopped.load()) return absl::CancelledError("stopped");
  home_->events->OnPayload(peer_, token);
  return absl::OkStatus();
}

void UcxConnection::Fail(const absl::Status& why) {
  if (state_ != State::kNew && state_ != State::kUp) return;
  state_ = State::kFailed;

  {
    MutexLock lock(&mutex_);
    open_ = false;
    SetOpenAndEmpty();
    // If the connection is being closed, any end of it counts as closed.
    why_ = closing_ && absl::IsUnavailable(why) ? absl::OkStatus() : why;
    if (!greeted_) greeted_ = why;
    changed_.notify_all();
  }
  if (!was_up_ && !from_.empty() && home_->refused) home_->refused(from_, why);
  home_->list(this);
}

void UcxConnection::CloseEndpoint() {
  state_ = State::kClosed;
  if (endpoint_ == nullptr) return;
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK |
                       UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  param.cb.send = &OnClosed;
  param.user_data = this;
  home_->close_endpoint(endpoint_);
  const ucs_status_ptr_t request =
      ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &param);
  closing_endpoint_ = UCS_PTR_IS_PTR(request);
}

void UcxConnection::OnClosed(void* request, ucs_status_t, void* connection) {
  auto* self = static_cast<UcxConnection*>(connection);
  ucp_request_free(request);
  self->closing_endpoint_ = false;
  self->home_->list(self);
}

void UcxConnection::Notify() {
  std::vector<std::function<void()>> calls;
  {
    MutexLock lock(&mutex_);
    calls.swap(calls_);
  }
  for (auto& call : calls) call();
  if (state_ == State::kClosed && !is_with_ucx()) NotifyOver();
}

void UcxConnection::NotifyOver() {
  state_ = State::kOver;
  std::vector<std::function<void()>> calls;
  {
    MutexLock lock(&mutex_);
    down_ = true;
    calls.swap(calls_);
    queue_.Clear(&calls);
    SetOpenAndEmpty();
    expected_.clear();
  }
  for (auto& call : calls) call();
  if (was_up_) home_->events->OnPeerDown(peer_, why_);
  home_->forget(this);
}

UcxWork::Time UcxConnection::Tick(UcxWork::Time now) {
  if (is_stranger()) {
    if (now < hello_due_) return hello_due_;
    Fail(absl::DeadlineExceededError("the other side sent no hello in time"));
  }
  const UcxWork::Time silence_due = TickSilence(now);
  UcxWork::Time due;
  {
    MutexLock lock(&mutex_);
    if (!closing_) return silence_due;
    due = progress_ + absl::ToChronoNanoseconds(home_->limits.close_timeout);
  }
  if (now < due) return std::min(due, silence_due);
  Fail(absl::UnavailableError(
      "the other side did not close the connection in time"));
  return UcxWork::Time::max();
}

UcxWork::Time UcxConnection::TickSilence(UcxWork::Time now) {
  if (state_ != State::kUp) return UcxWork::Time::max();
  if (now >= tell_due_) {
    tell_due_ = UcxWork::Time::max();
    tells_ = came_ > told_;
    if (tells_) home_->list(this);
  }
  if (now >= silence_due_) {
    if (was_silent_) {
      Fail(absl::UnavailableError(absl::StrCat(
          "the other side has acknowledged none of ", sent_ - taken_,
          " bytes for ",
          absl::FormatDuration(absl::FromChrono(home_->silence_timeout)))));
      return UcxWork::Time::max();
    }
    // This process may have been stopped, and not the other side.
    was_silent_ = true;
    silence_due_ = now + kTellWithin;
  }
  return std::min(tell_due_, silence_due_);
}

void UcxConnection::Await(uint64_t bytes) {
  sent_ += bytes;
  if (silence_due_ != UcxWork::Time::max() ||
      home_->silence_timeout == std::chrono::nanoseconds::max()) {
    return;
  }
  silence_due_ = Clock::now() + home_->silence_timeout;
  home_->loop->WakeAt(silence_due_);
}

bool UcxConnection::Abandon() {
  {
    MutexLock lock(&mutex_);
    open_ = false;
    SetOpenAndEmpty();
    down_ = true;
    if (!greeted_) {
      greeted_ = absl::UnavailableError("the transport has stopped");
    }
    changed_.notify_all();
  }
  if (endpoint_ != nullptr) CloseEndpoint();
  return !is_with_ucx();
}

}  // namespace pathways
