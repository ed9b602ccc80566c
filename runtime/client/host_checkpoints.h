//===- host_checkpoints.h - Checkpoints of a run on other hosts -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_HOST_CHECKPOINTS_H_
#define RUNTIME_CLIENT_HOST_CHECKPOINTS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/client_options.h"
#include "runtime/client/handles.h"

namespace pathways {

class Client;
class PreparedPlan;

// Puts arrays that a program carries from step to step by on hosts that it is
// not on, by a program of its own (MakeCopyPlan), so that they go from host to
// host, in their turn on the devices. That is loaded, and so has its memory,
// from Prepare on, and anew where the program has moved or a host of the copies
// is gone. One thread calls it; both outlive it.
class HostCheckpoints {
 public:
  HostCheckpoints(Client* client, ProgramHandle program)
      : client_(*client), program_(program) {}
  ~HostCheckpoints() { Drop(); }
  HostCheckpoints(const HostCheckpoints&) = delete;
  HostCheckpoints& operator=(const HostCheckpoints&) = delete;

  // As MakeCopyPlan and Client::Load.
  absl::Status Prepare(const LoadOptions& load);
  // Copies `arrays`, by argument of the program that is carried. Waits until
  // they are there. The caller releases them. As Prepare, or why they could not
  // be copied; nothing is left then.
  absl::StatusOr<std::vector<ArrayHandle>> Copy(
      const std::vector<ArrayHandle>& arrays);
  // Gives up its memory until the next call. Copies stay.
  void Drop();

 private:
  // Of what the copies are for.
  bool IsCarried(size_t argument) const;
  absl::StatusOr<std::vector<ArrayHandle>> CopyOnce(
      const std::vector<ArrayHandle>& arrays);

  Client& client_;
  const ProgramHandle program_;
  std::optional<ProgramHandle> copies_;
  std::shared_ptr<const PreparedPlan> source_;  // what that is for
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_HOST_CHECKPOINTS_H_
