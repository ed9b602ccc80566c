//===- launcher.h - Launches of a client ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_LAUNCHER_H_
#define RUNTIME_CLIENT_LAUNCHER_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/Options.h"
#include "runtime/base/free_list.h"
#include "runtime/client/array_reader.h"
#include "runtime/client/array_store.h"
#include "runtime/client/array_table.h"
#include "runtime/client/client_actor.h"
#include "runtime/client/client_context.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/in_flight_limiter.h"
#include "runtime/client/loaded_programs.h"
#include "runtime/client/object_holds.h"
#include "runtime/client/rebind_gate.h"
#include "runtime/client/run_table.h"
#include "runtime/proto/control.pb.h"

namespace pathways {

// Launches programs of one client, and handles the ends of their runs. Any
// thread may call Launch; handlers run on the worker of the client's actor. A
// launch gets its number, and its arguments their objects, under the lock; it
// is sent without the lock.
class Launcher {
 public:
  // Everything that the launcher touches. It outlives the launcher, and the
  // lock of the channel guards the tables.
  struct Parts {
    ClientContext* context;
    ClientActor* actor;
    ControlChannel* channel;
    const HandleOwner* owner;
    RebindGate* gate;
    ArrayStore* store;
    ArrayReader* reader;
    LoadedPrograms* programs;
    RunTable* runs;
    ArrayTable* arrays;
    ObjectHolds* holds;
    FreeList* run_memory;  // for runs
  };
  // `run_ahead`: the most launches that have not ended.
  Launcher(const Parts& parts, size_t run_ahead);

  // Client::Launch describes it.
  absl::StatusOr<RunHandle> Launch(ProgramHandle program,
                                   LaunchArguments arguments, int64_t steps,
                                   const LaunchOptions& options);
  void OnLaunchEnded(const proto::LaunchEnded& ended);
  // Handles the timer that InFlightLimiter requests.
  void OnTick();

 private:
  struct Draft;

  // Phases of a launch. Resolve looks up the arguments, and fetches values that
  // must move; TakeTurn finds out whether there is room, and AwaitTurn waits
  // for it; Place decides where arguments go and numbers the request;
  // SendLaunch sends it.
  absl::Status Resolve(LaunchArguments arguments, Draft* draft);
  absl::Status ResolveArgument(int index, LaunchArgument argument, Draft* draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel_.mutex());
  // Combines contributions that the program cannot take as they are: those of
  // another mesh, and those of an argument whose layout is not partial.
  static absl::Status CombineArguments(Draft* draft);
  absl::Status TakeTurn(Draft* draft);
  absl::Status AwaitTurn(uint64_t turn);
  absl::Status Place(Draft* draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel_.mutex());
  absl::Status PlaceArgument(int index, Draft* draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(channel_.mutex());
  void SendLaunch(Draft* draft);

  ClientContext& context_;
  ClientActor& actor_;
  ControlChannel& channel_;
  const HandleOwner& owner_;
  RebindGate& gate_;
  ArrayStore& store_;
  ArrayReader& reader_;
  LoadedPrograms& programs_ ABSL_GUARDED_BY(channel_.mutex());
  RunTable& runs_ ABSL_GUARDED_BY(channel_.mutex());
  ArrayTable& arrays_ ABSL_GUARDED_BY(channel_.mutex());
  ObjectHolds& holds_ ABSL_GUARDED_BY(channel_.mutex());
  FreeList& run_memory_;
  InFlightLimiter room_;  // the lock guards it, except CanRetry
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_LAUNCHER_H_
