//===- ucx_connection_sends.cc - Sends of a connection over UCX -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/transport/frame.h"
#include "runtime/transport/ucx/ucx_connection.h"
#include "runtime/transport/ucx/ucx_worker.h"

namespace pathways {
namespace {

// Limit of packets per call, so that received messages and other peers get
// their turn.
constexpr int kPacketsAtOnce = 8;
// Parts of up to this size are copied side by side.
constexpr size_t kCopiedBytes = 2 << 10;
// Largest number of bytes before a long part, in addition to a full packet.
constexpr size_t kHeadBytes = UcxWorker::kHeadBytes;

}  // namespace

void UcxConnection::Send(Urgency urgency, absl::Span<const char> header,
                         absl::Span<const char> payload) {
  if (!Queue(urgency, header, payload) || urgency == Urgency::kBulk) return;
  // The thread that is inside sends the message, or this thread if that one has
  // left.
  home_->loop->UrgeOn();
  if (home_->loop->Enter()) home_->loop->Leave();
}

void UcxConnection::SendInside(absl::Span<const char> header,
                               absl::Span<const char> payload) {
  // If this is true, everything that this thread queued before has been sent.
  if (!sending_ && open_and_empty_.load(std::memory_order_acquire) &&
      header.size() + payload.size() <=
          std::min<uint64_t>(home_->limits.max_message_bytes,
                             UcxWorker::kPacketBytes - kFrameBytes)) {
    return SendAtOnce(header, payload);
  }
  if (Queue(Urgency::kCritical, header, payload)) Flush(/*all=*/false);
}

bool UcxConnection::Queue(Urgency urgency, absl::Span<const char> header,
                          absl::Span<const char> payload) {
  const uint64_t bytes = header.size() + payload.size();
  // Lengths on the wire have 32 bits.
  const uint64_t most =
      std::min<uint64_t>(home_->limits.max_message_bytes, UINT32_MAX);
  {
    MutexLock lock(&mutex_);
    if (!open_ || closing_) return false;
    if (bytes > most) {
      failure_ = absl::InvalidArgumentError(absl::StrCat(
          "a message of ", bytes, " bytes was sent, expected at most ", most));
    } else {
      queue_.AddMessage(urgency, header, payload);
      SetOpenAndEmpty();
    }
  }
  home_->list(this);
  return true;
}

bool UcxConnection::Put(uint64_t token, absl::Span<const char> bytes,
                        std::function<void()>* sent) {
  {
    MutexLock lock(&mutex_);
    if (down_) return false;
    if (!open_ || closing_) {
      calls_.push_back(std::move(*sent));
    } else {
      queue_.AddPayload(token, bytes, std::move(*sent));
      SetOpenAndEmpty();
    }
  }
  home_->list(this);
  return true;
}

void UcxConnection::SendAtOnce(absl::Span<const char> header,
                               absl::Span<const char> payload) {
  const Frame frame =
      WholeFrame(FrameKind::kCritical, header.size(), payload.size());
  char encoded[kFrameBytes];
  EncodeFrame(frame, encoded);
  // The bytes stay there until UCX is finished with them.
  char* const packet = scratch_.get();
  std::memcpy(packet, encoded, kFrameBytes);
  if (!header.empty()) {
    std::memcpy(packet + kFrameBytes, header.data(), header.size());
  }
  if (!payload.empty()) {
    std::memcpy(packet + kFrameBytes + header.size(), payload.data(),
                payload.size());
  }
  const size_t bytes = kFrameBytes + frame.body_bytes;
  Await(bytes);
  SendPacket(UcxPacket::kBytes, {}, absl::MakeConstSpan(packet, bytes), 0);
}

bool UcxConnection::Flush(bool all) {
  if (broken_ != UCS_OK) Fail(UcxError("the connection broke", broken_));
  if (state_ == State::kFailed) {
    CloseEndpoint();
    return true;
  }
  if (state_ != State::kUp) return false;
  bool moved = false;
  if (!telling_ && (came_ - told_ >= kTellBytes || (tells_ && came_ > told_))) {
    SendTaken();
    moved = true;
  }
  std::vector<iovec> parts;
  for (int packets = 0; !sending_ && state_ == State::kUp; ++packets) {
    std::optional<absl::Status> failure;
    bool end = false;
    {
      MutexLock lock(&mutex_);
      failure.swap(failure_);
      const bool room = sent_ - taken_ < home_->window_bytes;
      parts = packets == kPacketsAtOnce ? std::vector<iovec>()
                                        : queue_.Compose(all && room);
      end = closing_ && queue_.empty();
      // The rest waits for more room, or for the next call.
      if (!end && parts.empty() && !queue_.empty() && room) home_->list(this);
    }
    if (failure) {
      Fail(*failure);
      return true;
    }
    if (end && !end_sent_) SendEnd();
    if (parts.empty()) break;
    SendParts(parts);
    moved = true;
  }
  return moved;
}

void UcxConnection::SendParts(absl::Span<const iovec> parts) {
  // Short parts are copied side by side; then perhaps a long one follows from
  // where it lies.
  size_t copied = 0;
  absl::Span<const char> body;
  for (const iovec& part : parts) {
    if (part.iov_len > kCopiedBytes) {
      if (copied > kHeadBytes) break;
      // The body is not shortened by the bytes before it: so both sides copy
      // the bytes of a piece in whole cache lines.
      body = absl::MakeConstSpan(
          static_cast<const char*>(part.iov_base),
          std::min<size_t>(part.iov_len, UcxWorker::kPacketBytes));
      break;
    }
    if (part.iov_len > UcxWorker::kPacketBytes - copied) break;
    std::memcpy(scratch_.get() + copied, part.iov_base, part.iov_len);
    copied += part.iov_len;
  }
  const size_t bytes = copied + body.size();
  Await(bytes);
  const auto head = absl::MakeConstSpan(scratch_.get(), copied);
  if (body.empty()) return SendPacket(UcxPacket::kBytes, {}, head, bytes);
  SendPacket(UcxPacket::kBytes, head, body, bytes);
}

void UcxConnection::SendHello() {
  char hello[UcxHello::kBytes];
  EncodeUcxHello(hello_, hello);
  std::memcpy(scratch_.get(), hello, sizeof hello);
  SendPacket(UcxPacket::kHello, {},
             absl::MakeConstSpan(scratch_.get(), sizeof hello), 0);
}

void UcxConnection::SendEnd() {
  end_sent_ = true;
  SendPacket(UcxPacket::kEnd, {}, {}, 0);
}

void UcxConnection::SendTaken() {
  telling_bytes_ = told_ = came_;
  tells_ = false;
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK |
                       UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
  param.cb.send = &OnTakenSent;
  param.user_data = this;
  const ucs_status_ptr_t request = ucp_am_send_nbx(
      endpoint_, static_cast<unsigned>(UcxPacket::kTaken), nullptr, 0,
      &telling_bytes_, sizeof telling_bytes_, &param);
  if (UCS_PTR_IS_ERR(request)) {
    broken_ = UCS_PTR_STATUS(request);
    home_->list(this);
    return;
  }
  telling_ = request != nullptr;
}

void UcxConnection::OnTakenSent(void* request, ucs_status_t status,
                                void* connection) {
  auto* self = static_cast<UcxConnection*>(connection);
  ucp_request_free(request);
  self->telling_ = false;
  if (status != UCS_OK) self->broken_ = status;
  self->home_->list(self);
}

void UcxConnection::SendPacket(UcxPacket packet, absl::Span<const char> head,
                               absl::Span<const char> body, size_t bytes) {
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK |
                       UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
  param.cb.send = &OnSent;
  param.user_data = this;
  // A list of parts is not used: UCX 1.13 mixes up their bytes.
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(endpoint_, static_cast<unsigned>(packet), head.data(),
                      head.size(), body.data(), body.size(), &param);
  if (request == nullptr) return FinishSend(bytes);
  sending_bytes_ = bytes;
  if (UCS_PTR_IS_ERR(request)) {
    broken_ = UCS_PTR_STATUS(request);
    home_->list(this);
    return;
  }
  sending_ = true;
  home_->loop->Wake();  // no thread may be polling
}

void UcxConnection::OnSent(void* request, ucs_status_t status,
                           void* connection) {
  auto* self = static_cast<UcxConnection*>(connection);
  ucp_request_free(request);
  self->sending_ = false;
  if (status == UCS_OK) {
    self->FinishSend(self->sending_bytes_);
  } else {
    self->broken_ = status;
  }
  self->home_->list(self);
}

void UcxConnection::FinishSend(size_t bytes) {
  if (bytes == 0) return;
  MutexLock lock(&mutex_);
  queue_.Consume(bytes, &calls_);
  SetOpenAndEmpty();
  if (!calls_.empty()) home_->list(this);
  if (closing_) progress_ = Clock::now();
}

}  // namespace pathways
