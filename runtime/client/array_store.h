//===- array_store.h - Arrays of a client -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_ARRAY_STORE_H_
#define RUNTIME_CLIENT_ARRAY_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/client/array_reader.h"
#include "runtime/client/array_table.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/handle_owner.h"
#include "runtime/client/handles.h"
#include "runtime/client/object_holds.h"
#include "runtime/executor/runtime_context.h"

namespace pathways {

// Adds, finds, waits for, moves and releases the arrays of one client. Any
// thread may call it. All functions that take an array return InvalidArgument
// if the handle belongs to another client, and NotFound if the array was
// released. Client describes those with a name of its own.
class ArrayStore {
 public:
  // All arguments outlive the store. The lock of the channel guards the tables.
  ArrayStore(ControlChannel* channel, const HandleOwner* owner,
             const RuntimeContext* runtime, ArrayReader* reader,
             ArrayTable* arrays, ObjectHolds* holds)
      : channel_(*channel),
        owner_(*owner),
        runtime_(*runtime),
        reader_(*reader),
        arrays_(*arrays),
        holds_(*holds) {}

  // The next five do not wait.
  //
  // Returns ResourceExhausted if the client's memory is full; InvalidArgument
  // if the data do not have the size of the type.
  absl::StatusOr<ArrayHandle> Put(SharedValue value);
  absl::StatusOr<ArrayType> TypeOf(ArrayHandle array);
  absl::StatusOr<bool> IsReady(ArrayHandle array);
  absl::StatusOr<std::shared_ptr<const ArrayPlacement>> PlacementOf(
      ArrayHandle array);
  absl::Status Release(ArrayHandle array);

  // Waits until the array is good, if it is a result. Returns false once
  // `limit_ns` nanoseconds have passed, if that is not negative; the error of
  // the run that should have produced it.
  absl::StatusOr<bool> AwaitFor(ArrayHandle array, int64_t limit_ns);
  // Does so without a limit, with the number of an array.
  absl::Status Await(uint64_t array) {
    return AwaitFor(array, /*limit_ns=*/-1).status();
  }
  // Returns true if the array is a result that its run did not produce. Does
  // not wait.
  bool HasFailed(uint64_t array);
  // Awaits the array and returns where its values are.
  absl::StatusOr<ArrayLocation> Locate(ArrayHandle array);
  // The next four await the array and read it (ArrayReader).
  absl::StatusOr<HostArray> Get(ArrayHandle array);
  absl::Status GetInto(ArrayHandle array, char* into, uint64_t bytes);
  absl::StatusOr<ValueView> View(ArrayHandle array);
  absl::StatusOr<HostArray> GetShard(ArrayHandle array, int64_t shard);
  // Awaits the array and returns its values as they are, to be sent out again:
  // a partial array keeps its contributions. Returns errors of ArrayReader.
  absl::StatusOr<SharedValue> GetValue(ArrayHandle array);
  // Awaits the array and writes it to files (SaveArray). Returns
  // FailedPrecondition if a simulation without kernels has no values.
  absl::Status Save(ArrayHandle array, SaveFolder* folder,
                    const std::string& name);
  // These write one array, and several by name, to a new folder.
  absl::Status Save(ArrayHandle array, const std::string& folder);
  absl::Status Save(const std::map<std::string, ArrayHandle>& arrays,
                    const std::string& folder);
  // Returns the names of the arrays in a folder that has several.
  static absl::StatusOr<std::vector<std::string>> SavedNames(
      const std::string& folder);
  // Adds a saved array. Waits for files alone. Returns errors of
  // SavedArray::Open and Put.
  absl::StatusOr<ArrayHandle> Load(const std::string& folder);
  // Does so with all arrays of a folder that has several, or none of them.
  absl::StatusOr<std::map<std::string, ArrayHandle>> LoadAll(
      const std::string& folder);
  // Moves arrays from hosts that `hosts` marks to this process or, if `folder`
  // is not empty, to files in that new folder. Arrays that were lost, or are
  // results of failed launches, stay. Waits. Returns ResourceExhausted if there
  // is no memory for an array; errors of Save.
  absl::Status FetchToClient(const std::vector<bool>& hosts,
                             const std::string& folder);

 private:
  absl::StatusOr<bool> AwaitFor(uint64_t array, int64_t limit_ns);
  // Does so for one array, whose values it is given. Does not wait.
  absl::Status TakeFromHosts(uint64_t array, SharedValue value);

  ControlChannel& channel_;
  const HandleOwner& owner_;
  const RuntimeContext& runtime_;
  ArrayReader& reader_;
  ArrayTable& arrays_ ABSL_GUARDED_BY(channel_.mutex());
  ObjectHolds& holds_ ABSL_GUARDED_BY(channel_.mutex());
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_ARRAY_STORE_H_
