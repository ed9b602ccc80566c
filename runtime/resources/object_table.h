//===- object_table.h - Who holds arrays, and for whom ----------*- C++ -*-===//
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

// What a host is to be told: that it may drop `object`, unless that is 0, and
// that `launch` is over or will not be, unless that is 0.
struct Drop {
  int32_t host = 0;
  uint64_t launch = 0;
  uint64_t object = 0;
  uint64_t bytes = 0;  // of the object there
  uint64_t order = 0;  // among those that hosts are told of together
};

// The arrays of which hosts hold blocks: one record for each logical array,
// whatever its shards. Invariants: (1) an object is here while somebody refers
// to it: the client, launches that read it, or fetches; (2) when nobody does,
// each host that holds blocks of it is told once; (3) an object that a launch
// fills says which, until that has ended, and then whether its values are good;
// (4) one that hosts may not have made room for says so, until a launch has
// found it there. One owner calls it; it sends nothing and knows no clock.
class ObjectTable {
 public:
  struct Object {
    std::vector<int32_t> hosts;   // that hold blocks, ascending
    std::vector<uint64_t> bytes;  // on each
    bool arriving = false;        // hosts may not have room for it yet
    uint64_t references = 0;
    bool held = false;     // one of them is the client's
    uint64_t filling = 0;  // launch that fills it and has not ended
    absl::Status failure;  // of that launch, when the values are not good
    // That launch did not begin, so no host fills it; or a host that held
    // blocks is gone.
    bool missing = false;
    bool lost = false;  // the latter

    void Reset();
  };

  // An object that the client refers to, or nobody. `filling`: the launch whose
  // result it is; 0: its values come from the client. `arriving`: its hosts
  // have yet to say that it is there.
  void Add(uint64_t id, absl::Span<const uint32_t> hosts,
           absl::Span<const uint64_t> bytes, bool held, uint64_t filling,
           bool arriving);
  // The result of a launch that was refused: who uses it gets `failure`.
  void AddMissing(uint64_t id, const absl::Status& failure);
  const Object* Find(uint64_t id) const { return objects_.Find(id); }
  // One reference more; of an object that is here.
  void Refer(uint64_t id) { ++objects_.Find(id)->references; }
  // Its hosts have it, or room for it.
  void Arrived(uint64_t id);
  // The launch that fills it has ended. `failure`: why its values are not good.
  // `missing`: it never began.
  void Settle(uint64_t id, const absl::Status& failure, bool missing);
  // The first failure among `ids`, those that are missing only or all.
  absl::Status FirstFailure(absl::Span<const uint64_t> ids,
                            bool missing_only) const;
  // A host has nothing any more: who uses what it held gets `failure`, unless
  // that has one of its own.
  void HostGone(int32_t host, const absl::Status& failure);
  // Takes one reference from each of `ids` that is here; adds what hosts are to
  // be told of those that have none left, and of `launch`.
  void Release(absl::Span<const uint64_t> ids, uint64_t launch,
               std::vector<Drop>* drops);

  // Likewise the client's references, which it has no more.
  void ReleaseHeld(absl::Span<const uint64_t> ids, std::vector<Drop>* drops);
  // What a client (Directory::client) refers to, ascending.
  std::vector<uint64_t> HeldBy(uint32_t client) const;

  // On all hosts, of what the client (likewise) put, made or keeps.
  uint64_t BytesOf(uint32_t client) const;
  // Likewise of all clients, by client and host.
  std::map<uint32_t, std::map<int32_t, uint64_t>> BytesByClient() const;

  // The clients (likewise) whose arrays have blocks on one of the hosts, which
  // are marked.
  std::set<uint32_t> ClientsOn(const std::vector<bool>& hosts) const;

  size_t size() const { return objects_.size(); }
  // Of all, ascending.
  std::vector<uint64_t> Ids() const { return objects_.Ids(); }

 private:
  RecordPool<Object> objects_;
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_OBJECT_TABLE_H_
