//===- device_kernels.cc - A device runs kernels --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>

#include "runtime/device/device.h"

namespace pathways {

bool Device::RunPlain(size_t end) {
  const GrantQueue::Head& head = queue_.head();
  DeviceProgram* program = head.program;
  const uint64_t firing = head.next;
  head_.step = 0;
  PlainRun run;
  run.program = program;
  run.first = queue_.gang_index();
  run.end = end;
  run.firing = firing;
  run.step_index = head.numbers.Of(firing);
  run.firing_ns = std::max(kFiringNs, program->gang_ns);
  run.left = turn_ns_;
  work_.cpu()->RunPlain(&run);
  const size_t count = run.done - run.first;
  FinishPlain(count, run.left);
  if (run.code == 0) return count > 0;
  // The gang has run, so it fires here, and its poison is passed on.
  const Gang& gang = program->queue->gangs[run.done];
  counters_.kernels.Add();
  AddFailure(*program, gang, /*shard=*/0, firing, run.code);
  counters_.firings.Add();
  const bool is_last = Advance(1);
  entries_.Fire(program, gang.first_entry, firing, /*poison=*/true);
  if (is_last) {
    entries_.CountFirings(program, firing, program->queue->num_shards);
  }
  return true;
}

void Device::FinishPlain(size_t count, TimeNs left) {
  if (count == 0) return;
  turn_ns_ = left;
  counters_.kernels.Add(count);
  DeviceProgram* program = queue_.head().program;
  const uint64_t firing = queue_.head().next;
  counters_.firings.Add(count);  // one shard each
  if (Advance(count)) {
    entries_.CountFirings(program, firing, program->queue->num_shards);
  }
}

bool Device::RunStep(DeviceProgram* program, const Gang& gang,
                     uint64_t firing) {
  const GangStepTable& step =
      program->queue->steps[gang.step_begin + head_.step];
  if (step.collective >= 0) {
    const CollectiveTable& table = program->queue->collectives[step.collective];
    return collectives_.Run(program, gang, table, firing);
  }
  // For a gang of one step, the gang's own event suffices. Where gangs cost
  // virtual time, kernels take none.
  const bool is_own_event =
      trace_.is_on() && gang.step_end - gang.step_begin > 1 && !costs_;
  if (!head_.issued) {
    if (is_own_event) [[unlikely]]
      trace_.KernelBegins();
    SegmentRun run;
    run.program = program;
    run.gang = &gang;
    run.step = &step;
    run.firing = firing;
    run.step_index = queue_.head().numbers.Of(firing);
    run.gang_index = static_cast<uint32_t>(queue_.gang_index());
    run.poisoned = head_.poison.any() ? head_.poison.data() : nullptr;
    counters_.kernels.Add(
        work_.Do([&](auto& backend) { return backend.Run(run); }));
    head_.issued = true;
    if (!work_.IsHeadDone(program)) return false;
  }
  head_.issued = false;
  if (!work_.backend()->failures().empty()) [[unlikely]]
    FinishKernels(*program, gang, firing);
  if (is_own_event) [[unlikely]]
    trace_.KernelEnds(*program, gang, firing, head_.step);
  ++head_.step;
  return true;
}

void Device::FinishKernels(const DeviceProgram& program, const Gang& gang,
                           uint64_t firing) {
  for (const SegmentFailure& failure :
       std::exchange(work_.backend()->failures(), {})) {
    // The program of the failure was detached meanwhile.
    if (failure.incarnation != program.incarnation) continue;
    head_.poison.Add(failure.shard);
    AddFailure(program, gang, failure.shard, firing, failure.code);
  }
}

void Device::AddFailure(const DeviceProgram& program, const Gang& gang,
                        uint32_t shard, uint64_t firing, int32_t code) {
  FirstFailure failure;
  failure.firing = firing;
  failure.action = gang.action;
  failure.shard = program.entries[gang.first_entry + shard].shard;
  failure.step = static_cast<uint32_t>(head_.step);
  failure.code = code;
  GrantAtCohort().failure.Add(failure);
}

}  // namespace pathways
