//===- object_table.h - Arrays on hosts, and references ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_RESOURCES_OBJECT_TABLE_H_
#define RUNTIME_RESOURCES_OBJECT_TABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/record_pool.h"

namespace pathways {

// A message to a host: it may drop `object`, unless that is 0; and `launch` is
// over or will never run, unless that is 0.
struct Drop {
  int32_t host = 0;
  uint64_t launch = 0;
  uint64_t object = 0;
  uint64_t bytes = 0;  // bytes of the object on that host
  uint64_t order = 0;  // rank among the drops that are sent together
};

// The arrays of which hosts hold blocks: one record for each logical array,
// whatever its shards. Invariants: (1) an object is in the table while the
// client, a launch that reads it, or a fetch refers to it; (2) when the last
// reference ends, each host that holds blocks is notified once; (3) an object
// that a launch fills names that launch until it has ended, and afterwards says
// whether its values are good; (4) `arriving` marks an object for which hosts
// may not have made room, until a launch has found it there. One owner calls
// it; it sends nothing and knows no clock.
class ObjectTable {
 public:
  struct Object {
    std::vector<int32_t> hosts;   // hosts with blocks, ascending
    std::vector<uint64_t> bytes;  // on each host
    bool arriving = false;        // hosts may not have room for it yet
    uint64_t references = 0;
    bool held = false;     // the client has one of the references
    uint64_t filling = 0;  // launch that fills it and has not ended
    absl::Status failure;  // failure of that launch, if the values are not good
    // No host has all values: the launch that was to fill the object did not
    // begin, or a host that held blocks is gone.
    bool missing = false;
    bool lost = false;  // a host that held blocks is gone

    void Reset();
  };

  // Adds an object; `held`: the client refers to it. `filling`: the launch
  // whose result it is; 0: its values come from the client. `arriving`: its
  // hosts have not confirmed it yet.
  void Add(uint64_t id, absl::Span<const uint32_t> hosts,
           absl::Span<const uint64_t> bytes, bool held, uint64_t filling,
           bool arriving);
  // Adds the result of a launch that was refused. Uses of it get `failure`.
  void AddMissing(uint64_t id, const absl::Status& failure);
  const Object* Find(uint64_t id) const { return objects_.Find(id); }
  // Adds a reference to an object in the table.
  void Refer(uint64_t id) { ++objects_.Find(id)->references; }
  // Records that the object's hosts have it, or room for it.
  void Arrived(uint64_t id);
  // Records the end of the launch that fills the object. `failure`: why its
  // values are not good. `missing`: true if the launch never began.
  void Settle(uint64_t id, const absl::Status& failure, bool missing);
  // Returns the first failure among `ids`; if `missing_only`, among those that
  // are missing.
  absl::Status FirstFailure(absl::Span<const uint64_t> ids,
                            bool missing_only) const;
  // Records that a host holds nothing any more. Uses of its objects get
  // `failure`, unless an object has a failure of its own.
  void HostGone(int32_t host, const absl::Status& failure);
  // Takes one reference from each of `ids` that is in the table. Appends to
  // `drops` the messages to hosts of objects that have none left, with
  // `launch`.
  void Release(absl::Span<const uint64_t> ids, uint64_t launch,
               std::vector<Drop>* drops);

  // Takes the client's references to `ids`, as Release does.
  void ReleaseHeld(absl::Span<const uint64_t> ids, std::vector<Drop>* drops);
  // Returns the objects that a client (Directory::client) refers to, ascending.
  std::vector<uint64_t> HeldBy(uint32_t client) const;

  // Returns the bytes on all hosts of arrays that the client put, made or
  // keeps.
  uint64_t BytesOf(uint32_t client) const;
  // Returns the bytes of the arrays of all clients, by client and host.
  std::map<uint32_t, std::map<int32_t, uint64_t>> BytesByClient() const;

  // Returns the clients whose arrays have blocks on one of the marked hosts.
  std::set<uint32_t> ClientsOn(const std::vector<bool>& hosts) const;

  size_t size() const { return objects_.size(); }
  // Returns all objects, ascending.
  std::vector<uint64_t> Ids() const { return objects_.Ids(); }

 private:
  RecordPool<Object> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_OBJECT_TABLE_H_
