//===- store.h - Memory of devices and hosts, with bounds -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounded memory. An Arena is the memory of one device or host; a HostStore
// holds a host's parts of arrays in it.
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

// Memory of the process: pages from the system, zeroed, huge ones where there
// are any and they are touched at once; or few bytes from the heap. Given back
// by the destructor. Move only.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  // Touched: nobody pays for a first touch later. Untouched: whoever writes
  // first does, a piece at a time.
  enum Pages { kTouched, kUntouched };
  // From here on the system is asked what it has before pages are touched: it
  // would rather end a process than refuse.
  static constexpr uint64_t kAskedBytes = uint64_t{64} << 20;
  // ResourceExhausted when the system has no more, with what it has.
  static absl::StatusOr<Mapping> Create(uint64_t bytes, Pages pages = kTouched);
  // What it holds is undefined.
  static Mapping FromHeap(uint64_t bytes);
  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
  bool heap_ = false;
};

// A bounded memory that hands out segments, each with memory of its own, so
// that a segment that fits by bytes fits by place. One owner changes it; the
// numbers may be read by any thread. Segments must be freed before it goes. The
// memory of segments that were taken stays with the arena when they are freed,
// for the next ones of their sizes: of the last kMaxSpares at most, at most
// kMaxSpareBytes bytes, and with what is used never more than the bound.
class Arena {
 public:
  // `backed` false: only counts.
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
    char* data() const { return mapping_.data(); }  // null: not backed
    uint64_t bytes() const { return bytes_; }

   private:
    friend class Arena;
    Arena* arena_ = nullptr;
    uint64_t bytes_ = 0;
    bool taken_ = false;
    Mapping mapping_;
  };
  // ResourceExhausted names the arena, the need, what is used and the bound;
  // nothing is held then. `what` says for whom.
  absl::StatusOr<Segment> Allocate(uint64_t bytes, const std::string& what);
  // As Allocate, but what the segment holds is undefined: for who writes all of
  // it before anything is read.
  absl::StatusOr<Segment> Take(uint64_t bytes, const std::string& what,
                               Mapping::Pages pages = Mapping::kTouched);
  // As Allocate, but without pages: only counts.
  absl::StatusOr<Segment> Charge(uint64_t bytes, const std::string& what);

  const std::string& name() const { return name_; }
  uint64_t bound() const { return bound_; }
  // How many bytes more may be used.
  uint64_t room() const { return bound_ > used() ? bound_ - used() : 0; }
  // From now on; what is used beyond that stays. Spare memory goes.
  void Bound(uint64_t bytes);
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  static constexpr uint64_t kMaxSpareBytes = uint64_t{256} << 20;
  static constexpr size_t kMaxSpares = 128;

 private:
  absl::StatusOr<Segment> Back(Segment segment, const std::string& what,
                               Mapping::Pages pages);
  // Keeps the memory of a segment that was taken, as far as there is room.
  void Spare(Mapping mapping);
  // Spare memory of that size; none: of no bytes.
  Mapping TakeSpare(uint64_t bytes);
  void DropOldestSpare();
  // Gives back spare memory, the oldest first, until `bytes` more may be used.
  void MakeRoom(uint64_t bytes);

  const std::string name_;
  uint64_t bound_;
  const bool backed_;
  std::atomic<uint64_t> used_{0}, peak_{0};
  std::vector<Mapping> spare_;  // in the order in which they were freed
  uint64_t spare_bytes_ = 0;
};

class Spiller;

// What one host holds of arrays: of each object its parts, one after the other,
// charged to the host's memory. Which parts, and for how long, the controller
// says; a Ref keeps an object, and its memory comes back with the last one. The
// record of an object that is gone is used for the next one. One owner calls
// it, and makes and drops Refs, none of which outlives it; other threads may
// look at an object meanwhile.
class HostStore {
 public:
  class alignas(kLineBytes) Object {
   public:
    uint64_t id = 0;
    uint64_t bytes = 0;
    absl::Status status;  // ResourceExhausted: there was no room, no data
    bool complete() const { return received == bytes; }
    // Of an object that a launch fills: not before that launch is over on this
    // host, which `writer`, a program, does. Devices look at it.
    std::atomic<bool> filled{true};
    bool poisoned = false;  // set before filled: nothing may read its values
    // Of an object that is away: null.
    char* data() const { return segment_.data(); }
    // Its bytes are in a file and not in memory (spiller.h).
    bool away() const { return is_away_; }
    // It is here, or away.
    bool has_bytes() const { return is_away_ || segment_.bytes() > 0; }

   private:
    friend class HostStore;
    friend class Spiller;
    Arena::Segment segment_;
    // What is above does not change while devices look at it; what is below is
    // the store's, at each use, and on other lines.
   public:
    alignas(kLineBytes) uint64_t received = 0;  // of one that comes in pieces
    uint32_t writer = 0;

   private:
    HostStore* store_ = nullptr;
    uint64_t references_ = 0;
    // While it has memory: those that were used before and after it.
    Object* older_ = nullptr;
    Object* newer_ = nullptr;
    // Where a copy of its bytes is; file 0: nowhere.
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

  // Makes an object of `bytes` bytes, which are undefined until they are
  // written. When there is no room its status is ResourceExhausted, naming
  // `what` and the arena's numbers; it is held all the same, without memory. An
  // id is used once.
  Ref Create(uint64_t id, uint64_t bytes, const std::string& what);
  // As Create, but its bytes are still to come, in pieces.
  Ref Expect(uint64_t id, uint64_t bytes, const std::string& what);
  // One of `bytes` bytes that nothing may read: it is poisoned, and takes no
  // memory.
  Ref CreatePoisoned(uint64_t id, uint64_t bytes);
  // Null: not here.
  Ref Find(uint64_t id) const;
  // As Find; it is the one that was used last.
  Ref Use(uint64_t id);
  void Drop(uint64_t id) { objects_.erase(id); }
  uint64_t num_objects() const { return objects_.size(); }
  // Of objects that have memory.
  uint64_t bytes_in_memory() const { return bytes_in_memory_; }

 private:
  friend class Spiller;
  Ref Make(uint64_t id, uint64_t bytes, const std::string& what,
           Mapping::Pages pages);
  // The last Ref is gone.
  void Free(Object* object);
  // An object has memory, and is the one that was used last; has none any more.
  void TakeMemory(Object* object, Arena::Segment segment);
  void DropMemory(Object* object);
  void Append(Object* object);
  void Unlink(Object* object);

  Arena& arena_;
  Spiller* spiller_ = nullptr;  // null: what has memory keeps it
  Object* oldest_ = nullptr;    // of those that have memory, by use
  Object* newest_ = nullptr;
  uint64_t bytes_in_memory_ = 0;
  std::vector<std::unique_ptr<Object>> free_;
  absl::flat_hash_map<uint64_t, Ref> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_STORE_STORE_H_
