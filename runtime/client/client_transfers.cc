//===- client_transfers.cc - Values between a client and hosts ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client_transfers.h"

#include <optional>
#include <utility>

#include "runtime/base/status_from_wire.h"
#include "runtime/protocol/client_id.h"
#include "runtime/protocol/wire_kind.h"

namespace pathways {

bool ArrayFetch::Accept(int32_t host, PulledPiece piece, Payload payload) {
  MutexLock lock(&mutex);
  return !closed && assembly->Accept(host, piece, payload);
}

void ClientTransfers::AddUpload(uint64_t object, uint64_t launch,
                                ClientValues values,
                                std::shared_ptr<const ArrayPlacement> placement,
                                uint64_t steps) {
  MutexLock lock(&mutex_);
  uploads_.Add(object, launch, std::move(values), std::move(placement), steps);
}

void ClientTransfers::AddLaunch(uint64_t object, uint64_t launch) {
  MutexLock lock(&mutex_);
  uploads_.AddLaunch(object, launch);
}

absl::Status ClientTransfers::EndLaunch(uint64_t launch) {
  std::vector<std::shared_ptr<const void>> owners;  // outlive the lock
  MutexLock lock(&mutex_);
  owners = uploads_.EndLaunch(launch);
  return uploads_.TakeFailure(launch);
}

void ClientTransfers::EndLaunches() {
  std::vector<std::shared_ptr<const void>> owners;  // outlive the lock
  MutexLock lock(&mutex_);
  owners = uploads_.EndAll();
}

void ClientTransfers::HostGone(int32_t host) {
  std::vector<std::shared_ptr<const void>> owners;  // outlive the lock
  MutexLock lock(&mutex_);
  owners = uploads_.HostGone(host);
}

void ClientTransfers::AddFetch(uint64_t request,
                               std::shared_ptr<ArrayFetch> fetch) {
  MutexLock lock(&mutex_);
  fetches_[request] = std::move(fetch);
}

void ClientTransfers::EndFetch(uint64_t request) {
  std::shared_ptr<ArrayFetch> fetch;  // outlives the lock
  MutexLock lock(&mutex_);
  auto found = fetches_.find(request);
  if (found == fetches_.end()) return;
  fetch = std::move(found->second);
  fetches_.erase(found);
}

void ClientTransfers::OnWire(int32_t host, const WireMessage& message,
                             Payload payload, Send send) {
  switch (message.kind) {
    case kPullMessage:
      return OnPull(host, message, send);
    case kBlockMessage:
      return OnBlock(host, message, payload, send);
    case kTransferDoneMessage: {
      std::shared_ptr<const void> owner;  // outlives the lock
      MutexLock lock(&mutex_);
      owner = uploads_.Pulled(NumberOf(message.step), host);
      return;
    }
    default:
      return;
  }
}

void ClientTransfers::OnPull(int32_t host, const WireMessage& message,
                             Send send) {
  const uint64_t object = NumberOf(message.step);
  const PulledPiece piece = PieceOf(message);
  std::optional<Payload> payload;
  bool is_read_later = false;
  {
    MutexLock lock(&mutex_);
    std::optional<PieceRead> read = uploads_.Read(object, host, piece);
    if (read.has_value() && reader_ != nullptr) {
      read->id = message.step;
      reader_->Add(*std::move(read));
      is_read_later = true;
    } else if (read.has_value()) {
      ReadPieces(absl::MakeSpan(&*read, 1));
      payload = uploads_.EndRead(*std::move(read));
    } else {
      payload = uploads_.Piece(object, host, piece);
    }
  }
  if (is_read_later) return OnRead(send);  // pieces may have been read at once
  Answer(message.step, host, piece, payload, send);
}

void ClientTransfers::Answer(uint64_t id, int32_t host, PulledPiece piece,
                             const std::optional<Payload>& payload, Send send) {
  WireMessage block = TransferMessage(kBlockMessage, id, piece);
  if (!payload.has_value()) {
    block.flags = kPoisoned;
    return send(host, block, {});
  }
  if (payload->bytes > 0) send(host, block, *payload);
}

void ClientTransfers::ReadWith(FileReader* reader) {
  MutexLock lock(&mutex_);
  reader_ = reader;
}

void ClientTransfers::StopReading(FileReader* reader) {
  MutexLock lock(&mutex_);
  if (reader_ == reader) reader_ = nullptr;
}

void ClientTransfers::OnRead(Send send) {
  struct Piece {
    uint64_t id;
    int32_t host;
    PulledPiece piece;
    std::optional<Payload> payload;
  };
  std::vector<Piece> pieces;
  {
    MutexLock lock(&mutex_);
    if (reader_ == nullptr) return;
    for (PieceRead& read : reader_->Take()) {
      Piece& out =
          pieces.emplace_back(Piece{read.id, read.host, read.piece, {}});
      out.payload = uploads_.EndRead(std::move(read));
    }
  }
  for (const Piece& out : pieces) {
    Answer(out.id, out.host, out.piece, out.payload, send);
  }
}

void ClientTransfers::OnBlock(int32_t host, const WireMessage& message,
                              Payload payload, Send send) {
  const uint64_t request = message.step;
  std::shared_ptr<ArrayFetch> fetch;
  {
    MutexLock lock(&mutex_);
    auto found = fetches_.find(request);
    if (found != fetches_.end()) fetch = found->second;
  }
  if (fetch == nullptr) return;  // the fetch is over
  if (message.flags & kPoisoned) {
    EndFetch(request);
    if (message.shard == 0) {
      return fetch->on_end(absl::NotFoundError("the values were released"));
    }
    return fetch->on_end(StatusFromWire(
        message.shard, absl::string_view(static_cast<const char*>(payload.data),
                                         payload.bytes)));
  }
  if (!fetch->assembly.has_value()) {
    EndFetch(request);
    return fetch->on_end(absl::OkStatus());
  }
  FetchAssembly& assembly = *fetch->assembly;
  if (!fetch->Accept(host, PieceOf(message), payload)) {
    if (message.item != assembly.first(host)) return;
    // A repeated first piece means that the host was told again to begin, so
    // requests in flight may be lost; repeat them.
    for (const PulledPiece& piece : assembly.UnderWay(host)) {
      send(host, TransferMessage(kPullMessage, request, piece), {});
    }
    return;
  }
  bytes_fetched_.Add(payload.bytes);
  while (std::optional<PulledPiece> piece = assembly.Next(host)) {
    send(host, TransferMessage(kPullMessage, request, *piece), {});
  }
  if (!assembly.complete()) return;
  EndFetch(request);
  fetch->on_end(absl::OkStatus());
}

uint64_t ClientTransfers::bytes_gathered() const {
  MutexLock lock(&mutex_);
  return uploads_.bytes_gathered();
}

size_t ClientTransfers::size() const {
  MutexLock lock(&mutex_);
  return uploads_.size() + fetches_.size();
}

}  // namespace pathways
