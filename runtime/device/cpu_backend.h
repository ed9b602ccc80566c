//===- cpu_backend.h - Backend of the CPU -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_BACKEND_H_
#define RUNTIME_DEVICE_CPU_BACKEND_H_

#include <cstring>

#include "runtime/device/cohort.h"
#include "runtime/device/device_backend.h"

namespace pathways {

// Consecutive plain gangs of one program, each of one shard and one kernel.
struct PlainRun {
  const DeviceProgram* program = nullptr;
  size_t first = 0, end = 0;  // gangs
  uint64_t firing = 0;
  uint64_t step_index = 0;
  TimeNs firing_ns = 0;  // cost of a firing besides its kernel
  // Time left of the turn; no gang begins when it is used up.
  TimeNs left = 0;
  int32_t code = 0;  // code of the gang that failed; 0: none did

  // On return: index after the last gang that succeeded.
  size_t done = 0;
};

// Runs work synchronously on the device's own worker. The class is final, so a
// caller that knows the type makes no virtual calls.
class CpuBackend final : public DeviceBackend {
 public:
  CpuBackend(bool costs, Cohort* cohort, uint64_t place)
      : DeviceBackend(costs, this), cohort_(cohort), place_(place) {}

  bool ReadGuard(const char* guard) const override { return *guard != 0; }
  uint32_t Run(const SegmentRun& run) override;
  void Copy(const BoxCopy& copy) override;
  void CopyBytes(const char* from, uint64_t bytes, char* to) override {
    // Most contributions are a single number or a whole array.
    if (bytes == 4) {
      std::memcpy(to, from, 4);
    } else if (bytes == 8) {
      std::memcpy(to, from, 8);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
  void Fill(const BufferFill& fill) override;
  void Combine(const GroupResult& work) override;
  void CombineShare(const GroupShare& work) override;
  void Contribute(const GroupShare& work, const char* source) override;
  void TakeResult(const GroupShare& work, char* result) override;
  bool Record(const LocalMessage&) override { return true; }

  // Runs gangs while the turn lasts, up to the first that is poisoned.
  void RunPlain(PlainRun* run) const;

 private:
  Cohort* const cohort_;
  const uint64_t place_;  // place of the device, for the gate
};

inline void CpuBackend::RunPlain(PlainRun* run) const {
  const DeviceProgram& program = *run->program;
  const GangTables& queue = *program.queue;
  const uint64_t firing = run->firing;
  const uint64_t first_at = program.EntryAt(0, firing);
  const uint64_t step_index = run->step_index;
  KernelGate& gate = cohort_->gate();
  gate.Announce(place_, program.incarnation, step_index);
  const uint64_t kernels = gate.Open();
  void** const operands = cohort_->operands();
  // Local copies, which no kernel can change.
  char* const memories[] = {program.memories[0], program.memories[1]};
  const Gang* const gangs = queue.gangs.data();
  const GangStepTable* const steps = queue.steps.data();
  const SlotOffset* const all_slots = queue.slots.data();
  const int32_t* const coordinates = program.coordinates.data();
  void* const scratch = program.scratch;
  const TimeNs firing_ns = run->firing_ns;
  TimeNs left = run->left;
  const size_t end = run->end;
  size_t g = run->first;
  for (; g < end && left > 0; ++g) {
    const Gang& gang = gangs[g];
    if (program.num_poison != 0 &&
        program.poison[first_at + gang.first_entry]) {
      break;
    }
    const GangStepTable& step = steps[gang.step_begin];
    const SlotOffset* slots = all_slots + step.first_slot;
    for (uint32_t i = 0; i < step.operands; ++i) {
      operands[i] = slots[i].at_masked(memories, firing);
    }
    gate.Pass(kernels, static_cast<uint32_t>(g));
    run->code = step.function(operands, coordinates + gang.first_coordinate,
                              scratch, step_index);
    if (run->code != 0) [[unlikely]]
      break;
    left -= firing_ns + gang.cost_ns;
  }
  gate.Leave();
  run->left = left;
  run->done = g;
}

}  // namespace pathways

#endif  // RUNTIME_DEVICE_CPU_BACKEND_H_
