//===- store.cc - Memory of devices and hosts, with bounds ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/store.h"

#include <sys/mman.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {

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
  Segment segment;
  if (bytes == 0) return segment;
  if (bytes > bound_ - used()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", bytes, " bytes of ", name_, ", where ",
                     used(), " of ", bound_, " bytes are used"));
  }
  if (backed_) {
    absl::StatusOr<Mapping> mapping = Mapping::Create(bytes);
    if (!mapping.ok()) {
      return absl::ResourceExhaustedError(
          absl::StrCat(what, " needs ", bytes, " bytes of ", name_, ": ",
                       mapping.status().message()));
    }
    segment.mapping_ = *std::move(mapping);
  }
  segment.arena_ = this;
  segment.bytes_ = bytes;
  used_.store(used() + bytes, std::memory_order_relaxed);
  if (used() > peak()) peak_.store(used(), std::memory_order_relaxed);
  return segment;
}

absl::Status ObjectStore::Charge(uint64_t bytes, const std::string& what) {
  MutexLock lock(&mutex_);
  if (bytes > bound_ - used_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", bytes, " bytes of host memory, where ",
                     used_, " of ", bound_, " bytes are used"));
  }
  used_ += bytes;
  return absl::OkStatus();
}

void ObjectStore::Uncharge(uint64_t bytes) {
  MutexLock lock(&mutex_);
  used_ -= bytes;
}

absl::StatusOr<uint64_t> ObjectStore::Put(
    std::shared_ptr<const HostArray> array, const std::string& client) {
  absl::Status charged =
      Charge(array->data.size(),
             absl::StrCat("array ", ShapeString(array->element, array->shape),
                          " of client '", client, "'"));
  if (!charged.ok()) return charged;
  MutexLock lock(&mutex_);
  const uint64_t id = next_++;
  objects_[id] = Object{std::move(array), client};
  return id;
}

absl::StatusOr<std::shared_ptr<const HostArray>> ObjectStore::Get(
    uint64_t id) const {
  MutexLock lock(&mutex_);
  auto object = objects_.find(id);
  if (object == objects_.end() || !object->second.owned) {
    return absl::NotFoundError(
        absl::StrCat("no array ", id, ", or it was released"));
  }
  return object->second.array;
}

absl::Status ObjectStore::Retain(uint64_t id) {
  MutexLock lock(&mutex_);
  auto object = objects_.find(id);
  if (object == objects_.end() || !object->second.owned) {
    return absl::NotFoundError(
        absl::StrCat("no array ", id, ", or it was released"));
  }
  ++object->second.references;
  return absl::OkStatus();
}

void ObjectStore::Unretain(uint64_t id) {
  MutexLock lock(&mutex_);
  auto object = objects_.find(id);
  if (object != objects_.end()) Drop(object);
}

absl::Status ObjectStore::Release(uint64_t id) {
  MutexLock lock(&mutex_);
  auto object = objects_.find(id);
  if (object == objects_.end() || !object->second.owned) {
    return absl::NotFoundError(
        absl::StrCat("no array ", id, ", or it was released"));
  }
  object->second.owned = false;
  Drop(object);
  return absl::OkStatus();
}

void ObjectStore::Drop(std::map<uint64_t, Object>::iterator object) {
  if (--object->second.references != 0) return;
  used_ -= object->second.array->data.size();
  objects_.erase(object);
}

void ObjectStore::ReleaseClient(const std::string& client) {
  MutexLock lock(&mutex_);
  for (auto it = objects_.begin(); it != objects_.end();) {
    auto object = it++;
    if (object->second.owned && object->second.client == client) {
      object->second.owned = false;
      Drop(object);
    }
  }
}

uint64_t ObjectStore::used() const {
  MutexLock lock(&mutex_);
  return used_;
}

uint64_t ObjectStore::num_objects() const {
  MutexLock lock(&mutex_);
  return objects_.size();
}

}  // namespace pathways
