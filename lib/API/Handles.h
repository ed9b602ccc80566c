//===- Handles.h - What handles stand for -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs, executables and arrays keep their session alive, and nothing else of
// each other. To destroy the last handle releases by a message what it stands
// for, and waits for nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_API_HANDLES_H
#define LIB_API_HANDLES_H

#include "pathways/Execute.h"
#include "runtime/cluster/cluster.h"

namespace pathways {

struct Session::State {
  std::shared_ptr<Cluster> cluster;
  std::unique_ptr<Client> client; // goes first
};

struct Executable::State {
  State(std::shared_ptr<Session::State> session, Plan plan,
        ProgramHandle program)
      : session(std::move(session)), plan(std::move(plan)), program(program) {}
  State(const State &) = delete;
  ~State() { (void)session->client->Discard(program); }

  std::shared_ptr<Session::State> session;
  Plan plan;
  ProgramHandle program;
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
/// The errors of loading and launching.
Error makeError(const absl::Status &status);
/// `what` needs memory of this process for `part`, and there is none.
Error makeMemoryError(const std::string &what, const std::string &part);
/// The errors of a use of an array. NotFound: it was released.
Error makeArrayError(const absl::Status &status);
/// The errors of writing folders.
Error makeSaveError(const absl::Status &status);
/// The errors of reading them.
Error makeLoadError(const absl::Status &status);

/// The array, or why there is none; `otherwise`: if it was not misused.
Result<Array> makeArray(std::shared_ptr<Session::State> session,
                        const absl::StatusOr<ArrayHandle> &array,
                        ErrorCode otherwise);

/// Whether values are good, and this process has no memory for a copy: `cause`
/// is what waiting for them returns, `status` why they were not got. (A host
/// that has no memory is a cause.)
bool lacksMemory(const absl::Status &cause, const absl::Status &status);

} // namespace pathways

#endif // LIB_API_HANDLES_H
