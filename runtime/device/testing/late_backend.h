//===- late_backend.h - Late backend for tests ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does what the CPU backend does, but only when an event recorded after the
// work comes, each after a delay of its own. A device that does not wait thus
// reads values that do not exist yet.
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

// Events may come in another order than they were recorded, as messages do.
// Each one completes all work that precedes it.
class LateBackend final : public DeviceBackend {
 public:
  LateBackend(World* world, const Actor* self, Cohort* cohort, uint64_t place);

  bool ReadGuard(const char* guard) const override {
    return cpu_.ReadGuard(guard);
  }
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
  std::deque<std::function<void()>> work_;  // work not done yet
  uint64_t done_ = 0;                       // total pieces of work done
  uint64_t events_ = 0;
  const uint64_t seed_;
};

const DeviceBackends& LateBackends();

}  // namespace pathways::testing

#endif  // RUNTIME_DEVICE_TESTING_LATE_BACKEND_H_
