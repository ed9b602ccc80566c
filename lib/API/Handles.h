//===- Handles.h - State behind handles -------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs, executables and arrays keep their session alive, but not each other.
// Destroying the last handle sends a message that releases the object, and
// waits for nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_API_HANDLES_H
#define LIB_API_HANDLES_H

#include "pathways/Array.h"
#include "pathways/Executable.h"
#include "pathways/Session.h"
#include "runtime/client/program_constants.h"
#include "runtime/cluster/cluster.h"

namespace pathways {

struct Session::State {
  std::shared_ptr<Cluster> cluster;
  std::unique_ptr<Client> client; // destroyed first
};

struct Executable::State {
  State(std::shared_ptr<Session::State> session, Plan plan,
        ProgramHandle program)
      : session(std::move(session)), plan(std::move(plan)), program(program) {}
  State(const State &) = delete;
  ~State() {
    constants.Release(session->client.get());
    (void)session->client->Discard(program);
  }

  std::shared_ptr<Session::State> session;
  Plan plan;
  ProgramHandle program;
  ProgramConstants constants; ///< values that callers do not pass
};

struct Run::State {
  State(std::shared_ptr<Session::State> session, RunHandle run)
      : session(std::move(session)), run(run) {}
  State(const State &) = delete;
  ~State() { (void)client().ReleaseRun(run); }

  std::shared_ptr<Session::State> session;
  RunHandle run;

  Client &client() { return *session->client; }
};

struct Array::State {
  State(std::shared_ptr<Session::State> session, ArrayHandle array,
        ArrayType type)
      : session(std::move(session)), array(array), type(std::move(type)) {}
  State(const State &) = delete;
  ~State() { (void)client().Release(array); }

  std::shared_ptr<Session::State> session;
  ArrayHandle array;
  ArrayType type;

  Client &client() { return *session->client; }
};

struct Slice::State {
  State(std::shared_ptr<Session::State> session, SliceHandle slice,
        std::vector<std::string> devices)
      : session(std::move(session)), slice(slice), devices(std::move(devices)) {
  }
  State(const State &) = delete;
  ~State() { (void)session->client->ReleaseSlice(slice); }

  std::shared_ptr<Session::State> session;
  SliceHandle slice;
  std::vector<std::string> devices;
};

Error makeError(ErrorCode code, const absl::Status &status);
/// Makes errors of loading and launching.
Error makeError(const absl::Status &status);
/// Makes the error that this process lacks memory for `part` of `what`.
Error makeMemoryError(const std::string &what, const std::string &part);
/// Makes errors of using an array. NotFound means that it was released.
Error makeArrayError(const absl::Status &status);
/// Makes errors of writing folders.
Error makeSaveError(const absl::Status &status);
/// Makes errors of reading folders.
Error makeLoadError(const absl::Status &status);

/// Returns the array, or the reason why there is none. `otherwise` is the code
/// for errors that are not misuse.
Result<Array> makeArray(std::shared_ptr<Session::State> session,
                        const absl::StatusOr<ArrayHandle> &array,
                        ErrorCode otherwise);

/// Returns true if the values are good but this process lacks memory for a
/// copy. `cause` is the result of waiting for the values, `status` that of
/// reading them. (A host without memory is a cause.)
bool lacksMemory(const absl::Status &cause, const absl::Status &status);

} // namespace pathways

#endif // LIB_API_HANDLES_H
