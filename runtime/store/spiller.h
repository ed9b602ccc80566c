//===- spiller.h - Spilling arrays to files ---------------------*- C++ -*-===//
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
#include "pathways/Options.h"
#include "runtime/store/spill_disk.h"
#include "runtime/store/store.h"

namespace pathways {

// Returns the most bytes that files of a host with `memory_bytes` of memory may
// have; 0 if there is no spilling.
uint64_t SpillBytes(const SpillOptions& options, uint64_t memory_bytes);

// Writes unused objects of a HostStore to files, the least recently used first,
// and reads them back: one job at a time, on a thread that the owner chooses.
// Invariants: (1) an object is spilled only if it is complete, filled, and
// referenced by the store alone; if it is referenced again when its write ends,
// it stays in memory; (2) an object is in memory or in a file, or its status
// says that it is lost; (3) an object that may be spilled does not change, so
// it is written once however often it is spilled, as long as the disk has room
// for copies of objects in memory; these copies are dropped first; (4) a file
// is removed with its last object, and each object's part of the disk is
// released with the object; (5) after a disk has failed it is not tried again,
// unless memory is needed (Forgive), an object has come back, or the bytes of
// an object were dropped from a file. One owner calls it.
class Spiller {
 public:
  // Has `work`, which handles about `bytes` bytes, done elsewhere and then has
  // Finish called, never before Run returns.
  using Run = std::function<void(uint64_t bytes, std::function<void()> work)>;
  // Objects of fewer bytes share files; a shared file has at least this size
  // while there are enough such objects.
  static constexpr uint64_t kUnitBytes = uint64_t{1} << 20;

  // `store` allocates from `arena`; both outlive the spiller.
  Spiller(HostStore* store, Arena* arena, std::unique_ptr<SpillDisk> disk,
          const SpillOptions& options, Run run);
  // No job may be running. Spilled objects have no bytes afterwards.
  ~Spiller();

  // Returns true while a job is running. Only Finish may then be called for a
  // job.
  bool busy() const { return job_ != nullptr; }
  // kBegun: a job that spills objects has begun. kPinned: every object that has
  // memory is in use. kFailed: nothing can be written; Explain says why.
  enum class Step { kBegun, kPinned, kFailed };
  // Begins to spill objects. `coming`: bytes of spilled objects that will then
  // come back; files may exceed their bound by as much meanwhile.
  Step Spill(uint64_t coming = 0);
  // Begins to read spilled objects back. There must be room for them.
  void Bring(std::vector<HostStore::Ref> objects);
  // Returns true if the memory in use is above its upper mark, or was and has
  // not yet fallen to the lower one.
  bool IsHigh() const;
  // Ends the job. The owner calls it when the work is done.
  void Finish();
  // Lets a failed disk be tried again, because memory is needed.
  void Forgive() { failed_ = absl::OkStatus(); }
  // ResourceExhausted if the last Bring failed for lack of memory, else OK.
  const absl::Status& lack() const { return lack_; }
  // Returns `lack`, an error about lacking memory, with the reason why nothing
  // can be spilled added.
  absl::Status Explain(const absl::Status& lack) const;

  // Bytes of spilled objects, which are not in memory.
  uint64_t spilled_bytes() const { return spilled_bytes_; }

 private:
  friend class HostStore;
  using Object = HostStore::Object;
  struct Job {
    // True if the job spills its objects; false if it reads them back.
    bool leaves = false;
    // File that is written; 0 if all objects have copies in files.
    uint64_t file = 0;
    std::vector<HostStore::Ref> objects;
    // Chunks and checksums of the spilled objects without copies, in their
    // order.
    std::vector<SpillDisk::Chunk> chunks;
    std::vector<uint32_t> crcs;
    // Memory of the objects that are read back.
    std::vector<Arena::Segment> segments;
    // One per object that is read back, or one for the written file.
    std::vector<absl::Status> statuses;
  };

  bool MayLeave(const Object& object) const;
  // Returns the least recently used objects that may be spilled and fit the
  // files' bound: one large or several small ones. `smallest` becomes the
  // smallest size of the objects seen that may be spilled; unchanged if there
  // are none.
  std::vector<Object*> Choose(uint64_t coming, uint64_t* smallest) const;
  static uint64_t BytesToWrite(const std::vector<Object*>& objects);
  void FinishWrite(Job* job);
  void FinishRead(Job* job);
  absl::Status ReadBack(const Object& object, char* to) const;
  // Drops the copy of an object in a file, if there is one.
  void Forget(Object* object);
  // Drops the copies of all objects in memory.
  void ForgetCopies();

  HostStore& store_;
  Arena& arena_;
  const std::unique_ptr<SpillDisk> disk_;
  const uint64_t bound_;  // limit of spilled_bytes_ + copied_bytes_
  const double begin_, end_;
  const Run run_;
  std::unique_ptr<Job> job_;
  std::map<uint64_t, uint64_t> files_;  // number of objects in each file
  uint64_t last_file_ = 0;
  uint64_t spilled_bytes_ = 0;
  uint64_t copied_bytes_ = 0;  // copies in files of objects in memory
  absl::Status failed_, lack_;
  mutable bool is_sinking_ = false;  // above the lower mark, after the upper
};

}  // namespace pathways

#endif  // RUNTIME_STORE_SPILLER_H_
