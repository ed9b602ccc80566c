//===- tenant.h - A client that makes the calls of a scenario ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_TENANT_H_
#define UNITTESTS_RUNTIME_SIMULATE_TENANT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/client/client.h"
#include "runtime/proto/plan.pb.h"
#include "unittests/runtime/simulate/scenario.pb.h"

namespace pathways::simulate {

// What came of a call.
struct Outcome {
  Kind kind = NOTHING;
  bool made = false;  // false: the object of the call was missing
  absl::Status status;
  uint64_t bits = 0;  // hash of the returned values; 0: none
};

// Makes the calls of a tenant, one after the other.
class TenantRun {
 public:
  // Waits for virtual time to go by.
  using Sleep = std::function<void(uint64_t ns)>;

  // `plans`, and which of their results are vague, whose values do not count:
  // by program. All outlive it. `undisturbed`: as Scenario says.
  TenantRun(Client* client, const Tenant& tenant, bool undisturbed,
            const std::vector<proto::Plan>& plans,
            const std::vector<std::set<int>>& vague, Sleep sleep)
      : client_(*client),
        tenant_(tenant),
        undisturbed_(undisturbed),
        plans_(plans),
        vague_(vague),
        sleep_(std::move(sleep)) {}

  // `before` each call.
  void Run(const std::function<void(const Call&)>& before);
  // By id.
  const std::map<uint32_t, Outcome>& outcomes() const { return outcomes_; }

 private:
  void Make(const Call& call, Outcome* outcome);
  absl::Status Load(const Call& call);
  absl::Status Unload(const Call& call);
  absl::Status Reserve(const Call& call);
  absl::Status Launch(const Call& call, Outcome* outcome);
  absl::Status RunToEnd(const Call& call, Outcome* outcome);
  absl::Status GiveWay();

  Client& client_;
  const Tenant& tenant_;
  const bool undisturbed_;
  const std::vector<proto::Plan>& plans_;
  const std::vector<std::set<int>>& vague_;
  const Sleep sleep_;
  std::map<uint32_t, Outcome> outcomes_;
  // A program, by the call that loaded it.
  struct Loaded {
    ProgramHandle handle;
    uint32_t program = 0;
    std::vector<ProgramHandle> also;
  };
  std::map<uint32_t, Loaded> loaded_;
  std::map<uint32_t, SliceHandle> slices_;
  struct Launched {
    RunHandle handle;
    uint32_t program = 0;
  };
  struct Kept {
    ArrayHandle handle;
    bool vague = false;
  };
  std::map<uint32_t, Launched> runs_;
  std::map<uint32_t, Kept> arrays_;
  bool suspended_ = false;  // and cannot be resumed
};

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_TENANT_H_
