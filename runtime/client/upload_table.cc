//===- upload_table.cc - Values that hosts ask a client for ---------------===//
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

std::optional<Payload> UploadTable::Piece(uint64_t object, int32_t host,
                                          PulledPiece piece) {
  auto found = uploads_.find(object);
  if (found == uploads_.end()) return std::nullopt;
  Upload& upload = found->second;
  auto asking = upload.hosts.find(host);
  if (asking == upload.hosts.end() || piece.slot >= kPullWindow) {
    return std::nullopt;
  }
  Host& to = asking->second;
  if (!to.map.has_value()) {
    to.map.emplace(*upload.placement, *to.parts, upload.steps);
  }
  const uint64_t at = piece.offset();
  if (at >= to.map->bytes()) return std::nullopt;
  const uint64_t bytes = piece.BytesOf(to.map->bytes());
  const char* const data = upload.values.data;
  const SavedArray* const saved = upload.values.saved;
  if (saved == nullptr) {
    if (const std::optional<uint64_t> offset = to.map->Contiguous(at, bytes)) {
      return Payload{data == nullptr ? nullptr : data + *offset, bytes};
    }
  }
  Slot& slot = to.slots[piece.slot];
  if (slot.piece.has_value() && piece.number <= *slot.piece) {
    // A second copy of the question, or the first answer was lost.
    if (piece.number < *slot.piece) return Payload();
    to.old.push_back(std::move(slot.buffer));
  }
  slot.piece = piece.number;
  if (data == nullptr && saved == nullptr) return Payload{nullptr, bytes};
  Buffer& buffer = slot.buffer;
  if (buffer == nullptr) {
    buffer = std::make_unique_for_overwrite<char[]>(
        std::min(kPieceBytes, to.map->bytes()));
  }
  if (saved == nullptr) {
    to.map->Gather(data, at, bytes, buffer.get());
  } else {
    const absl::Status read =
        ReadPiece(*saved, *to.map, at, bytes, buffer.get());
    if (!read.ok()) {
      failures_.emplace(upload.launch, read);
      return std::nullopt;
    }
  }
  bytes_gathered_ += bytes;
  return Payload{buffer.get(), bytes};
}

absl::Status UploadTable::ReadPiece(const SavedArray& saved,
                                    const BlockMap& map, uint64_t at,
                                    uint64_t bytes, char* to) {
  std::vector<SavedArray::Range> ranges;
  map.GatherRuns(at, bytes, to,
                 [&](uint64_t offset, uint64_t count, uint64_t begin) {
                   ranges.push_back({offset, count, to + begin});
                 });
  return saved.Read(ranges);
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
    return !host.second.map.has_value() || host.second.gone;
  });
  if (!found->second.hosts.empty()) return;
  owners->push_back(std::move(found->second.values.owner));
  uploads_.erase(found);
}

std::vector<std::shared_ptr<const void>> UploadTable::EndLaunch(
    uint64_t launch) {
  Owners owners;
  auto [begin, end] = of_launch_.equal_range(launch);
  for (auto it = begin; it != end; ++it) End(it->second, &owners);
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
    // One that has not asked may be of its next life.
    if (asked == upload.hosts.end() || !asked->second.map.has_value()) continue;
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
