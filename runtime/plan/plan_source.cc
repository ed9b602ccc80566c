//===- plan_source.cc - Plan that other processes may fetch ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

absl::Span<const uint8_t> BytesOf(absl::string_view text) {
  return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()),
                             text.size());
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PlanSource>> PlanSource::Create(
    const PlanData& plan) {
  absl::StatusOr<std::vector<absl::Span<const uint8_t>>> objects =
      ObjectsOf(plan);
  if (!objects.ok()) return objects.status();
  absl::StatusOr<std::string> tables = WriteTables(plan.tables);
  if (!tables.ok()) return tables.status();
  PlanManifest manifest;
  manifest.tables = {tables->size(), HashOf(*tables)};
  for (absl::Span<const uint8_t> object : *objects) {
    manifest.objects.push_back({object.size(), HashOf(object)});
  }
  std::shared_ptr<PlanSource> source(new PlanSource);
  source->head_ = manifest.Write();
  source->name_ = {HashOf(source->head_), *manifest.TotalBytes()};
  source->head_ += *tables;
  source->kept_bytes_ = source->head_.size();
  source->objects_ = *std::move(objects);
  source->owner_ = plan.owner;
  return std::shared_ptr<const PlanSource>(std::move(source));
}

PlanSource::PlanSource(std::string head, const PlanManifest& manifest,
                       std::vector<std::string> objects)
    : head_(std::move(head)), own_(std::move(objects)) {
  name_ = {HashOf(manifest.Write()), *manifest.TotalBytes()};
  kept_bytes_ = head_.size();
  for (const std::string& object : own_) {
    objects_.push_back(BytesOf(object));
    kept_bytes_ += object.size();
  }
}

absl::StatusOr<PlanSource::Piece> PlanSource::Read(
    absl::Span<const uint32_t> objects, uint64_t offset) const {
  if (objects.size() > objects_.size()) {
    return absl::OutOfRangeError(absl::StrCat(objects.size(),
                                              " objects were asked for, there "
                                              "are ",
                                              objects_.size()));
  }
  std::vector<absl::Span<const uint8_t>> spans;
  if (objects.empty()) spans.push_back(BytesOf(head_));
  Piece piece;
  for (uint32_t object : objects) {
    if (object >= objects_.size()) {
      return absl::OutOfRangeError(absl::StrCat(
          "object ", object, " was asked for, there are ", objects_.size()));
    }
    spans.push_back(objects_[object]);
  }
  for (absl::Span<const uint8_t> span : spans) piece.total += span.size();
  if (offset > piece.total) {
    return absl::OutOfRangeError(absl::StrCat(
        "byte ", offset, " was asked for, there are ", piece.total));
  }
  piece.bytes.reserve(std::min(kMaxPlanPiece, piece.total - offset));
  for (absl::Span<const uint8_t> span : spans) {
    const uint64_t skipped = std::min<uint64_t>(offset, span.size());
    offset -= skipped;
    span.remove_prefix(skipped);
    span = span.first(
        std::min<uint64_t>(span.size(), kMaxPlanPiece - piece.bytes.size()));
    piece.bytes.append(reinterpret_cast<const char*>(span.data()), span.size());
  }
  return piece;
}

}  // namespace pathways
