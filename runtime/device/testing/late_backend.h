//===- late_backend.h - Work that is done later, for tests ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the CPU does, but not before an event behind it comes, and each comes
// after a time of its own: whoever does not wait reads what is not there yet.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_TESTING_LATE_BACKEND_H_
#define RUNTIME_DEVICE_TESTING_LATE_BACKEND_H_

#include <cstdint>
#include <deque>
#include <functional>

#include "runtime/device/cpu_backend.h"
#include "runtime/device/device_backend.h"

namespace pathways::testing {

// Events may come in another order than they were recorded in, as messages do;
// one that comes has all work before it done.
class LateBackend final : public DeviceBackend {
 public:
  LateBackend(World* world, const Actor* self, Cohort* cohort, uint64_t place);

  uint32_t Run(const SegmentRun& run) override;
  void Copy(const BoxCopy& copy) override;
  void CopyBytes(const char* from, uint64_t bytes, char* to) override;
  void Fill(const BufferFill& fill) override;
  void Combine(const GroupResult& work) override;
  void CombineShare(const GroupShare& work) override;
  void Contribute(const GroupShare& work, const char* source) override;
  void TakeResult(const GroupShare& work, char* result) override;
  bool Record(const LocalMessage& done) override;
  void OnDone(const LocalMessage& done) override;

  size_t num_waiting() const { return work_.size(); }

 private:
  World* const world_;
  const Actor& self_;
  CpuBackend cpu_;
  std::deque<std::function<void()>> work_;  // that is not done
  uint64_t done_ = 0;                       // pieces of work, of all times
  uint64_t events_ = 0;
  const uint64_t seed_;
};

const DeviceBackends& LateBackends();

}  // namespace pathways::testing

#endif  // RUNTIME_DEVICE_TESTING_LATE_BACKEND_H_
