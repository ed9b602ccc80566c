//===- plan_fetch.cc - Plan received in pieces ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/plan_fetch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/plan/plan_source.h"
#include "runtime/plan/tables.h"

namespace pathways {

absl::Status PlanFetch::Bad(absl::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(
      "plan ", name_.hash.Text(), " was not received correctly: ", what));
}

void PlanFetch::FillRequest(proto::PlanRequest* request) const {
  request->set_hash(name_.hash.view().data(), name_.hash.view().size());
  if (code_) request->mutable_objects()->Add(wanted_.begin(), wanted_.end());
  request->set_offset(code_ ? stream_.size() : head_.size());
}

absl::StatusOr<PlanFetch::Step> PlanFetch::Take(const proto::PlanPart& part) {
  std::string& stream = code_ ? stream_ : head_;
  if (done_ || part.hash() != name_.hash.view() || part.code() != code_ ||
      part.offset() != stream.size() ||
      (total_ != 0 && stream.size() == total_)) {
    return Step::kNothing;
  }
  if (part.status() != 0) {
    return StatusFromWire(part.status(), part.message());
  }
  if (part.total() > name_.bytes || (total_ != 0 && part.total() != total_)) {
    return Bad(absl::StrCat("it has ", part.total(), " bytes of ",
                            code_ ? "code" : "tables", ", expected ",
                            total_ != 0 ? "" : "at most ",
                            total_ != 0 ? total_ : name_.bytes));
  }
  const uint64_t left = part.total() - std::min(part.total(), part.offset());
  if (part.bytes().empty() || part.bytes().size() > left ||
      part.bytes().size() > kMaxPlanPiece) {
    return Bad(absl::StrCat("a piece has ", part.bytes().size(),
                            " bytes, expected 1 to ",
                            std::min(left, kMaxPlanPiece)));
  }
  total_ = part.total();
  stream += part.bytes();
  received_ += part.bytes().size();
  if (!code_) {
    if (absl::Status checked = CheckManifest(); !checked.ok()) return checked;
  }
  if (stream.size() < total_) return Step::kMore;
  if (code_) return Deal();
  if (!checked_) return Bad("it ends before the end of its manifest");
  if (absl::Status read = ReadTables(); !read.ok()) return read;
  return Step::kHead;
}

// Checks the manifest as soon as it has arrived, so that a wrong one can cost
// only little memory.
absl::Status PlanFetch::CheckManifest() {
  if (checked_) return absl::OkStatus();
  if (manifest_bytes_ == 0) {
    if (head_.size() < PlanManifest::kHeaderBytes) return absl::OkStatus();
    const std::optional<uint64_t> size = PlanManifest::SizeOf(head_, total_);
    if (!size.has_value()) return Bad("it does not begin with a manifest");
    manifest_bytes_ = *size;
  }
  if (head_.size() < manifest_bytes_) return absl::OkStatus();
  const absl::string_view bytes =
      absl::string_view(head_).substr(0, manifest_bytes_);
  if (const PlanHash hash = HashOf(bytes); hash != name_.hash) {
    return Bad(absl::StrCat("its manifest has hash ", hash.Text()));
  }
  std::optional<PlanManifest> manifest = PlanManifest::Read(bytes);
  const std::optional<uint64_t> all =
      manifest.has_value() ? manifest->TotalBytes() : std::nullopt;
  if (!all.has_value()) return Bad("its manifest is inconsistent");
  if (*all != name_.bytes) {
    return Bad(
        absl::StrCat("it has ", *all, " bytes in all, expected ", name_.bytes));
  }
  if (manifest_bytes_ + manifest->tables.bytes != total_ ||
      manifest->tables.bytes > std::numeric_limits<int32_t>::max()) {
    return Bad(absl::StrCat("it has tables of ", total_ - manifest_bytes_,
                            " bytes, its manifest says ",
                            manifest->tables.bytes));
  }
  manifest_ = *std::move(manifest);
  checked_ = true;
  return absl::OkStatus();
}

absl::Status PlanFetch::ReadTables() {
  const absl::string_view bytes =
      absl::string_view(head_).substr(manifest_bytes_);
  if (const PlanHash hash = HashOf(bytes); hash != manifest_.tables.hash) {
    return Bad(absl::StrCat("its tables have hash ", hash.Text(),
                            ", its manifest says ",
                            manifest_.tables.hash.Text()));
  }
  // The silencer keeps protobuf from logging invalid UTF-8 to stderr.
  google::protobuf::LogSilencer silence;
  if (!tables_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      HasUnknownFields(tables_)) {
    return Bad("its tables cannot be parsed");
  }
  uint64_t objects = 0;
  for (const proto::Kernel& kernel : tables_.kernels()) {
    for (const proto::KernelObject& object : kernel.objects()) {
      if (objects < manifest_.objects.size() &&
          manifest_.objects[objects].bytes != object.blob_bytes()) {
        return Bad(absl::StrCat(
            "object ", objects, " has ", object.blob_bytes(),
            " bytes, its manifest says ", manifest_.objects[objects].bytes));
      }
      ++objects;
    }
  }
  if (objects != manifest_.objects.size()) {
    return Bad(absl::StrCat("it has ", objects, " objects, its manifest says ",
                            manifest_.objects.size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<PlanFetch::Step> PlanFetch::Want(std::vector<uint32_t> objects) {
  wanted_ = std::move(objects);
  code_ = true;
  total_ = 0;
  for (uint32_t object : wanted_) total_ += manifest_.objects[object].bytes;
  return total_ == 0 ? Deal() : Step::kMore;
}

absl::StatusOr<PlanFetch::Step> PlanFetch::Deal() {
  objects_.resize(manifest_.objects.size());
  absl::string_view left = stream_;
  for (uint32_t object : wanted_) {
    const PlanManifest::Part& part = manifest_.objects[object];
    objects_[object] = std::string(left.substr(0, part.bytes));
    left.remove_prefix(part.bytes);
    if (const PlanHash hash = HashOf(objects_[object]); hash != part.hash) {
      return Bad(absl::StrCat("object ", object, " has hash ", hash.Text(),
                              ", its manifest says ", part.hash.Text()));
    }
  }
  std::string().swap(stream_);
  done_ = true;
  return Step::kDone;
}

}  // namespace pathways
