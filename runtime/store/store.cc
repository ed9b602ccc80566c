//===- store.cc - Bounded memory of devices and hosts ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/line_allocator.h"
#include "runtime/base/memory.h"
#include "runtime/store/spiller.h"

namespace pathways {
namespace {

// From this size on, a segment from Take has pages of its own.
constexpr uint64_t kPagedBytes = uint64_t{1} << 16;
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

// Returns the bytes that the system, and this control group, can give without
// swapping; UINT64_MAX if unknown.
uint64_t AvailableBytes() {
  uint64_t available = UINT64_MAX;
  std::ifstream memory("/proc/meminfo");
  for (std::string word; memory >> word;) {
    if (word != "MemAvailable:") continue;
    uint64_t kib = 0;
    if (memory >> kib) available = kib << 10;
    break;
  }
  uint64_t limit = 0, current = 0;
  std::ifstream max("/sys/fs/cgroup/memory.max");
  std::ifstream now("/sys/fs/cgroup/memory.current");
  if (max >> limit && now >> current) {  // the text "max" means no limit
    available = std::min(available, limit - std::min(limit, current));
  }
  return available;
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(heap_, other.heap_);
  return *this;
}

Mapping::~Mapping() {
  if (heap_) {
    LineAllocator<char>().deallocate(data_, bytes_);
  } else if (data_ != nullptr) {
    munmap(data_, bytes_);
  }
}

Mapping Mapping::FromHeap(uint64_t bytes) {
  Mapping mapping;
  mapping.data_ = LineAllocator<char>().allocate(bytes);
  mapping.bytes_ = bytes;
  mapping.heap_ = true;
  return mapping;
}

absl::StatusOr<Mapping> Mapping::Create(uint64_t bytes, Pages pages) {
  Mapping mapping;
  if (bytes == 0) return mapping;
  auto refused = [&] {
    return absl::ResourceExhaustedError(
        absl::StrCat("the system cannot provide ", bytes, " bytes of memory",
                     Tag(ErrorId::kNoSystemMemory)));
  };
  if (bytes > (uint64_t{1} << 50)) return refused();
  if (bytes >= kAskedBytes) {
    const uint64_t available = AvailableBytes();
    if (bytes > available) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the system has ", available, " bytes of free memory",
                       Tag(ErrorId::kNoSystemMemory)));
    }
  }
  // Huge pages are aligned to their size. Untouched memory has none: clearing
  // one takes 0.3 ms, more than a writer of one piece may spend.
  const bool huge = bytes >= kHugePageBytes && pages == kTouched;
  const uint64_t spare = huge ? kHugePageBytes : 0;
  void* data = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return refused();
  mapping.data_ = static_cast<char*>(data);
  mapping.bytes_ = bytes;
  if (huge) {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = reinterpret_cast<uintptr_t>(data);
    const uint64_t head =
        (kHugePageBytes - begin % kHugePageBytes) % kHugePageBytes;
    const uint64_t end = (head + bytes + page - 1) / page * page;
    if (head > 0) munmap(data, head);
    if (end < bytes + spare) {
      munmap(mapping.data_ + end, bytes + spare - end);
    }
    mapping.data_ += head;
    // If huge pages are refused, the memory is the same, only slower.
    (void)madvise(mapping.data_, bytes, MADV_HUGEPAGE);
  }
  if (pages == kTouched && !TouchPages(mapping.data_, bytes)) return refused();
  return mapping;
}

Arena::Segment& Arena::Segment::operator=(Segment&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(bytes_, other.bytes_);
  std::swap(taken_, other.taken_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

Arena::Segment::~Segment() {
  if (arena_ == nullptr) return;
  arena_->used_.store(arena_->used() - bytes_, std::memory_order_relaxed);
  if (taken_) arena_->Spare(std::move(mapping_));
}

absl::StatusOr<Arena::Segment> Arena::Allocate(uint64_t bytes,
                                               const std::string& what) {
  absl::StatusOr<Segment> segment = Charge(bytes, what);
  if (!segment.ok() || bytes == 0 || !backed_) return segment;
  return Back(*std::move(segment), what, Mapping::kTouched);
}

absl::StatusOr<Arena::Segment> Arena::Take(uint64_t bytes,
                                           const std::string& what,
                                           Mapping::Pages pages) {
  Mapping kept = TakeSpare(bytes);
  absl::StatusOr<Segment> segment = Charge(bytes, what);
  if (!segment.ok() || bytes == 0 || !backed_) return segment;
  segment->taken_ = true;
  if (kept.bytes() == 0) {
    if (bytes >= kPagedBytes) return Back(*std::move(segment), what, pages);
    kept = Mapping::FromHeap(bytes);
  }
  segment->mapping_ = std::move(kept);
  return segment;
}

absl::StatusOr<Arena::Segment> Arena::Back(Segment segment,
                                           const std::string& what,
                                           Mapping::Pages pages) {
  const uint64_t bytes = segment.bytes_;
  absl::StatusOr<Mapping> mapping = Mapping::Create(bytes, pages);
  if (!mapping.ok()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", bytes, " bytes of ", name_, ": ",
                     mapping.status().message()));
  }
  segment.mapping_ = *std::move(mapping);
  return segment;
}

void Arena::Spare(Mapping mapping) {
  const uint64_t bytes = mapping.bytes();
  if (bytes == 0 || bytes > kMaxSpareBytes || bytes > room()) return;
  MakeRoom(bytes);
  while (spare_bytes_ + bytes > kMaxSpareBytes || spare_.size() == kMaxSpares) {
    DropOldestSpare();
  }
  spare_bytes_ += bytes;
  spare_.push_back(std::move(mapping));
}

Mapping Arena::TakeSpare(uint64_t bytes) {
  // Prefers the most recent one, which may still be in a cache.
  const auto spare = std::find_if(
      spare_.rbegin(), spare_.rend(),
      [&](const Mapping& mapping) { return mapping.bytes() == bytes; });
  if (spare == spare_.rend()) return Mapping();
  Mapping taken = std::move(*spare);
  spare_.erase(std::next(spare).base());
  spare_bytes_ -= bytes;
  return taken;
}

void Arena::DropOldestSpare() {
  spare_bytes_ -= spare_.front().bytes();
  spare_.erase(spare_.begin());
}

void Arena::Bound(uint64_t bytes) {
  bound_ = bytes;
  while (!spare_.empty()) DropOldestSpare();
}

void Arena::MakeRoom(uint64_t bytes) {
  while (spare_bytes_ + bytes > room()) DropOldestSpare();
}

absl::StatusOr<Arena::Segment> Arena::Charge(uint64_t bytes,
                                             const std::string& what) {
  Segment segment;
  if (bytes == 0) return segment;
  if (bytes > room()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        what, " needs ", bytes, " bytes of ", name_, ", where ", used(), " of ",
        bound_, " bytes are used", Tag(ErrorId::kNoHostMemory)));
  }
  if (spare_bytes_ > 0) MakeRoom(bytes);
  segment.arena_ = this;
  segment.bytes_ = bytes;
  used_.store(used() + bytes, std::memory_order_relaxed);
  if (used() > peak()) peak_.store(used(), std::memory_order_relaxed);
  return segment;
}

HostStore::Ref HostStore::Make(uint64_t id, uint64_t bytes,
                               const std::string& what, Mapping::Pages pages) {
  std::unique_ptr<Object> object;
  if (free_.empty()) {
    object = std::make_unique<Object>();
    object->store_ = this;
  } else {
    object = std::move(free_.back());
    free_.pop_back();
  }
  object->id = id;
  object->bytes = bytes;
  object->received = 0;
  object->filled.store(true, std::memory_order_relaxed);
  object->poisoned = false;
  object->writer = 0;
  absl::StatusOr<Arena::Segment> segment = arena_.Take(bytes, what, pages);
  if (segment.ok()) {
    if (bytes > 0) TakeMemory(object.get(), *std::move(segment));
  } else {
    object->status = spiller_ == nullptr ? segment.status()
                                         : spiller_->Explain(segment.status());
  }
  Ref made(object.release());
  objects_[id] = made;
  return made;
}

void HostStore::TakeMemory(Object* object, Arena::Segment segment) {
  object->segment_ = std::move(segment);
  bytes_in_memory_ += object->segment_.bytes();
  Append(object);
}

void HostStore::DropMemory(Object* object) {
  if (object->segment_.bytes() == 0) return;
  Unlink(object);
  bytes_in_memory_ -= object->segment_.bytes();
  object->segment_ = Arena::Segment();
}

void HostStore::Append(Object* object) {
  object->older_ = newest_;
  object->newer_ = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->newer_) = object;
  newest_ = object;
}

void HostStore::Unlink(Object* object) {
  (object->older_ == nullptr ? oldest_ : object->older_->newer_) =
      object->newer_;
  (object->newer_ == nullptr ? newest_ : object->newer_->older_) =
      object->older_;
}

void HostStore::Free(Object* object) {
  DropMemory(object);
  if (spiller_ != nullptr) spiller_->Forget(object);
  object->spilled_ = {};
  object->is_away_ = false;
  object->status = absl::OkStatus();
  free_.emplace_back(object);
}

HostStore::Ref HostStore::Create(uint64_t id, uint64_t bytes,
                                 const std::string& what) {
  Ref object = Make(id, bytes, what, Mapping::kTouched);
  object->received = bytes;
  return object;
}

HostStore::Ref HostStore::Expect(uint64_t id, uint64_t bytes,
                                 const std::string& what) {
  return Make(id, bytes, what, Mapping::kUntouched);
}

HostStore::Ref HostStore::CreatePoisoned(uint64_t id, uint64_t bytes) {
  Ref object = Make(id, /*bytes=*/0, /*what=*/"", Mapping::kUntouched);
  object->bytes = object->received = bytes;
  object->poisoned = true;
  return object;
}

HostStore::Ref HostStore::Find(uint64_t id) const {
  auto object = objects_.find(id);
  return object == objects_.end() ? Ref() : object->second;
}

HostStore::Ref HostStore::Use(uint64_t id) {
  Ref object = Find(id);
  if (object != nullptr && object->segment_.bytes() > 0) {
    Unlink(object.get());
    Append(object.get());
  }
  return object;
}

}  // namespace pathways
