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
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/free_list.h"
#include "runtime/client/array_value.h"
#include "runtime/client/handles.h"
#include "runtime/client/object_holds.h"
#include "runtime/client/run_table.h"
#include "runtime/store/store.h"

namespace pathways {

// A logical array. The client holds its values until a launch places it on
// hosts; once that launch has ended, only the hosts hold them.
struct ArrayState {
  uint64_t id = 0;
  SharedType type;
  uint64_t bytes = 0;
  SharedValue dense;
  Arena::Segment charge;  // of `dense`
  PlacedObject placed;
  uint64_t placing = 0;  // open run that brings the values to hosts; 0: none
  // Run whose result `result` the array is. Null if the array is no result, or
  // once the result is known to be good.
  std::shared_ptr<RunState> producer;
  int64_t result = 0;

  // Returns true if that run has ended without producing the result.
  bool HasFailed() const {
    return producer != nullptr && producer->ended &&
           !producer->CheckResult(result).ok();
  }
};

// Arrays of one client. Invariants: (1) the values of each array are with the
// client, on hosts, or both while a launch brings them to hosts; (2) the values
// that the client holds never exceed `bytes`. One owner calls it.
class ArrayTable {
 public:
  // `client`: name of the client. `bytes`: bound on the values that it holds.
  ArrayTable(const std::string& client, uint64_t bytes);

  // Adds an array with these values and returns its number. Returns
  // ResourceExhausted if the client's memory is full; borrowed values and
  // values in files do not count.
  absl::StatusOr<uint64_t> Put(SharedValue value);
  // Adds result `result` of `run`, which must have an object, and returns the
  // number of the array. If the run has ended without producing the result, the
  // array has no object.
  uint64_t Keep(const std::shared_ptr<RunState>& run, int64_t result);
  // Returns the array, valid until Release. Returns NotFound if there is none,
  // or if it was released.
  absl::StatusOr<ArrayState*> Find(uint64_t id);
  // Records that `run` brings the values to the hosts of `placed`.
  void Place(ArrayState* array, const PlacedObject& placed, RunState* run);
  // Records that `run` has ended. If it completed, only the hosts hold the
  // arrays that it placed; otherwise the table gives up their objects. Adds
  // these objects to `objects`, and values that the table no longer needs to
  // `values`.
  void Settle(const RunState& run, ObjectList* objects, SharedValues* values);
  // Returns the arrays whose values are on hosts alone, with a block on a host
  // that `hosts` marks.
  std::vector<uint64_t> OnHosts(const std::vector<bool>& hosts) const;
  // Returns an array from hosts to the client, which has its values in `value`.
  // Adds the object that the array gives up to `objects`. Returns errors of
  // Put, and NotFound as Find does.
  absl::Status FetchToClient(uint64_t id, SharedValue value,
                             ObjectList* objects);
  // Removes an array and adds its object and its values to the lists. Returns
  // NotFound as Find does.
  absl::Status Release(uint64_t id, ObjectList* objects, SharedValues* values);

  uint64_t bytes_used() const { return memory_.used(); }
  size_t size() const { return arrays_.size(); }

 private:
  using Arrays =
      std::map<uint64_t, ArrayState, std::less<>,
               FreeListAllocator<std::pair<const uint64_t, ArrayState>>>;

  // Returns null if there is no such array.
  ArrayState* Lookup(uint64_t id);
  // Adds an array with the next number.
  ArrayState& Add();
  // Charges the values to the client's memory. Borrowed values and values in
  // files are free.
  absl::StatusOr<Arena::Segment> Charge(const ArrayValue& value);

  const std::string client_;
  Arena memory_;
  uint64_t last_ = 0;
  FreeList nodes_;  // of arrays_
  // Destroyed first: charged to memory_.
  Arrays arrays_{Arrays::allocator_type(&nodes_)};
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_ARRAY_TABLE_H_
