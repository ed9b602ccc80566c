//===- link.h - Cost of a message between hosts -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of links, which all worlds share: when a message that crosses
// hosts arrives, given when it was sent and what was sent before it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_LINK_H_
#define RUNTIME_WORLD_LINK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/world/world.h"

namespace pathways {

// A time so late that it means never, and so small that the sum of two does not
// overflow.
inline constexpr TimeNs kFarAway = INT64_MAX / 4;

// Returns `time` plus `by`, at most kFarAway. A negative `by` counts as 0.
TimeNs Later(TimeNs time, TimeNs by);

// Costs of a link. A message of b bytes takes b / bytes_per_second plus
// latency_ns plus 0 to jitter_ns, which the world draws.
struct LinkModel {
  TimeNs latency_ns = 0;
  double bytes_per_second = 0;  // 0: not limited
  TimeNs jitter_ns = 0;

  bool free() const {
    return latency_ns == 0 && bytes_per_second == 0 && jitter_ns == 0;
  }
  // Returns the time that `bytes` bytes take on the wire.
  TimeNs WireTime(uint64_t bytes) const;
};

// Returns InvalidArgument, which names `link`, if a number is out of range.
absl::Status CheckLinkModel(absl::string_view link, const LinkModel& model);

// Bytes that a message takes on a link in addition to its payload or control
// bytes.
inline constexpr uint64_t kHeaderBytes = sizeof(WireFrame);

struct LinkModels {
  LinkModel ici;                  // between hosts of an island
  std::vector<LinkModel> ici_of;  // one per island; further islands use `ici`
  LinkModel dcn;                  // between islands
  LinkModel control;  // between a host and the controller or a client
};
absl::Status CheckLinkModels(const LinkModels& models);

// One direction of a pair of hosts. A wire carries one message at a time; all
// host pairs of two islands share one wire in each direction.
struct Wire {
  const LinkModel* model = nullptr;
  TimeNs* shared = nullptr;  // replaces free_at between islands; null otherwise
  TimeNs free_at = 0;        // time when the last message has left the wire
  // Latest arrival among messages that others must not overtake.
  TimeNs last_arrival = 0;

  TimeNs busy_until() const { return shared != nullptr ? *shared : free_at; }
  // Puts a message on the wire at `now` and returns its time of arrival, which
  // is in order with earlier messages. The caller then sets last_arrival,
  // unless later messages may overtake this one.
  TimeNs Carry(TimeNs now, uint64_t bytes, TimeNs jitter);
};

class LinkTable {
 public:
  explicit LinkTable(LinkModels models) : models_(std::move(models)) {}
  // Returns the wire between two places on different hosts, valid until the
  // next call.
  Wire& Between(const Placement& from, const Placement& to);

 private:
  // Most hosts send to few others, so a search touches few cache lines.
  struct WireTo {
    int32_t host = 0;
    Wire wire;
  };

  Wire MakeWire(const Placement& from, const Placement& to);

  const LinkModels models_;
  // A row for each sender, sorted by receiving host.
  std::vector<std::vector<WireTo>> wires_;
  absl::node_hash_map<uint64_t, TimeNs> dcn_;  // free_at of a pair of islands
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LINK_H_
