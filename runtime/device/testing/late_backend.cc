//===- late_backend.cc - Late backend for tests ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/testing/late_backend.h"

#include <utility>
#include <vector>

#include "runtime/world/mix.h"

namespace pathways::testing {
namespace {

constexpr uint64_t kMaxDelayNs = 20'000;

class Late final : public DeviceBackends {
 public:
  bool has_values() const override { return true; }
  std::unique_ptr<DeviceBackend> Make(World* world, const Actor* self,
                                      Cohort* cohort,
                                      uint64_t place) const override {
    return std::make_unique<LateBackend>(world, self, cohort, place);
  }
};

}  // namespace

LateBackend::LateBackend(World* world, const Actor* self, Cohort* cohort,
                         uint64_t place)
    : DeviceBackend(world->simulated(), /*cpu=*/nullptr),
      world_(world),
      self_(*self),
      cpu_(world->simulated(), cohort, place),
      seed_(place) {}

uint32_t LateBackend::Run(const SegmentRun& run) {
  uint32_t kernels = 0;
  for (uint32_t k = 0; k < run.gang->shards; ++k) kernels += !run.skips(k);
  std::vector<uint8_t> poisoned;
  if (run.poisoned != nullptr) {
    poisoned.assign(run.poisoned, run.poisoned + run.gang->shards);
  }
  work_.push_back([this, run, poisoned = std::move(poisoned)] {
    SegmentRun now = run;
    now.poisoned = poisoned.empty() ? nullptr : poisoned.data();
    cpu_.Run(now);
    for (const SegmentFailure& failure : std::exchange(cpu_.failures(), {})) {
      failures().push_back(failure);
    }
  });
  return kernels;
}

void LateBackend::Copy(const BoxCopy& copy) {
  work_.push_back([this, copy] { cpu_.Copy(copy); });
}

void LateBackend::CopyBytes(const char* from, uint64_t bytes, char* to) {
  work_.push_back([this, from, bytes, to] { cpu_.CopyBytes(from, bytes, to); });
}

void LateBackend::Fill(const BufferFill& fill) {
  work_.push_back([this, fill] { cpu_.Fill(fill); });
}

void LateBackend::Combine(const GroupResult& work) {
  work_.push_back([this, work] { cpu_.Combine(work); });
}

void LateBackend::CombineShare(const GroupShare& work) {
  work_.push_back([this, work] { cpu_.CombineShare(work); });
}

void LateBackend::Contribute(const GroupShare& work, const char* source) {
  work_.push_back([this, work, source] { cpu_.Contribute(work, source); });
}

void LateBackend::TakeResult(const GroupShare& work, char* result) {
  work_.push_back([this, work, result] { cpu_.TakeResult(work, result); });
}

bool LateBackend::Record(const LocalMessage& done) {
  if (work_.empty()) return true;
  LocalMessage message = done;
  message.extra = done_ + work_.size();
  const uint64_t delay = Mix(seed_, ++events_) % kMaxDelayNs;
  world_->SendAfter(self_.local_id(), self_.local_id(),
                    static_cast<TimeNs>(delay), message);
  return false;
}

void LateBackend::OnDone(const LocalMessage& done) {
  for (; done_ < done.extra; ++done_) {
    work_.front()();
    work_.pop_front();
  }
}

const DeviceBackends& LateBackends() {
  static const Late* const backends = new Late;
  return *backends;
}

}  // namespace pathways::testing
