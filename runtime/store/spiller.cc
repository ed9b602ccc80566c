//===- spiller.cc - Spilling arrays to files ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/spiller.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/checkpoint/crc32.h"

namespace pathways {
namespace {

uint32_t CrcOf(const char* data, uint64_t bytes) {
  return data == nullptr ? 0 : Crc32(0, absl::string_view(data, bytes));
}

}  // namespace

uint64_t SpillBytes(const SpillOptions& options, uint64_t memory_bytes) {
  constexpr uint64_t kTimes = 8;
  if (options.folder.empty()) return 0;
  if (options.bytes != 0) return options.bytes;
  return memory_bytes > UINT64_MAX / kTimes ? UINT64_MAX
                                            : memory_bytes * kTimes;
}

Spiller::Spiller(HostStore* store, Arena* arena,
                 std::unique_ptr<SpillDisk> disk, const SpillOptions& options,
                 Run run)
    : store_(*store),
      arena_(*arena),
      disk_(std::move(disk)),
      bound_(SpillBytes(options, arena->bound())),
      begin_(options.begin),
      end_(options.end),
      run_(std::move(run)) {
  store_.spiller_ = this;
}

Spiller::~Spiller() {
  ForgetCopies();
  store_.spiller_ = nullptr;
}

bool Spiller::MayLeave(const Object& object) const {
  return object.references_ == 1 && object.complete() && object.status.ok() &&
         object.filled.load(std::memory_order_acquire);
}

std::vector<HostStore::Object*> Spiller::Choose(uint64_t coming,
                                                uint64_t* smallest) const {
  std::vector<Object*> chosen;
  const uint64_t bound =
      coming > UINT64_MAX - bound_ ? UINT64_MAX : bound_ + coming;
  const uint64_t left = bound - std::min(bound, spilled_bytes_);
  uint64_t bytes = 0;
  for (Object* object = store_.oldest_; object != nullptr && bytes < kUnitBytes;
       object = object->newer_) {
    if (!MayLeave(*object)) continue;
    *smallest = std::min(*smallest, object->bytes);
    if (object->bytes > left - bytes) continue;
    if (object->bytes < kUnitBytes) {
      chosen.push_back(object);
      bytes += object->bytes;
    } else if (chosen.empty()) {
      return {object};
    }
  }
  return chosen;
}

Spiller::Step Spiller::Spill(uint64_t coming) {
  assert(!busy());
  if (!failed_.ok()) return Step::kFailed;
  uint64_t smallest = UINT64_MAX;
  const std::vector<Object*> chosen = Choose(coming, &smallest);
  if (chosen.empty() && smallest == UINT64_MAX) return Step::kPinned;
  if (chosen.empty()) {
    failed_ = absl::ResourceExhaustedError(
        absl::StrCat(disk_->name(), " has ", spilled_bytes_, " of the ", bound_,
                     " bytes that it may have, but ", smallest,
                     " more bytes must be spilled", Tag(ErrorId::kSpillFull)));
    return Step::kFailed;
  }
  if (spilled_bytes_ + copied_bytes_ + BytesToWrite(chosen) > bound_) {
    ForgetCopies();
  }
  auto job = std::make_unique<Job>();
  job->leaves = true;
  for (Object* object : chosen) {
    job->objects.push_back(HostStore::Ref(object));
    if (object->spilled_.file != 0) continue;
    job->chunks.push_back({object->data(), object->bytes});
  }
  if (!job->chunks.empty()) job->file = ++last_file_;
  job->crcs.resize(job->chunks.size());
  job->statuses.resize(1);
  job_ = std::move(job);
  run_(BytesToWrite(chosen), [this, work = job_.get()] {
    for (size_t i = 0; i < work->chunks.size(); ++i) {
      work->crcs[i] = CrcOf(work->chunks[i].data, work->chunks[i].bytes);
    }
    if (work->file == 0) return;
    work->statuses[0] = disk_->Write(work->file, work->chunks);
  });
  return Step::kBegun;
}

uint64_t Spiller::BytesToWrite(const std::vector<Object*>& objects) {
  uint64_t bytes = 0;
  for (const Object* object : objects) {
    if (object->spilled_.file == 0) bytes += object->bytes;
  }
  return bytes;
}

void Spiller::Bring(std::vector<HostStore::Ref> objects) {
  assert(!busy());
  lack_ = absl::OkStatus();
  job_ = std::make_unique<Job>();
  job_->objects = std::move(objects);
  job_->statuses.resize(job_->objects.size());
  job_->segments.resize(job_->objects.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < job_->objects.size(); ++i) {
    const Object& object = *job_->objects[i];
    bytes += object.bytes;
    absl::StatusOr<Arena::Segment> segment = arena_.Take(
        object.bytes, "an array that was spilled", Mapping::kUntouched);
    if (segment.ok()) {
      job_->segments[i] = *std::move(segment);
    } else {
      job_->statuses[i] = segment.status();
    }
  }
  run_(bytes, [this, work = job_.get()] {
    for (size_t i = 0; i < work->objects.size(); ++i) {
      if (!work->statuses[i].ok()) continue;
      work->statuses[i] = ReadBack(*work->objects[i], work->segments[i].data());
    }
  });
}

absl::Status Spiller::ReadBack(const Object& object, char* to) const {
  const auto& at = object.spilled_;
  absl::Status read = disk_->Read(at.file, at.offset, object.bytes, to);
  const uint32_t crc = CrcOf(to, object.bytes);
  if (read.ok() && crc != at.crc) {
    read = absl::DataLossError(absl::StrCat(
        disk_->NameOf(at.file), " at byte ", at.offset, ": the checksum of ",
        object.bytes, " bytes is ", absl::Hex(crc, absl::kZeroPad8),
        ", expected ", absl::Hex(at.crc, absl::kZeroPad8)));
  }
  if (read.ok()) return read;
  return absl::DataLossError(
      absl::StrCat("an array that was spilled is lost: ", read.message(),
                   Tag(ErrorId::kSpillLost)));
}

void Spiller::Finish() {
  if (!busy()) return;
  const std::unique_ptr<Job> job = std::move(job_);
  job->leaves ? FinishWrite(job.get()) : FinishRead(job.get());
}

void Spiller::FinishWrite(Job* job) {
  if (!job->statuses[0].ok()) {
    // The disk may lack room for objects without copies: drop the copies first.
    if (copied_bytes_ > 0) return ForgetCopies();
    failed_ = absl::Status(
        job->statuses[0].code(),
        absl::StrCat(job->statuses[0].message(), Tag(ErrorId::kSpillFull)));
    return;
  }
  uint64_t offset = 0;
  size_t written = 0;
  for (const HostStore::Ref& one : job->objects) {
    Object& object = *one;
    if (object.spilled_.file == 0) {
      object.spilled_ = {job->file, offset, job->crcs[written++]};
      offset += object.bytes;
      copied_bytes_ += object.bytes;
      ++files_[job->file];
    }
    // Only this job and the store refer to the object if nobody uses it.
    if (object.references_ != 2) continue;
    copied_bytes_ -= object.bytes;
    spilled_bytes_ += object.bytes;
    object.is_away_ = true;
    store_.DropMemory(&object);
  }
}

void Spiller::FinishRead(Job* job) {
  for (size_t i = 0; i < job->objects.size(); ++i) {
    Object& object = *job->objects[i];
    const absl::Status& status = job->statuses[i];
    if (absl::IsResourceExhausted(status)) {
      // The system lacks memory now, so the object stays in its file.
      lack_ = status;
      continue;
    }
    if (!status.ok()) {
      Forget(&object);
      object.status = status;
      continue;
    }
    spilled_bytes_ -= object.bytes;
    copied_bytes_ += object.bytes;
    object.is_away_ = false;
    failed_ = absl::OkStatus();
    store_.TakeMemory(&object, std::move(job->segments[i]));
    if (spilled_bytes_ + copied_bytes_ > bound_) Forget(&object);
  }
}

void Spiller::Forget(Object* object) {
  if (object->spilled_.file == 0) return;
  const auto file = files_.find(object->spilled_.file);
  const uint64_t offset = object->spilled_.offset;
  object->spilled_ = {};
  (object->is_away_ ? spilled_bytes_ : copied_bytes_) -= object->bytes;
  object->is_away_ = false;
  failed_ = absl::OkStatus();
  if (--file->second > 0) {
    return disk_->Free(file->first, offset, object->bytes);
  }
  disk_->Remove(file->first);
  files_.erase(file);
}

void Spiller::ForgetCopies() {
  for (Object* object = store_.oldest_; object != nullptr;
       object = object->newer_) {
    Forget(object);
  }
}

bool Spiller::IsHigh() const {
  const double used = static_cast<double>(arena_.used());
  const double bound = static_cast<double>(arena_.bound());
  is_sinking_ = used > bound * (is_sinking_ ? end_ : begin_);
  return is_sinking_;
}

absl::Status Spiller::Explain(const absl::Status& lack) const {
  if (failed_.ok()) return lack;
  return absl::Status(
      lack.code(),
      absl::StrCat(WithoutTag(lack.message()),
                   ", and no array can be spilled: ", failed_.message()));
}

}  // namespace pathways
