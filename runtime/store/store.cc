//===- store.cc - Memory of devices and hosts, with bounds ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/store.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

// From here on an object has pages of its own.
constexpr uint64_t kPagedBytes = uint64_t{1} << 16;

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

absl::StatusOr<Mapping> Mapping::Create(uint64_t bytes) {
  Mapping mapping;
  if (bytes == 0) return mapping;
  void* data = MAP_FAILED;
  if (bytes <= (uint64_t{1} << 50)) {
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the system has no ", bytes, " bytes of memory left"));
  }
  mapping.data_ = static_cast<char*>(data);
  mapping.bytes_ = bytes;
  return mapping;
}

Arena::Segment& Arena::Segment::operator=(Segment&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

Arena::Segment::~Segment() {
  if (arena_ != nullptr) {
    arena_->used_.store(arena_->used() - bytes_, std::memory_order_relaxed);
  }
}

absl::StatusOr<Arena::Segment> Arena::Allocate(uint64_t bytes,
                                               const std::string& what) {
  absl::StatusOr<Segment> segment = Charge(bytes, what);
  if (!segment.ok() || bytes == 0 || !backed_) return segment;
  absl::StatusOr<Mapping> mapping = Mapping::Create(bytes);
  if (!mapping.ok()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", bytes, " bytes of ", name_, ": ",
                     mapping.status().message()));
  }
  segment->mapping_ = *std::move(mapping);
  return segment;
}

absl::StatusOr<Arena::Segment> Arena::Charge(uint64_t bytes,
                                             const std::string& what) {
  Segment segment;
  if (bytes == 0) return segment;
  if (bytes > bound_ - used()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", bytes, " bytes of ", name_, ", where ",
                     used(), " of ", bound_, " bytes are used"));
  }
  segment.arena_ = this;
  segment.bytes_ = bytes;
  used_.store(used() + bytes, std::memory_order_relaxed);
  if (used() > peak()) peak_.store(used(), std::memory_order_relaxed);
  return segment;
}

std::shared_ptr<HostStore::Object> HostStore::Create(uint64_t id,
                                                     uint64_t bytes,
                                                     const std::string& what) {
  auto object = std::make_shared<Object>();
  object->bytes = bytes;
  const bool paged = bytes >= kPagedBytes;
  absl::StatusOr<Arena::Segment> segment =
      paged ? arena_.Allocate(bytes, what) : arena_.Charge(bytes, what);
  if (!segment.ok()) {
    object->status = segment.status();
  } else {
    object->segment_ = *std::move(segment);
    if (!paged) object->heap_ = std::make_unique<char[]>(bytes);
  }
  objects_[id] = object;
  return object;
}

std::shared_ptr<HostStore::Object> HostStore::Write(uint64_t id, uint64_t bytes,
                                                    uint64_t offset,
                                                    absl::string_view piece,
                                                    const std::string& what) {
  std::shared_ptr<Object> object = Find(id);
  if (object == nullptr) object = Create(id, bytes, what);
  if (object->bytes != bytes || offset > bytes ||
      piece.size() > bytes - offset ||
      piece.size() > bytes - object->received) {
    object->status.Update(absl::InvalidArgumentError(
        absl::StrCat(what, " has ", object->bytes, " bytes here, got ",
                     piece.size(), " at ", offset, " of ", bytes)));
    return object;
  }
  object->received += piece.size();
  if (object->status.ok() && !piece.empty()) {
    std::memcpy(object->data() + offset, piece.data(), piece.size());
  }
  return object;
}

std::shared_ptr<HostStore::Object> HostStore::Find(uint64_t id) const {
  auto object = objects_.find(id);
  return object == objects_.end() ? nullptr : object->second;
}

}  // namespace pathways
