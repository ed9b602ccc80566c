//===- device_backend.h - Interface of a device's backend -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Device decides what runs when, and at which addresses. A backend does the
// work: segments of gangs, copies, fills, and the combining of collectives. It
// does work in the order in which it was given, and an event recorded after the
// work reports its end. The CPU backend is done before a call returns; others
// notify the device by a message.
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

// One step of a gang on all co-resident shards, except poisoned ones.
struct SegmentRun {
  const DeviceProgram* program = nullptr;
  const Gang* gang = nullptr;
  const GangStepTable* step = nullptr;
  uint64_t firing = 0;
  uint64_t step_index = 0;
  uint32_t gang_index = 0;  // index in the queue of its program
  // Indexed by shard; null: none is poisoned.
  const uint8_t* poisoned = nullptr;

  bool skips(uint32_t shard) const {
    return poisoned != nullptr && poisoned[shard] != 0;
  }
};

// A kernel that returned a code other than 0.
struct SegmentFailure {
  uint32_t incarnation = 0;  // incarnation of its program
  uint32_t shard = 0;        // index among the gang's shards on the device
  int32_t code = 0;
};

// Copy of a box of one dense array to a box of equal size in another.
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

// Values of the elements of a buffer that no piece brings.
struct BufferFill {
  RecvOp::Fill fill = RecvOp::kNone;
  const PreparedBuffer* buffer = nullptr;
  // kPadding: the box that stays unchanged.
  const std::vector<int64_t>* valid = nullptr;
  char* to = nullptr;
};

// Result of a group whose members are all on this host; see CombineCollective.
struct GroupResult {
  const CollectiveShape* shape = nullptr;
  int64_t rank = 0;
  const char* const* contributions = nullptr;
  char* result = nullptr;
};

// A device's part in a group that is combined in place, or in the exchange of a
// group that spans hosts.
struct GroupShare {
  const CollectiveShape* shape = nullptr;
  const HostGroup* group = nullptr;
  // In place: index of the device in HostGroup::locals. Otherwise:
  // CollectiveMember::own.
  uint32_t member = 0;
  uint64_t firing = 0;
};

// The work of one device. Objects passed by pointer stay alive, and addresses
// stay valid, until the event after the work has come. Addresses are
// meaningless if values have no memory. Only the device's actor calls a
// backend, from within a handler.
class DeviceBackend {
 public:
  DeviceBackend(bool costs, CpuBackend* cpu) : costs_(costs), cpu_(cpu) {}
  virtual ~DeviceBackend() = default;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;

  // Returns the value of the guard at this address, which earlier work, that
  // is done, has written. True if values have no memory.
  virtual bool ReadGuard(const char* guard) const = 0;
  // Returns the number of kernels that the run executes.
  virtual uint32_t Run(const SegmentRun& run) = 0;
  virtual void Copy(const BoxCopy& copy) = 0;
  virtual void CopyBytes(const char* from, uint64_t bytes, char* to) = 0;
  virtual void Fill(const BufferFill& fill) = 0;
  virtual void Combine(const GroupResult& work) = 0;
  virtual void CombineShare(const GroupShare& work) = 0;
  // Copy a contribution to the exchange's memory, and a result from it.
  virtual void Contribute(const GroupShare& work, const char* source) = 0;
  virtual void TakeResult(const GroupShare& work, char* result) = 0;

  // Records an event after all work so far. Returns true if that work is done.
  // Otherwise the device later receives `done` as a message, and must call
  // OnDone with it once.
  virtual bool Record(const LocalMessage& done) = 0;
  virtual void OnDone(const LocalMessage& done) { (void)done; }

  // Failures of completed runs; empty: all succeeded. The device clears it.
  std::vector<SegmentFailure>& failures() { return failures_; }
  // Returns true if gangs take the virtual time that the plan gives.
  bool costs() const { return costs_; }
  // Returns this object if it is the CPU's backend, whose calls then need not
  // be virtual; else null.
  CpuBackend* cpu() const { return cpu_; }

 private:
  const bool costs_;
  CpuBackend* const cpu_;
  std::vector<SegmentFailure> failures_;
};

// Backend without effects, used where values have no memory.
class NoBackend : public DeviceBackend {
 public:
  explicit NoBackend(bool costs) : DeviceBackend(costs, /*cpu=*/nullptr) {}

  bool ReadGuard(const char*) const override { return true; }
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

// Factory of the devices' backends in a process. Any thread may call it.
class DeviceBackends {
 public:
  virtual ~DeviceBackends() = default;
  // False: values have sizes but no bytes, and no plan's code is loaded.
  virtual bool has_values() const = 0;
  // Makes the backend of device `self`, which is at `place` for gates. Does not
  // own what the pointers point to.
  virtual std::unique_ptr<DeviceBackend> Make(World* world, const Actor* self,
                                              Cohort* cohort,
                                              uint64_t place) const = 0;
};

// Run kernels and copies synchronously.
const DeviceBackends& CpuBackends();
// Have no effect and no memory.
const DeviceBackends& NoBackends();

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_BACKEND_H_
