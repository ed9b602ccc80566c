//===- flag_barrier.h - Where little is combined ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the devices of one host contribute to a collective may be a few bytes;
// then it is the way between two workers that costs. So each cohort has a cell,
// a cache line that it alone writes: what its devices contribute, and that they
// have all arrived. It looks at the cells of the others and combines for
// itself: two workers that come at one time trade two lines, at one time.
//
// The device that arrives last in its cohort leads it: it looks, combines, and
// tells those of its cohort. When it has looked for long enough, it says so in
// its cell, and the leader that finds all there sends it a message.
//
// All collectives of a program that are alike for the same members meet in one
// place, which so stays in the processors' nearest caches. Devices do them in
// one order, and meetings are counted: number m uses cells m mod 2. Whoever
// writes to one for m + 2 has left m + 1, so all cohorts had arrived there, and
// each of their devices had left m: nobody reads or awaits what the cell had.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_FLAG_BARRIER_H_
#define RUNTIME_PROGRAM_FLAG_BARRIER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/line_allocator.h"
#include "runtime/program/slot_ref.h"

namespace pathways {

// Calls that name a cohort are made on its worker. Each device of a cohort
// arrives once at each meeting, and at the next one when it has left: the
// leader, once all are there; others when it has told them.
class FlagBarrier {
 public:
  // Of a cohort's contributions, or of a result, what needs no other memory.
  static constexpr uint64_t kCellBytes = 48;
  static constexpr uint64_t kResultBytes = 16;
  // Each leader looks at all cells.
  static constexpr size_t kMaxCohorts = 16;

  // Members of one cohort, a device each.
  struct Members {
    std::vector<uint32_t> devices, ranks;
  };
  // Each contributes so many bytes. `result_bytes`: of what is the same for
  // all; 0: each makes its own.
  FlagBarrier(std::vector<Members> cohorts, uint64_t bytes,
              uint64_t result_bytes);

  // What it needs besides, and has it before the first meeting if values have
  // memory.
  uint64_t memory_bytes() const { return 2 * slot_bytes_ + result_bytes_; }
  void SetMemory(char* memory);

  uint32_t cohorts() const { return static_cast<uint32_t>(cohorts_.size()); }
  absl::Span<const uint32_t> devices(uint32_t cohort) const {
    return cohorts_[cohort].devices;
  }

  // Where the cohort's member at `place` contributes to the next meeting.
  char* contribution(uint32_t cohort, uint32_t place) const {
    const Local& local = local_[cohort];
    return AddressAt(local.contributions[local.met & 1], place * bytes_);
  }
  // A device has arrived, `poison` or not, and all that it contributes is
  // there. Whether it is the last of its cohort, and so its leader.
  bool Arrive(uint32_t cohort, uint32_t device, bool poison) {
    Local& local = local_[cohort];
    local.poison |= poison;
    if (++local.arrived < local.devices) return false;
    local.leader = device;
    local.arrived = local.looked = 0;
    local.found_poison = local.poison;
    local.poison = false;
    Cell& own = cell(cohort, local.met);
    std::memcpy(own.contributions, local.staged, kCellBytes);
    ++local.met;
    // Before the looks at other cells, and at who waits, in the order of all.
    own.arrived.store(Mark(local) | (local.found_poison ? kPoison : 0),
                      std::memory_order_seq_cst);
    return true;
  }

  // These are of the meeting at which the cohort's leader has arrived. By that,
  // until it returns true: whether all cohorts have arrived. What they
  // contribute is seen then.
  bool Look(uint32_t cohort) {
    Local& local = local_[cohort];
    for (; local.looked < cohorts_.size(); ++local.looked) {
      // Its own is the others' by now, and is best left there.
      if (local.looked == cohort) continue;
      const uint64_t arrived = cell(local.looked, local.met - 1)
                                   .arrived.load(std::memory_order_seq_cst);
      if ((arrived & ~kPoison) != Mark(local)) return false;
      local.found_poison |= (arrived & kPoison) != 0;
    }
    return true;
  }
  // By a leader that looks no more. True: all have arrived. False: it will be
  // told, once.
  bool Park(uint32_t cohort);
  // By a leader that knows that all have arrived: whether another cohort's is
  // to be told so. Once for each that is.
  bool MustWake(uint32_t cohort, uint32_t other);
  uint32_t leader(uint32_t cohort) const { return local_[cohort].leader; }
  // Once its leader knows that all have arrived: whether any was poisoned;
  // contributions by rank; and where the leader combines them, for the cohort.
  bool found_poison(uint32_t cohort) const {
    return local_[cohort].found_poison;
  }
  const char* const* operands(uint32_t cohort) const {
    const Local& local = local_[cohort];
    return local.operands[(local.met - 1) & 1].data();
  }
  char* result(uint32_t cohort) const { return local_[cohort].result; }

 private:
  static constexpr uint64_t kPoison = 1;
  // With a line that it misses a core may fetch the other of its pair, and take
  // that away from who writes it.
  static constexpr size_t kPairBytes = 2 * kLineBytes;

  struct alignas(kLineBytes) Cell {
    std::atomic<uint64_t> arrived{0};  // Mark of the meeting, and kPoison
    std::atomic<uint64_t> waits{0};    // Mark of the meeting; 0: does not
    alignas(16) char contributions[kCellBytes];
  };
  static_assert(sizeof(Cell) == kLineBytes);
  struct alignas(kPairBytes) Cells {
    Cell of[2];
  };
  // What no other cohort touches.
  struct alignas(kPairBytes) Local {
    uint32_t devices = 0;
    uint32_t arrived = 0;
    uint64_t met = 0;  // meetings at which all of them have arrived
    uint32_t leader = 0;
    uint32_t looked = 0;  // cells that were found there
    bool poison = false;  // of those that have arrived
    bool found_poison = false;
    char* contributions[2] = {nullptr, nullptr};
    char* result = nullptr;
    LineVector<const char*> operands[2];
    alignas(16) char own_result[kResultBytes] = {};
    // What goes to the cell when all are there, in one go: those who look at it
    // already would take it away after each device.
    alignas(16) char staged[kCellBytes] = {};
  };

  static uint64_t Mark(const Local& local) { return 2 * local.met; }
  Cell& cell(size_t cohort, uint64_t meeting) {
    return cells_[cohort].of[meeting & 1];
  }
  void FindOperands();

  const std::vector<Members> cohorts_;
  const uint64_t bytes_;
  const bool shared_;
  uint64_t slot_bytes_ = 0, result_bytes_ = 0;  // of all cohorts
  LineVector<Local> local_;
  LineVector<Cells> cells_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_FLAG_BARRIER_H_
