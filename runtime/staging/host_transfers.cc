//===- host_transfers.cc - Values between a host and clients --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/staging/host_transfers.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/protocol/wire_kind.h"

namespace pathways {

void HostTransfers::Pull(uint32_t client, HostStore::Ref object, Send send) {
  const uint64_t id = object->id;
  if (!object->status.ok()) {
    return send(client, TransferMessage(kTransferDoneMessage, id), {});
  }
  std::vector<BlockPull::Range> all = {{0, NumPieces(object->bytes)}};
  auto [pulling, added] = pulls_.try_emplace(
      id, Pulling{client, std::move(object), BlockPull(std::move(all)), {}});
  if (added) Ask(&pulling->second, send);
}

void HostTransfers::Ask(Pulling* pulling, Send send) {
  while (std::optional<PulledPiece> piece = pulling->pull.Next()) {
    send(pulling->client,
         TransferMessage(kPullMessage, pulling->object->id, *piece), {});
  }
}

void HostTransfers::PullAgain(uint64_t object, Send send) {
  auto found = pulls_.find(object);
  if (found == pulls_.end() || !found->second.again.Pass()) return;
  for (const PulledPiece& piece : found->second.pull.UnderWay()) {
    send(found->second.client, TransferMessage(kPullMessage, object, piece),
         {});
  }
}

void HostTransfers::Stop(uint64_t object, Send send) {
  auto found = pulls_.find(object);
  if (found != pulls_.end()) End(found, send);
}

void HostTransfers::End(Pulls::iterator pulling, Send send) {
  send(pulling->second.client,
       TransferMessage(kTransferDoneMessage, pulling->first), {});
  pulls_.erase(pulling);
}

bool HostTransfers::OnBlock(uint32_t client, const WireMessage& message,
                            Payload payload, Send send) {
  auto found = pulls_.find(message.step);
  if (found == pulls_.end() || found->second.client != client) return false;
  Pulling& pulling = found->second;
  const PulledPiece piece = PieceOf(message);
  if (!pulling.pull.Accept(piece)) return false;
  pulling.again.Reset();
  HostStore::Object& object = *pulling.object;
  const uint64_t bytes = piece.BytesOf(object.bytes);
  if (message.flags & kPoisoned) {
    object.status = absl::UnavailableError(
        "the client of a launch is gone, with the values of its arguments");
  } else if (payload.bytes != bytes ||
             (payload.data == nullptr && object.data() != nullptr)) {
    object.status = absl::InternalError(absl::StrCat(
        "a piece of an array has ", payload.bytes, " bytes, expected ", bytes));
  } else {
    if (object.data() != nullptr) {
      std::memcpy(object.data() + piece.offset(), payload.data, bytes);
    }
    bytes_stored_ += bytes;
    object.received += bytes;
    Ask(&pulling, send);
  }
  if (!pulling.pull.over() && object.status.ok()) return false;
  End(found, send);
  return true;
}

void HostTransfers::Lend(uint32_t client, uint64_t request,
                         HostStore::Ref object, const absl::Status& status,
                         uint32_t first, Send send) {
  if (!status.ok()) {
    Lent& lent = lent_[{client, request}];
    lent.why = status;
    return SendNone(client, request, first, lent.why, send);
  }
  if (object == nullptr || uint64_t{first} >= NumPieces(object->bytes)) {
    return SendNone(client, request, first, status, send);
  }
  Lent& lent = lent_[{client, request}];
  lent.object = std::move(object);
  SendPiece(client, request, &lent, {first, 0}, send);
}

void HostTransfers::SendNone(uint32_t client, uint64_t request, uint32_t first,
                             const absl::Status& why, Send send) {
  WireMessage message = TransferMessage(kBlockMessage, request, {first, 0});
  message.flags = kPoisoned;
  message.shard = static_cast<uint32_t>(why.code());
  send(client, message, {why.message().data(), why.message().size()});
}

void HostTransfers::LendAgain(uint32_t client, uint64_t request, uint32_t first,
                              Send send) {
  auto found = lent_.find({client, request});
  if (found == lent_.end() || !found->second.again.Pass()) return;
  if (!found->second.why.ok()) {
    return SendNone(client, request, first, found->second.why, send);
  }
  if (first >= NumPieces(found->second.object->bytes)) return;
  SendPiece(client, request, &found->second, {first, 0}, send);
}

void HostTransfers::OnPull(uint32_t client, const WireMessage& message,
                           Send send) {
  auto found = lent_.find({client, message.step});
  if (found == lent_.end() || !found->second.why.ok()) return;
  if (message.item >= NumPieces(found->second.object->bytes)) return;
  SendPiece(client, message.step, &found->second, PieceOf(message), send);
}

void HostTransfers::SendPiece(uint32_t client, uint64_t request, Lent* lent,
                              PulledPiece piece, Send send) {
  // Resending a piece is not progress.
  if (uint64_t{piece.number} >= lent->sent) {
    lent->sent = uint64_t{piece.number} + 1;
    lent->again.Reset();
  }
  const HostStore::Object& object = *lent->object;
  Payload payload;
  payload.bytes = piece.BytesOf(object.bytes);
  if (object.data() != nullptr) payload.data = object.data() + piece.offset();
  send(client, TransferMessage(kBlockMessage, request, piece), payload);
}

uint64_t HostTransfers::Sent(uint32_t client, uint64_t request) const {
  auto found = lent_.find({client, request});
  return found == lent_.end() ? 0 : found->second.sent;
}

}  // namespace pathways
