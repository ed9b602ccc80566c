//===- quotas.h - Quotas of clients -----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_QUOTAS_H_
#define RUNTIME_CONTROLLER_QUOTAS_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/launch_spec.h"
#include "runtime/resources/admission.h"
#include "runtime/resources/load_queue.h"
#include "runtime/resources/object_table.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Compares what clients have, and ask for, with their quotas: the bytes of
// programs and slices on devices, and of arrays on hosts. All checks return
// ResourceExhausted if the quota would be exceeded, and Cancelled if the client
// is not connected. One owner calls it; it changes nothing.
class Quotas {
 public:
  // All arguments must outlive the object.
  Quotas(const Topology& topology, const ClientTable& clients,
         const ObjectTable& objects, const Admission& admission)
      : topology_(topology),
        clients_(clients),
        objects_(objects),
        admission_(admission) {}

  // Checks the device memory of a load of programs or slices.
  absl::Status CheckLoad(const LoadQueue::Load& load) const;
  // Checks the arrays that the launch of `plan` creates.
  absl::Status CheckLaunch(const LaunchSpec& spec,
                           const PreparedPlan& plan) const;

 private:
  // Checks `need` more bytes. Calls `need` only if there is a quota, and `what`
  // for the message.
  absl::Status Check(uint32_t client, absl::FunctionRef<uint64_t()> need,
                     absl::FunctionRef<std::string()> what) const;

  const Topology& topology_;
  const ClientTable& clients_;
  const ObjectTable& objects_;
  const Admission& admission_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_QUOTAS_H_
