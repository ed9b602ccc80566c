//===- cpu_backend.cc - Backend of the CPU --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu_backend.h"

#include "runtime/plan/tables.h"

namespace pathways {

uint32_t CpuBackend::Run(const SegmentRun& run) {
  const DeviceProgram& program = *run.program;
  const GangStepTable& step = *run.step;
  const SlotOffset* slots = program.queue->slots.data() + step.first_slot;
  const int32_t* coordinates =
      program.coordinates.data() + run.gang->first_coordinate;
  KernelGate& gate = cohort_->gate();
  gate.Announce(place_, program.incarnation, run.step_index);
  void** const operands = cohort_->operands();
  uint32_t kernels = 0;
  for (uint32_t k = 0; k < run.gang->shards; ++k) {
    if (run.skips(k)) continue;
    for (uint32_t i = 0; i < step.operands; ++i) {
      operands[i] =
          slots[k * step.operands + i].at(program.memories, run.firing);
    }
    gate.Enter(run.gang_index, k);
    const int32_t code =
        step.function(operands, coordinates + k * run.gang->num_coordinates,
                      program.scratch, run.step_index);
    gate.Leave();
    ++kernels;
    if (code != 0) [[unlikely]]
      failures().push_back({program.incarnation, k, code});
  }
  return kernels;
}

void CpuBackend::Copy(const BoxCopy& copy) {
  layout::CopyBox(copy.from, *copy.from_shape, *copy.from_offset, copy.to,
                  *copy.to_shape, *copy.to_offset, *copy.extent,
                  copy.element_bytes);
}

void CpuBackend::Fill(const BufferFill& fill) {
  const PreparedBuffer& buffer = *fill.buffer;
  int64_t count = 1;
  for (int64_t size : buffer.shape) count *= size;
  if (count == 0) return;
  switch (fill.fill) {
    case RecvOp::kNone:
      return;
    case RecvOp::kPadding:
      FillPadding(buffer.shape, *fill.valid, buffer.element_bytes, fill.to);
      return;
    case RecvOp::kZero:
      std::memset(fill.to, 0, count * buffer.element_bytes);
      return;
    case RecvOp::kIdentity:
      FillIdentity(ReductionKindOf(buffer.layout.reduction), buffer.element,
                   count, fill.to);
      return;
  }
}

void CpuBackend::Combine(const GroupResult& work) {
  CombineCollective(*work.shape, work.rank, work.contributions, work.result);
}

void CpuBackend::CombineShare(const GroupShare& work) {
  pathways::CombineShare(*work.shape, *work.group, work.member, work.firing);
}

void CpuBackend::Contribute(const GroupShare& work, const char* source) {
  work.group->exchange->Contribute(*work.shape, work.member, work.firing,
                                   source);
}

void CpuBackend::TakeResult(const GroupShare& work, char* result) {
  work.group->exchange->TakeResult(*work.shape, work.member, work.firing,
                                   result);
}

}  // namespace pathways
