//===- device_backend.h - What a device's work is done by -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Device knows what comes when, and of which addresses; a backend does it:
// segments of gangs, copies, fills, and what collectives combine. Work is done
// in the order in which it was given, and an event behind it says when. The CPU
// is done before a call returns; others tell the device by a message.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_BACKEND_H_
#define RUNTIME_DEVICE_DEVICE_BACKEND_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/program/host_program.h"
#include "runtime/world/world.h"

namespace pathways {

class CpuBackend;
class Cohort;

// One step of a gang, of all co-resident shards but those that are poisoned.
struct SegmentRun {
  const DeviceProgram* program = nullptr;
  const Gang* gang = nullptr;
  const GangStepTable* step = nullptr;
  uint64_t firing = 0;
  uint64_t step_index = 0;
  uint32_t gang_index = 0;            // in the queue of its program
  const uint8_t* poisoned = nullptr;  // by shard; null: none is

  bool skips(uint32_t shard) const {
    return poisoned != nullptr && poisoned[shard] != 0;
  }
};

// A kernel that returned a code other than 0.
struct SegmentFailure {
  uint32_t incarnation = 0;  // of its program
  uint32_t shard = 0;        // of the gang's here
  int32_t code = 0;
};

// A box of one dense array that becomes a box of another; both as large.
struct BoxCopy {
  const char* from = nullptr;
  const std::vector<int64_t>* from_shape = nullptr;
  const std::vector<int64_t>* from_offset = nullptr;
  char* to = nullptr;
  const std::vector<int64_t>* to_shape = nullptr;
  const std::vector<int64_t>* to_offset = nullptr;
  const std::vector<int64_t>* extent = nullptr;
  int64_t element_bytes = 1;
};

// What a buffer has that nothing brings.
struct BufferFill {
  RecvOp::Fill fill = RecvOp::kNone;
  const PreparedBuffer* buffer = nullptr;
  const std::vector<int64_t>* valid = nullptr;  // of kPadding: what stays
  char* to = nullptr;
};

// What all members of a group that is here get; see CombineCollective.
struct GroupResult {
  const CollectiveShape* shape = nullptr;
  int64_t rank = 0;
  const char* const* contributions = nullptr;
  char* result = nullptr;
};

// A device's part in a group that is combined in place, or in the exchange of
// one with members on other hosts.
struct GroupShare {
  const CollectiveShape* shape = nullptr;
  const HostGroup* group = nullptr;
  uint32_t member = 0;  // in place: the device's number; else its own place
  uint64_t firing = 0;
};

// The work of one device. What is pointed to stays, and addresses mean the
// same, until the event behind the work has come. Where values have no memory,
// addresses mean nothing. The device's actor alone calls it, between the begin
// and the end of a handler.
class DeviceBackend {
 public:
  DeviceBackend(bool costs, CpuBackend* cpu) : costs_(costs), cpu_(cpu) {}
  virtual ~DeviceBackend() = default;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;

  // Returns how many kernels that runs.
  virtual uint32_t Run(const SegmentRun& run) = 0;
  virtual void Copy(const BoxCopy& copy) = 0;
  virtual void CopyBytes(const char* from, uint64_t bytes, char* to) = 0;
  virtual void Fill(const BufferFill& fill) = 0;
  virtual void Combine(const GroupResult& work) = 0;
  virtual void CombineShare(const GroupShare& work) = 0;
  // To the exchange's memory, and from it.
  virtual void Contribute(const GroupShare& work, const char* source) = 0;
  virtual void TakeResult(const GroupShare& work, char* result) = 0;

  // An event behind all work so far. True: it is done. Else the device is sent
  // `done`, and calls OnDone with it, once.
  virtual bool Record(const LocalMessage& done) = 0;
  virtual void OnDone(const LocalMessage& done) { (void)done; }

  // Of what was run and is done; empty: all went well. Cleared by the device.
  std::vector<SegmentFailure>& failures() { return failures_; }
  // Whether gangs take the virtual time that the plan says.
  bool costs() const { return costs_; }
  // This, if it is the CPU's, whose calls then need not be virtual; else null.
  CpuBackend* cpu() const { return cpu_; }

 private:
  const bool costs_;
  CpuBackend* const cpu_;
  std::vector<SegmentFailure> failures_;
};

// Does nothing: where values have no memory.
class NoBackend : public DeviceBackend {
 public:
  explicit NoBackend(bool costs) : DeviceBackend(costs, /*cpu=*/nullptr) {}

  uint32_t Run(const SegmentRun&) override { return 0; }
  void Copy(const BoxCopy&) override {}
  void CopyBytes(const char*, uint64_t, char*) override {}
  void Fill(const BufferFill&) override {}
  void Combine(const GroupResult&) override {}
  void CombineShare(const GroupShare&) override {}
  void Contribute(const GroupShare&, const char*) override {}
  void TakeResult(const GroupShare&, char*) override {}
  bool Record(const LocalMessage&) override { return true; }
};

// What the devices of a process are made of. Any thread.
class DeviceBackends {
 public:
  virtual ~DeviceBackends() = default;
  // False: values have sizes but no bytes, and no plan's code is loaded.
  virtual bool has_values() const = 0;
  // For the device `self`, at `place` for gates. Nothing of it is owned.
  virtual std::unique_ptr<DeviceBackend> Make(World* world, const Actor* self,
                                              Cohort* cohort,
                                              uint64_t place) const = 0;
};

// Kernels and copies happen where they are asked for.
const DeviceBackends& CpuBackends();
// Nothing happens, in no memory.
const DeviceBackends& NoBackends();

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_BACKEND_H_
