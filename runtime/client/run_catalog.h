//===- run_catalog.h - Runs of a client -------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RUN_CATALOG_H_
#define RUNTIME_CLIENT_RUN_CATALOG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/client/array_table.h"
#include "runtime/client/client_context.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/object_holds.h"
#include "runtime/client/run_table.h"
#include "runtime/client/run_watchers.h"

namespace pathways {

// Finds, waits for, cancels and releases the runs of one client. Any thread may
// call it. All functions return InvalidArgument if the handle belongs to
// another client, and NotFound if the run was released.
class RunCatalog {
 public:
  // All arguments outlive the catalog. The lock of the channel guards the
  // tables.
  RunCatalog(ClientContext* context, ControlChannel* channel,
             const HandleOwner* owner, RunTable* runs, ArrayTable* arrays,
             ObjectHolds* holds)
      : context_(*context),
        channel_(*channel),
        owner_(*owner),
        runs_(*runs),
        arrays_(*arrays),
        holds_(*holds) {}

  absl::StatusOr<std::shared_ptr<RunState>> Find(RunHandle run);
  // Returns the number of a result, or InvalidArgument if there is none of that
  // name.
  absl::StatusOr<int64_t> IndexOf(RunHandle run, const std::string& result);
  // Returns true if the run has ended.
  absl::StatusOr<bool> IsReady(RunHandle run);
  // Waits for the end and returns true, or the error of the run. Returns false
  // once `limit_ns` nanoseconds have passed, if that is not negative.
  absl::StatusOr<bool> AwaitFor(RunHandle run, int64_t limit_ns);
  // Returns the run once it has ended and the result is good. Waits.
  absl::StatusOr<std::shared_ptr<RunState>> AwaitResult(RunHandle run,
                                                        int64_t result);
  // Makes a result an array, whether or not the run has ended. Returns nullopt
  // if no host has it, since it has no bytes. Does not wait.
  absl::StatusOr<std::optional<ArrayHandle>> Keep(RunHandle run,
                                                  int64_t result);
  // The next three do not wait. Client describes them.
  absl::Status Cancel(RunHandle run);
  absl::Status Release(RunHandle run);
  absl::Status NotifyEnd(RunHandle run, RunWatchers::Callback callback);

 private:
  ClientContext& context_;
  ControlChannel& channel_;
  const HandleOwner& owner_;
  RunTable& runs_ ABSL_GUARDED_BY(channel_.mutex());
  ArrayTable& arrays_ ABSL_GUARDED_BY(channel_.mutex());
  ObjectHolds& holds_ ABSL_GUARDED_BY(channel_.mutex());
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUN_CATALOG_H_
