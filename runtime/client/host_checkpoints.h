//===- host_checkpoints.h - Checkpoints of a run on other hosts -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_HOST_CHECKPOINTS_H_
#define RUNTIME_CLIENT_HOST_CHECKPOINTS_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/Options.h"
#include "runtime/client/handles.h"
#include "runtime/topology/topology.h"

namespace pathways {

class Client;
class PreparedPlan;

// Checkpoints arrays that a program carries from step to step, on hosts that it
// is not on. A program of its own (MakeCopyPlan) copies them from host to host,
// scheduled on the devices like any other. It is loaded, and so has its memory,
// from Prepare on, and is reloaded if the program has moved or a host of the
// copies is gone. One thread calls it; the client and the program outlive it.
class HostCheckpoints {
 public:
  // `stopping` returns true once calls of the client that wait get no answer.
  HostCheckpoints(Client* client, const Topology* topology,
                  std::function<bool()> stopping, ProgramHandle program)
      : client_(*client),
        topology_(*topology),
        stopping_(std::move(stopping)),
        program_(program) {}
  ~HostCheckpoints() { Drop(); }
  HostCheckpoints(const HostCheckpoints&) = delete;
  HostCheckpoints& operator=(const HostCheckpoints&) = delete;

  // Loads the copy program. Returns errors of MakeCopyPlan and Client::Load.
  absl::Status Prepare(const LoadOptions& load);
  // Copies those of `arrays`, which are by argument, that the program carries.
  // Waits until they are complete. The caller releases the copies. Returns
  // errors of Prepare, or why the arrays could not be copied; no copy is left
  // then.
  absl::StatusOr<std::vector<ArrayHandle>> Copy(
      const std::vector<ArrayHandle>& arrays);
  // Unloads the copy program until the next call. Copies stay.
  void Drop();

 private:
  // Returns true if that argument of the program is carried, and so copied.
  bool IsCarried(size_t argument) const;
  absl::StatusOr<std::vector<ArrayHandle>> CopyOnce(
      const std::vector<ArrayHandle>& arrays);

  Client& client_;
  const Topology& topology_;
  const std::function<bool()> stopping_;
  const ProgramHandle program_;
  std::optional<ProgramHandle> copies_;
  std::shared_ptr<const PreparedPlan> source_;  // plan that `copies_` is for
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_HOST_CHECKPOINTS_H_
