//===- flag_barrier.h - Barrier for small collectives -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices of one host may contribute only a few bytes to a collective; then the
// latency between two workers dominates. So each cohort has a cell, a cache
// line that it alone writes: the contributions of its devices, and a mark that
// all of them have arrived. Each cohort reads the cells of the others and
// combines for itself, so two workers that arrive at the same time exchange two
// cache lines at the same time.
//
// The device that arrives last in its cohort is the leader: it polls the cells,
// combines, and notifies the devices of its cohort. After polling for long
// enough it parks: it says so in its cell, and a leader that finds that all
// cohorts have arrived sends it a message.
//
// All collectives of a program that are alike for the same members share one
// barrier, which thus stays in the L1 caches. Devices run them in one order,
// and meetings are counted: meeting m uses cell m mod 2 of each cohort. A
// cohort writes a cell for m + 2 only after it has left m + 1, so all cohorts
// had arrived at m + 1, and each of their devices had left m. Hence no device
// still reads what the cell had at m.
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
// arrives once at each meeting, and at the next one only after it has left. The
// leader leaves once all cohorts have arrived; the other devices leave when the
// leader has notified them.
class FlagBarrier {
 public:
  // Bytes of a cohort's contributions, and of a result, that fit without other
  // memory.
  static constexpr uint64_t kCellBytes = 48;
  static constexpr uint64_t kResultBytes = 16;
  // Small, because each leader polls all cells.
  static constexpr size_t kMaxCohorts = 16;

  // The members of one cohort, one per device.
  struct Members {
    std::vector<uint32_t> devices, ranks;
  };
  // `bytes`: contribution of one member. `result_bytes`: size of the shared
  // result; 0 if every member computes its own.
  FlagBarrier(std::vector<Members> cohorts, uint64_t bytes,
              uint64_t result_bytes);

  // Bytes of additional memory. If values have memory, SetMemory must be called
  // before the first meeting.
  uint64_t memory_bytes() const { return 2 * slot_bytes_ + result_bytes_; }
  void SetMemory(char* memory);

  uint32_t cohorts() const { return static_cast<uint32_t>(cohorts_.size()); }
  absl::Span<const uint32_t> devices(uint32_t cohort) const {
    return cohorts_[cohort].devices;
  }

  // Returns the address at which the cohort's member at index `place`
  // contributes to the next meeting.
  char* contribution(uint32_t cohort, uint32_t place) const {
    const Local& local = local_[cohort];
    return AddressAt(local.contributions[local.met & 1], place * bytes_);
  }
  // Records that a device has arrived, poisoned if `poison`, after its whole
  // contribution was written. Returns true if it is the last of its cohort, and
  // thus its leader.
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
    // Sequentially consistent, and thus before the loads of other cells'
    // `arrived` and `waits`; see Park.
    own.arrived.store(Mark(local) | (local.found_poison ? kPoison : 0),
                      std::memory_order_seq_cst);
    return true;
  }

  // The functions below concern the meeting at which the cohort's leader has
  // arrived. The leader calls Look until it returns true: all cohorts have
  // arrived, and their contributions are visible.
  bool Look(uint32_t cohort) {
    Local& local = local_[cohort];
    for (; local.looked < cohorts_.size(); ++local.looked) {
      // Skip the own cell: other cores may hold its line by now, and reading
      // would take it back.
      if (local.looked == cohort) continue;
      const uint64_t arrived = cell(local.looked, local.met - 1)
                                   .arrived.load(std::memory_order_seq_cst);
      if ((arrived & ~kPoison) != Mark(local)) return false;
      local.found_poison |= (arrived & kPoison) != 0;
    }
    return true;
  }
  // Called by a leader that stops polling. Returns true if all cohorts have
  // arrived. Returns false if another leader will notify this one, exactly
  // once.
  bool Park(uint32_t cohort);
  // Called by a leader that knows that all cohorts have arrived. Returns true
  // if it must notify the leader of cohort `other`; true once per parked
  // leader.
  bool MustWake(uint32_t cohort, uint32_t other);
  uint32_t leader(uint32_t cohort) const { return local_[cohort].leader; }
  // Valid once the cohort's leader knows that all have arrived. found_poison:
  // whether any member was poisoned; operands: contributions by rank; result:
  // where the leader combines them for its cohort.
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
  // On a miss, a core may also fetch the other line of the pair, and so take it
  // from the core that writes it.
  static constexpr size_t kPairBytes = 2 * kLineBytes;

  struct alignas(kLineBytes) Cell {
    std::atomic<uint64_t> arrived{0};  // Mark of the meeting, and kPoison
    std::atomic<uint64_t> waits{0};  // Mark while the leader is parked; else 0
    alignas(16) char contributions[kCellBytes];
  };
  static_assert(sizeof(Cell) == kLineBytes);
  struct alignas(kPairBytes) Cells {
    Cell of[2];
  };
  // State that no other cohort touches.
  struct alignas(kPairBytes) Local {
    uint32_t devices = 0;
    uint32_t arrived = 0;
    uint64_t met = 0;  // meetings at which all devices have arrived
    uint32_t leader = 0;
    uint32_t looked = 0;  // cells found to have arrived
    bool poison = false;  // true if a device that arrived is poisoned
    bool found_poison = false;
    char* contributions[2] = {nullptr, nullptr};
    char* result = nullptr;
    LineVector<const char*> operands[2];
    alignas(16) char own_result[kResultBytes] = {};
    // Contributions, which are copied to the cell at once when all devices have
    // arrived. Otherwise polling cohorts would take the line away after each
    // device's write.
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
  uint64_t slot_bytes_ = 0, result_bytes_ = 0;  // sizes of all cohorts' memory
  LineVector<Local> local_;
  LineVector<Cells> cells_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_FLAG_BARRIER_H_
