//===- device_backend.cc - Interface of a device's backend ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/device_backend.h"

#include "runtime/device/cpu_backend.h"

namespace pathways {
namespace {

class Cpus final : public DeviceBackends {
 public:
  bool has_values() const override { return true; }
  std::unique_ptr<DeviceBackend> Make(World* world, const Actor*,
                                      Cohort* cohort,
                                      uint64_t place) const override {
    return std::make_unique<CpuBackend>(world->simulated(), cohort, place);
  }
};

class Nothing final : public DeviceBackends {
 public:
  bool has_values() const override { return false; }
  std::unique_ptr<DeviceBackend> Make(World* world, const Actor*, Cohort*,
                                      uint64_t) const override {
    return std::make_unique<NoBackend>(world->simulated());
  }
};

}  // namespace

const DeviceBackends& CpuBackends() {
  static const Cpus* const backends = new Cpus;
  return *backends;
}

const DeviceBackends& NoBackends() {
  static const Nothing* const backends = new Nothing;
  return *backends;
}

}  // namespace pathways
