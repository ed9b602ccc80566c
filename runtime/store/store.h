//===- store.h - Bounded memory of devices and hosts ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An Arena is the bounded memory of one device or host; a HostStore holds a
// host's parts of arrays in it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STORE_STORE_H_
#define RUNTIME_STORE_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/line_allocator.h"

namespace pathways {

// Owned memory of the process: zeroed pages from the system, which are huge
// pages if available and touched at once; or a few bytes from the heap.
// Move-only.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  // kTouched: all pages are touched at creation, so that no later access pays
  // for it. kUntouched: the first writer of each page pays.
  enum Pages { kTouched, kUntouched };
  // From this size on, Create asks the system how much memory is available
  // before it touches pages: the system would rather kill a process than
  // refuse.
  static constexpr uint64_t kAskedBytes = uint64_t{64} << 20;
  // Returns ResourceExhausted if the system lacks the memory; if known, the
  // message has the number of bytes left.
  static absl::StatusOr<Mapping> Create(uint64_t bytes, Pages pages = kTouched);
  // Returns memory with undefined contents.
  static Mapping FromHeap(uint64_t bytes);
  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
  bool heap_ = false;
};

// A bounded memory that hands out segments. Each segment has memory of its own,
// so fragmentation never makes an allocation fail. One owner changes the arena;
// any thread may read the numbers. Segments must be freed before the arena is
// destroyed. The memory of segments from Take stays with the arena when they
// are freed and is reused for segments of the same size. The arena keeps that
// of at most kMaxSpares segments and kMaxSpareBytes bytes, the most recent
// ones; together with the used memory it never exceeds the bound.
class Arena {
 public:
  // If `backed` is false, the arena only counts bytes.
  Arena(std::string name, uint64_t bound_bytes, bool backed)
      : name_(std::move(name)), bound_(bound_bytes), backed_(backed) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  class Segment {
   public:
    Segment() = default;
    Segment(Segment&& other) noexcept { *this = std::move(other); }
    Segment& operator=(Segment&& other) noexcept;
    ~Segment();
    char* data() const { return mapping_.data(); }  // null if not backed
    uint64_t bytes() const { return bytes_; }

   private:
    friend class Arena;
    Arena* arena_ = nullptr;
    uint64_t bytes_ = 0;
    bool taken_ = false;
    Mapping mapping_;
  };
  // Returns a zeroed segment. Returns ResourceExhausted, naming the arena, the
  // need, the used bytes and the bound, if there is no room; nothing is held
  // then. `what`: the purpose, for the message.
  absl::StatusOr<Segment> Allocate(uint64_t bytes, const std::string& what);
  // Like Allocate, but the contents are undefined: for callers that write all
  // bytes before any is read.
  absl::StatusOr<Segment> Take(uint64_t bytes, const std::string& what,
                               Mapping::Pages pages = Mapping::kTouched);
  // Like Allocate, but the segment has no memory and is only counted.
  absl::StatusOr<Segment> Charge(uint64_t bytes, const std::string& what);

  const std::string& name() const { return name_; }
  uint64_t bound() const { return bound_; }
  // Returns how many more bytes may be used.
  uint64_t room() const { return bound_ > used() ? bound_ - used() : 0; }
  // Sets the bound. Segments in use beyond it stay; spare memory is freed.
  void Bound(uint64_t bytes);
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  static constexpr uint64_t kMaxSpareBytes = uint64_t{256} << 20;
  static constexpr size_t kMaxSpares = 128;

 private:
  absl::StatusOr<Segment> Back(Segment segment, const std::string& what,
                               Mapping::Pages pages);
  // Keeps the memory of a freed segment from Take, if there is room.
  void Spare(Mapping mapping);
  // Returns spare memory of that size, or an empty mapping if there is none.
  Mapping TakeSpare(uint64_t bytes);
  void DropOldestSpare();
  // Frees spare memory, the oldest first, until `bytes` more may be used.
  void MakeRoom(uint64_t bytes);

  const std::string name_;
  uint64_t bound_;
  const bool backed_;
  std::atomic<uint64_t> used_{0}, peak_{0};
  std::vector<Mapping> spare_;  // in the order of freeing
  uint64_t spare_bytes_ = 0;
};

class Spiller;

// The parts of arrays that one host holds, charged to the host's memory; an
// object is all parts of one array, one after the other. The controller decides
// which parts are held, and for how long. A Ref keeps an object; the last Ref
// returns its memory, and the record is reused for another object. One owner
// calls the store and creates and drops Refs, none of which may outlive the
// store; other threads may read an object meanwhile.
class HostStore {
 public:
  class alignas(kLineBytes) Object {
   public:
    uint64_t id = 0;
    uint64_t bytes = 0;
    absl::Status status;  // ResourceExhausted: no room, so no data
    bool complete() const { return received == bytes; }
    // False for an object that a launch fills, until program `writer` has ended
    // that launch on this host. Devices read it.
    std::atomic<bool> filled{true};
    bool poisoned = false;  // set before filled: values must not be read
    // Returns the bytes; null while the object is spilled.
    char* data() const { return segment_.data(); }
    // Returns true if the bytes are in a file and not in memory (spiller.h).
    bool away() const { return is_away_; }
    // Returns true if the bytes are in memory or in a file.
    bool has_bytes() const { return is_away_ || segment_.bytes() > 0; }

   private:
    friend class HostStore;
    friend class Spiller;
    Arena::Segment segment_;
    // Devices read the fields above, which do not change meanwhile. The fields
    // below are the store's; it changes them at each use, so they have cache
    // lines of their own.
   public:
    // Bytes that have arrived, for an object that comes in pieces.
    alignas(kLineBytes) uint64_t received = 0;
    uint32_t writer = 0;

   private:
    HostStore* store_ = nullptr;
    uint64_t references_ = 0;
    // Neighbors in the order of last use, while the object has memory.
    Object* older_ = nullptr;
    Object* newer_ = nullptr;
    // Place of a copy of the bytes in a file; file 0 if there is none.
    struct {
      uint64_t file = 0, offset = 0;
      uint32_t crc = 0;
    } spilled_;
    bool is_away_ = false;
  };

  class Ref {
   public:
    Ref() = default;
    Ref(std::nullptr_t) {}
    Ref(const Ref& other) : object_(other.object_) {
      if (object_ != nullptr) ++object_->references_;
    }
    Ref(Ref&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(object_, other.object_);
      return *this;
    }
    ~Ref() {
      if (object_ != nullptr && --object_->references_ == 0) {
        object_->store_->Free(object_);
      }
    }

    Object* get() const { return object_; }
    Object* operator->() const { return object_; }
    Object& operator*() const { return *object_; }
    bool operator==(std::nullptr_t) const { return object_ == nullptr; }

   private:
    friend class HostStore;
    friend class Spiller;
    explicit Ref(Object* object) : object_(object) { ++object_->references_; }

    Object* object_ = nullptr;
  };

  // `arena` is the host's memory; it outlives the store.
  explicit HostStore(Arena* arena) : arena_(*arena) {}

  // Creates an object of `bytes` bytes with undefined contents. If there is no
  // room, the object's status is ResourceExhausted, with `what` and the arena's
  // numbers; the store holds it all the same, without memory. An id must not be
  // used again.
  Ref Create(uint64_t id, uint64_t bytes, const std::string& what);
  // Like Create, but the bytes arrive later, in pieces.
  Ref Expect(uint64_t id, uint64_t bytes, const std::string& what);
  // Creates a poisoned object of `bytes` bytes, which takes no memory and must
  // not be read.
  Ref CreatePoisoned(uint64_t id, uint64_t bytes);
  // Returns the object, or null if the store does not hold it.
  Ref Find(uint64_t id) const;
  // Like Find, and makes the object the most recently used one.
  Ref Use(uint64_t id);
  void Drop(uint64_t id) { objects_.erase(id); }
  uint64_t num_objects() const { return objects_.size(); }
  // Bytes of objects that have memory.
  uint64_t bytes_in_memory() const { return bytes_in_memory_; }

 private:
  friend class Spiller;
  Ref Make(uint64_t id, uint64_t bytes, const std::string& what,
           Mapping::Pages pages);
  // Reuses the record of an object without Refs.
  void Free(Object* object);
  // Gives an object memory and makes it the most recently used one.
  void TakeMemory(Object* object, Arena::Segment segment);
  void DropMemory(Object* object);
  void Append(Object* object);
  void Unlink(Object* object);

  Arena& arena_;
  Spiller* spiller_ = nullptr;  // null: objects stay in memory
  // Ends of the list of objects that have memory, by last use.
  Object* oldest_ = nullptr;
  Object* newest_ = nullptr;
  uint64_t bytes_in_memory_ = 0;
  std::vector<std::unique_ptr<Object>> free_;
  absl::flat_hash_map<uint64_t, Ref> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_STORE_STORE_H_
