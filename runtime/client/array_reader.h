//===- array_reader.h - Reading of arrays -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_ARRAY_READER_H_
#define RUNTIME_CLIENT_ARRAY_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/HostArray.h"
#include "runtime/client/array_value.h"
#include "runtime/client/client_actor.h"
#include "runtime/client/client_transfers.h"
#include "runtime/client/control_channel.h"
#include "runtime/client/fetch_assembly.h"
#include "runtime/client/handles.h"
#include "runtime/client/object_holds.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/layout/layout.h"

namespace pathways {

// Place of an array whose values are known to be good: in this process, in
// files, or on hosts.
struct ArrayLocation {
  SharedType type;
  SharedValue dense;  // null: on hosts
  PlacedObject placed;
};

// Values of an array where they are. They stay until `owner` is destroyed,
// which must happen before the client is; null if there are no bytes.
struct ValueView {
  const char* data = nullptr;
  uint64_t bytes = 0;
  std::shared_ptr<const void> owner;
};

// Reads the values of arrays of one client, which it fetches from hosts if
// these hold them. Any thread may call it. All functions wait. `what` names the
// array in errors. They return ResourceExhausted if this process has no memory
// for a copy; NotFound if hosts have released the array meanwhile; errors of
// SavedArray::Read; the reason if the channel ends.
class ArrayReader {
 public:
  // All arguments outlive the reader, which outlives the views that it returns.
  ArrayReader(ControlChannel* channel, ClientActor* actor,
              RuntimeContext* runtime)
      : channel_(*channel), actor_(*actor), runtime_(*runtime) {}

  // Returns the values, with contributions combined.
  absl::StatusOr<HostArray> Get(const ArrayLocation& array,
                                const std::string& what);
  // Writes the values to `into`, which has `bytes` bytes. Client::GetInto
  // describes it.
  absl::Status GetInto(const ArrayLocation& array, char* into, uint64_t bytes,
                       const std::string& what);
  // Returns the values as they are, to be sent out again: a partial array keeps
  // its contributions.
  absl::StatusOr<SharedValue> GetValue(const ArrayLocation& array,
                                       const std::string& what);
  // Returns what shard `shard` of an array on hosts holds. Returns
  // InvalidArgument if there is no such shard.
  absl::StatusOr<HostArray> GetShard(const ArrayLocation& array, int64_t shard,
                                     const std::string& what);
  // Returns the block in the box `window` of an object, with contributions
  // combined. `placement` has the parts of that box alone. `type` is that of
  // the block.
  absl::StatusOr<HostArray> GetBlock(uint64_t object,
                                     const ArrayPlacement& placement,
                                     const layout::Box& window,
                                     const ArrayType& type,
                                     const std::string& what);
  // Returns the values without a copy. Returns FailedPrecondition, with the
  // reason, unless they are dense in one block of memory of this process.
  absl::StatusOr<ValueView> View(ArrayLocation array, const std::string& what);

 private:
  // Joins the block of a `window`, or all blocks that the placement has. `type`
  // is that of the joined array.
  absl::StatusOr<HostArray> Join(uint64_t object,
                                 const ArrayPlacement& placement,
                                 const layout::Box* window,
                                 const ArrayType& type, const std::string& what,
                                 FetchAssembly::Partial partial,
                                 char* into = nullptr);
  // Asks hosts for an object and waits for the end of the fetch. If `views`,
  // the host, which must be in this process, then keeps the object until
  // EndFetch of the number that is returned; otherwise the fetch is over.
  absl::StatusOr<uint64_t> RunFetch(
      uint64_t object, const std::vector<FetchAssembly::Source>& sources,
      std::shared_ptr<ArrayFetch> fetch, bool views, const std::string& what);
  // Does not wait.
  void EndFetch(uint64_t number, bool keeps);
  absl::StatusOr<ValueView> ViewPlaced(const PlacedObject& placed,
                                       const ArrayType& type,
                                       const std::string& what);

  ControlChannel& channel_;
  ClientActor& actor_;
  RuntimeContext& runtime_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_ARRAY_READER_H_
