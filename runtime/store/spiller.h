//===- spiller.h - Arrays leave memory, and come back -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STORE_SPILLER_H_
#define RUNTIME_STORE_SPILLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/run_options.h"
#include "runtime/store/spill_disk.h"
#include "runtime/store/store.h"

namespace pathways {

// Most bytes of files of a host with so much memory; 0: none are made.
uint64_t SpillBytes(const SpillOptions& options, uint64_t memory_bytes);

// Writes objects of a HostStore that nobody uses to files, the one that was
// used longest ago first, and reads them back; one job at a time, on whatever
// thread it is given. Invariants: (1) what leaves is complete, filled, and
// referred to by the store alone, also when it has been written: what was used
// meanwhile stays; (2) an object is in memory or in a file, never in neither
// unless its status says that it is lost; (3) as nobody changes what may leave,
// it is written once, however often it leaves, while the disk has room for
// copies of what is in memory: they go first; (4) a file goes with the last
// object in it, and its part of the disk with each; (5) a disk that has failed
// is not tried again but for somebody who needs the memory, or when a file is
// gone.
// One owner calls it.
class Spiller {
 public:
  // Has `work`, which is about so many bytes, done elsewhere, and Finish called
  // after that, never before it returns.
  using Run = std::function<void(uint64_t bytes, std::function<void()> work)>;
  // Objects of fewer bytes share files, which have so many at least while there
  // are enough of them.
  static constexpr uint64_t kUnitBytes = uint64_t{1} << 20;

  // `store` and `arena`, of which it is, outlive it.
  Spiller(HostStore* store, Arena* arena, std::unique_ptr<SpillDisk> disk,
          const SpillOptions& options, Run run);
  // Nothing works on a job any more. What is away has no bytes then.
  ~Spiller();

  // A job is under way; nothing but Finish may be called for one then.
  bool busy() const { return job_ != nullptr; }
  // kBegun: something leaves. kPinned: all that has memory is used. kFailed:
  // nothing can be written; Explain says why.
  enum class Step { kBegun, kPinned, kFailed };
  // `coming`: bytes of objects that come back then, so that as many more may be
  // in files meanwhile.
  Step Spill(uint64_t coming = 0);
  // Objects that are away, and for which there is room, come back.
  void Bring(std::vector<HostStore::Ref> objects);
  // Whether memory is above its mark, or was and has yet to come down.
  bool IsHigh() const;
  // The job is done.
  void Finish();
  // Somebody needs memory, so a disk that has failed is tried again.
  void Forgive() { failed_ = absl::OkStatus(); }
  // Why the system had no memory for what was to come back last, if so.
  const absl::Status& lack() const { return lack_; }
  // A lack of memory, and why nothing leaves.
  absl::Status Explain(const absl::Status& lack) const;

  // Of objects that are away.
  uint64_t spilled_bytes() const { return spilled_bytes_; }

 private:
  friend class HostStore;
  using Object = HostStore::Object;
  struct Job {
    bool leaves = false;  // objects do; else they come back
    uint64_t file = 0;    // that is written; 0: all that leaves has a copy
    std::vector<HostStore::Ref> objects;
    // Of those that leave and have no copy, in their order.
    std::vector<SpillDisk::Chunk> chunks;
    std::vector<uint32_t> crcs;
    std::vector<Arena::Segment> segments;  // of those that come
    std::vector<absl::Status> statuses;    // of each of them, or of the file
  };

  bool MayLeave(const Object& object) const;
  // Of the least recently used: a large one, or small ones, for which files
  // have room. `smallest`: bytes of any that may leave, if there are some.
  std::vector<Object*> Choose(uint64_t coming, uint64_t* smallest) const;
  static uint64_t BytesToWrite(const std::vector<Object*>& objects);
  void FinishWrite(Job* job);
  void FinishRead(Job* job);
  absl::Status ReadBack(const Object& object, char* to) const;
  // Its bytes in a file, if they are in one, are needed no more.
  void Forget(Object* object);
  // Likewise those of all that is in memory.
  void ForgetCopies();

  HostStore& store_;
  Arena& arena_;
  const std::unique_ptr<SpillDisk> disk_;
  const uint64_t bound_;  // of what is away, and copies of what is not
  const double begin_, end_;
  const Run run_;
  std::unique_ptr<Job> job_;
  std::map<uint64_t, uint64_t> files_;  // objects that are in each
  uint64_t last_file_ = 0;
  uint64_t spilled_bytes_ = 0;
  uint64_t copied_bytes_ = 0;  // in files, of what is in memory
  absl::Status failed_, lack_;
  mutable bool is_sinking_ = false;  // between the two marks
};

}  // namespace pathways

#endif  // RUNTIME_STORE_SPILLER_H_
