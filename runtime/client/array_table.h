//===- array_table.h - Arrays that a client holds ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_ARRAY_TABLE_H_
#define RUNTIME_CLIENT_ARRAY_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/client/array_value.h"
#include "runtime/client/handles.h"
#include "runtime/client/numbered_map.h"
#include "runtime/client/object_holds.h"
#include "runtime/client/run_table.h"
#include "runtime/store/store.h"

namespace pathways {

// A logical array. It stays with the client until a launch says where it
// belongs; from the end of that launch on only the hosts hold it.
struct ArrayState {
  uint64_t id = 0;
  SharedType type;
  uint64_t bytes = 0;
  SharedValue dense;
  Arena::Segment charge;  // of `dense`
  PlacedObject placed;
  uint64_t placing = 0;  // run that brings it to the hosts, not ended
  // Run and result that it is, until somebody has seen that it is good.
  std::shared_ptr<RunState> producer;
  int64_t result = 0;

  // Whether that run has ended, and has not made it.
  bool HasFailed() const {
    return producer != nullptr && producer->ended &&
           !producer->CheckResult(result).ok();
  }
};

// The arrays of one client. Invariants: (1) the values of each are with the
// client, on hosts, or both while a launch brings them there; (2) those with
// the client never need more than `bytes`. One owner calls it.
class ArrayTable {
 public:
  // `client`: its name.
  ArrayTable(const std::string& client, uint64_t bytes);

  // ResourceExhausted: the client's memory, in which values that are borrowed,
  // or in files, are not, is full.
  absl::StatusOr<uint64_t> Put(SharedValue value);
  // A result of a run, which has an object; of one that has ended and has not
  // made it, the array has none.
  uint64_t Keep(const std::shared_ptr<RunState>& run, int64_t result);
  // NotFound: there is none, or it was released. Valid until Release.
  absl::StatusOr<ArrayState*> Find(uint64_t id);
  // A launch brings it to the hosts.
  void Place(ArrayState* array, const PlacedObject& placed, RunState* run);
  // That launch is over: the hosts have what it placed, if it completed, or
  // its objects are given up. Adds the values that the table needs no more.
  void Settle(const RunState& run, ObjectList* objects, SharedValues* values);
  // Those whose values are on hosts alone, with a block on one of these, which
  // are marked.
  std::vector<uint64_t> OnHosts(const std::vector<bool>& hosts) const;
  // One whose values were on hosts is with the client again. As Put, and
  // NotFound as of Find. Adds the object that it gives up.
  absl::Status FetchToClient(uint64_t id, SharedValue value,
                             ObjectList* objects);
  // NotFound as of Find. Adds the object that it gives up, and the value.
  absl::Status Release(uint64_t id, ObjectList* objects, SharedValues* values);

  uint64_t bytes_used() const { return memory_.used(); }
  size_t size() const { return arrays_.size(); }

 private:
  // What the values take of the client's memory.
  absl::StatusOr<Arena::Segment> Charge(const ArrayValue& value);

  const std::string client_;
  Arena memory_;
  uint64_t last_ = 0;
  NumberedMap<ArrayState> arrays_;  // goes first: they are charged there
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_ARRAY_TABLE_H_
