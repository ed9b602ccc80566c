//===- upload_table.cc - Values that hosts pull ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/upload_table.h"

#include <algorithm>
#include <utility>

namespace pathways {

void UploadTable::Add(uint64_t object, uint64_t launch, ClientValues values,
                      std::shared_ptr<const ArrayPlacement> placement,
                      uint64_t steps) {
  Upload& upload = uploads_[object];
  upload.values = std::move(values);
  upload.placement = std::move(placement);
  upload.steps = steps;
  upload.launch = launch;
  for (const ArrayPlacement::Host& host : upload.placement->hosts) {
    upload.hosts[host.host].parts = &host.parts;
  }
  of_launch_.emplace(launch, object);
}

void UploadTable::AddLaunch(uint64_t object, uint64_t launch) {
  auto found = uploads_.find(object);
  if (found == uploads_.end() || found->second.ended) return;
  ++found->second.launches;
  of_launch_.emplace(launch, object);
}

UploadTable::Asked UploadTable::Ask(uint64_t object, int32_t host,
                                    PulledPiece piece) {
  auto found = uploads_.find(object);
  if (found == uploads_.end()) return {};
  Upload& upload = found->second;
  auto asking = upload.hosts.find(host);
  if (asking == upload.hosts.end() || piece.slot >= kPullWindow) return {};
  Host& to = asking->second;
  if (to.map == nullptr) {
    to.map = std::make_shared<const BlockMap>(*upload.placement, *to.parts,
                                              upload.steps, /*window=*/nullptr,
                                              upload.values.all);
  }
  if (piece.offset() >= to.map->bytes()) return {};
  return {&upload, &to};
}

bool UploadTable::Take(Host* host, PulledPiece piece) {
  Slot& slot = host->slots[piece.slot];
  if (slot.piece.has_value() && piece.number <= *slot.piece) {
    // The request is a duplicate, or the first answer was lost.
    if (piece.number < *slot.piece) return false;
    host->old.push_back(std::move(slot.buffer));
  }
  slot.piece = piece.number;
  return true;
}

std::optional<Payload> UploadTable::Piece(uint64_t object, int32_t host,
                                          PulledPiece piece) {
  const auto [upload, to] = Ask(object, host, piece);
  if (upload == nullptr) return std::nullopt;
  const uint64_t at = piece.offset();
  const uint64_t bytes = piece.BytesOf(to->map->bytes());
  const char* const data = upload->values.data;
  if (const std::optional<uint64_t> offset = to->map->Contiguous(at, bytes)) {
    return Payload{data == nullptr ? nullptr : data + *offset, bytes};
  }
  if (!Take(to, piece)) return Payload();
  if (data == nullptr) return Payload{nullptr, bytes};
  Buffer& buffer = to->slots[piece.slot].buffer;
  if (buffer == nullptr) {
    buffer = std::make_unique_for_overwrite<char[]>(
        std::min(kPieceBytes, to->map->bytes()));
  }
  to->map->Gather(data, at, bytes, buffer.get());
  bytes_gathered_ += bytes;
  return Payload{buffer.get(), bytes};
}

std::optional<PieceRead> UploadTable::Read(uint64_t object, int32_t host,
                                           PulledPiece piece) {
  const auto [upload, to] = Ask(object, host, piece);
  if (upload == nullptr || upload->values.saved == nullptr) {
    return std::nullopt;
  }
  PieceRead read;
  read.object = object;
  read.host = host;
  read.piece = piece;
  read.owner = upload->values.owner;
  read.saved = upload->values.saved;
  read.map = to->map;
  return read;
}

std::optional<Payload> UploadTable::EndRead(PieceRead read) {
  const auto [upload, to] = Ask(read.object, read.host, read.piece);
  if (upload == nullptr) return std::nullopt;
  if (!read.status.ok()) {
    failures_.emplace(upload->launch, read.status);
    return std::nullopt;
  }
  if (!Take(to, read.piece)) return Payload();
  Buffer& buffer = to->slots[read.piece.slot].buffer;
  buffer = std::move(read.buffer);
  bytes_gathered_ += read.bytes();
  return Payload{buffer.get(), read.bytes()};
}

std::shared_ptr<const void> UploadTable::Pulled(uint64_t object, int32_t host) {
  auto found = uploads_.find(object);
  if (found == uploads_.end()) return nullptr;
  found->second.hosts.erase(host);
  if (!found->second.hosts.empty()) return nullptr;
  std::shared_ptr<const void> owner = std::move(found->second.values.owner);
  uploads_.erase(found);
  return owner;
}

void UploadTable::End(uint64_t object, Owners* owners) {
  auto found = uploads_.find(object);
  if (found == uploads_.end()) return;
  found->second.ended = true;
  std::erase_if(found->second.hosts, [](const auto& host) {
    return host.second.map == nullptr || host.second.gone;
  });
  if (!found->second.hosts.empty()) return;
  owners->push_back(std::move(found->second.values.owner));
  uploads_.erase(found);
}

std::vector<std::shared_ptr<const void>> UploadTable::EndLaunch(
    uint64_t launch) {
  Owners owners;
  auto [begin, end] = of_launch_.equal_range(launch);
  for (auto it = begin; it != end; ++it) {
    auto upload = uploads_.find(it->second);
    if (upload == uploads_.end() || --upload->second.launches > 0) continue;
    End(it->second, &owners);
  }
  of_launch_.erase(begin, end);
  return owners;
}

absl::Status UploadTable::TakeFailure(uint64_t launch) {
  auto found = failures_.find(launch);
  if (found == failures_.end()) return absl::OkStatus();
  absl::Status failure = std::move(found->second);
  failures_.erase(found);
  return failure;
}

std::vector<std::shared_ptr<const void>> UploadTable::HostGone(int32_t host) {
  Owners owners;
  std::vector<uint64_t> ended;
  for (auto& [object, upload] : uploads_) {
    auto asked = upload.hosts.find(host);
    // A host that has not requested it may be a replacement.
    if (asked == upload.hosts.end() || asked->second.map == nullptr) continue;
    asked->second.gone = true;
    if (upload.ended) ended.push_back(object);
  }
  for (uint64_t object : ended) End(object, &owners);
  return owners;
}

std::vector<std::shared_ptr<const void>> UploadTable::EndAll() {
  Owners owners;
  for (const auto& [launch, object] : of_launch_) End(object, &owners);
  of_launch_.clear();
  failures_.clear();
  return owners;
}

}  // namespace pathways
