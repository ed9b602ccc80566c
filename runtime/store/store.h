//===- store.h - Memory of devices and hosts, with bounds -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounded memory. An Arena is the memory of one device, or the part of a host's
// memory that loaded programs use; an ObjectStore holds arrays for clients.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STORE_STORE_H_
#define RUNTIME_STORE_STORE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/host_array.h"
#include "runtime/base/mutex.h"

namespace pathways {

// Pages from the system, zeroed, given back by the destructor. Move only.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  // ResourceExhausted when the system has no more.
  static absl::StatusOr<Mapping> Create(uint64_t bytes);
  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// A bounded memory that hands out segments, each with its own pages, so that a
// segment that fits by bytes fits by place. One owner changes it; the numbers
// may be read by any thread. Segments must be freed before it goes.
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
    Mapping mapping_;
  };
  // ResourceExhausted names the arena, the need, what is used and the bound;
  // nothing is held then. `what` says for whom.
  absl::StatusOr<Segment> Allocate(uint64_t bytes, const std::string& what);

  const std::string& name() const { return name_; }
  uint64_t bound() const { return bound_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  const std::string name_;
  const uint64_t bound_;
  const bool backed_;
  std::atomic<uint64_t> used_{0}, peak_{0};
};

// Arrays of clients: each logical array has one reference count and the name of
// its owner. Runs hold a reference while they use an array, so releasing it
// early is safe. Thread-safe.
class ObjectStore {
 public:
  explicit ObjectStore(uint64_t bound_bytes) : bound_(bound_bytes) {}

  // Counts `bytes` against the bound until *Uncharge. ResourceExhausted names
  // `what`, the need, what is used and the bound.
  absl::Status Charge(uint64_t bytes, const std::string& what);
  void Uncharge(uint64_t bytes);

  // Takes the array, with one reference, for `client`.
  absl::StatusOr<uint64_t> Put(std::shared_ptr<const HostArray> array,
                               const std::string& client);
  // NotFound: no such array, or released.
  absl::StatusOr<std::shared_ptr<const HostArray>> Get(uint64_t id) const;
  // A run's own reference to an array, added and dropped; the last drop frees.
  // NotFound as above.
  absl::Status Retain(uint64_t id);
  void Unretain(uint64_t id);
  // Drops the client's reference. NotFound as above.
  absl::Status Release(uint64_t id);
  // Drops the client's own references.
  void ReleaseClient(const std::string& client);

  uint64_t used() const;
  uint64_t num_objects() const;

 private:
  struct Object {
    std::shared_ptr<const HostArray> array;
    std::string client;
    uint64_t references = 1;
    bool owned = true;  // the client's own reference is still there
  };
  void Drop(std::map<uint64_t, Object>::iterator object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t bound_;
  mutable Mutex mutex_;
  uint64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<uint64_t, Object> objects_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_STORE_STORE_H_
