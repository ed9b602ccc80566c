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
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pathways {

// Pages from the system, zeroed; huge ones where there are any. Given back by
// the destructor. Move only.
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
  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// A bounded memory that hands out segments, each with its own pages, so that a
// segment that fits by bytes fits by place. One owner changes it; the numbers
// may be read by any thread. Segments must be freed before it goes. Pages of
// segments that were taken stay with the arena when they are freed, for the
// next one of their size: at most kMaxSparePages bytes, and with what is used
// never more than the bound.
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
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  static constexpr uint64_t kMaxSparePages = uint64_t{256} << 20;

 private:
  absl::StatusOr<Segment> Back(Segment segment, const std::string& what,
                               Mapping::Pages pages);
  // Keeps the pages of a segment that was taken, as far as there is room.
  void Spare(Mapping mapping);
  // Gives back spare pages, the oldest first, until `bytes` more may be used.
  void MakeRoom(uint64_t bytes);

  const std::string name_;
  const uint64_t bound_;
  const bool backed_;
  std::atomic<uint64_t> used_{0}, peak_{0};
  std::deque<Mapping> spare_;  // in the order in which they were freed
  uint64_t spare_bytes_ = 0;
};

// What one host holds of arrays: of each object its parts, one after the other,
// charged to the host's memory. Which parts, and for how long, the controller
// says; a reader keeps an object alive by its pointer. One owner calls it.
class HostStore {
 public:
  struct Object {
    uint64_t id = 0;
    uint64_t bytes = 0;
    uint64_t received = 0;  // of an object that comes in pieces
    absl::Status status;    // ResourceExhausted: there was no room, no data
    bool complete() const { return received == bytes; }
    // Of an object that a launch fills: not before that launch is over on this
    // host, which `writer`, a program, does. Devices look at it.
    std::atomic<bool> filled{true};
    bool poisoned = false;  // set before filled: nothing may read its values
    uint32_t writer = 0;
    char* data() const {
      return heap_ != nullptr ? heap_.get() : segment_.data();
    }

   private:
    friend class HostStore;
    Arena::Segment segment_;
    std::unique_ptr<char[]> heap_;
  };

  // `arena` is the host's memory; it outlives the objects.
  explicit HostStore(Arena* arena) : arena_(*arena) {}

  // Makes an object of `bytes` bytes, which are undefined until they are
  // written. When there is no room its status is ResourceExhausted, naming
  // `what` and the arena's numbers; it is held all the same, without memory. An
  // id is used once.
  std::shared_ptr<Object> Create(uint64_t id, uint64_t bytes,
                                 const std::string& what);
  // As Create, but its bytes are still to come, in pieces.
  std::shared_ptr<Object> Expect(uint64_t id, uint64_t bytes,
                                 const std::string& what);
  // Null: not here.
  std::shared_ptr<Object> Find(uint64_t id) const;
  // Memory comes back with the last pointer.
  void Drop(uint64_t id) { objects_.erase(id); }
  uint64_t num_objects() const { return objects_.size(); }

 private:
  std::shared_ptr<Object> Make(uint64_t id, uint64_t bytes,
                               const std::string& what, Mapping::Pages pages);

  Arena& arena_;
  std::map<uint64_t, std::shared_ptr<Object>> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_STORE_STORE_H_
