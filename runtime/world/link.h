//===- link.h - What a message between hosts costs --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of links, the same in all worlds: when a message that crosses
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

// Far enough to be never, near enough that sums of two do not overflow.
inline constexpr TimeNs kFarAway = INT64_MAX / 4;

// `time` and `by` more, which counts as 0 when negative; kFarAway at most.
TimeNs Later(TimeNs time, TimeNs by);

// What a link costs: a message of b bytes arrives after b / bytes_per_second,
// latency_ns, and 0 to jitter_ns more, drawn by the world.
struct LinkModel {
  TimeNs latency_ns = 0;
  double bytes_per_second = 0;  // 0: not limited
  TimeNs jitter_ns = 0;

  bool free() const {
    return latency_ns == 0 && bytes_per_second == 0 && jitter_ns == 0;
  }
  TimeNs WireTime(uint64_t bytes) const;
};

// InvalidArgument, naming `link`: a number is out of range.
absl::Status CheckLinkModel(absl::string_view link, const LinkModel& model);

// Bytes of a message on a link, beside its payload or control bytes.
inline constexpr uint64_t kHeaderBytes = sizeof(WireFrame);

struct LinkModels {
  LinkModel ici;                  // between hosts of an island
  std::vector<LinkModel> ici_of;  // by island; of those that it lacks: ici
  LinkModel dcn;                  // between islands
  LinkModel control;              // from and to the controller and clients
};
absl::Status CheckLinkModels(const LinkModels& models);

// One direction of a pair of hosts. A wire carries one message at a time; the
// host pairs of two islands share one in each direction.
struct Wire {
  const LinkModel* model = nullptr;
  TimeNs* shared = nullptr;  // instead of free_at, between islands
  TimeNs free_at = 0;        // when the last message has left it
  TimeNs last_arrival = 0;   // of those that later ones do not overtake

  TimeNs busy_until() const { return shared != nullptr ? *shared : free_at; }
  // Puts a message on the wire at `now` and returns when it arrives: in order
  // with those before. The caller moves last_arrival, unless the message is to
  // be overtaken.
  TimeNs Carry(TimeNs now, uint64_t bytes, TimeNs jitter);
};

class LinkTable {
 public:
  explicit LinkTable(LinkModels models) : models_(std::move(models)) {}
  // Of two places on different hosts. Valid until the next call.
  Wire& Between(const Placement& from, const Placement& to);

 private:
  // Most hosts send to few, so a search needs few lines of a cache.
  struct WireTo {
    int32_t host = 0;
    Wire wire;
  };

  Wire MakeWire(const Placement& from, const Placement& to);

  const LinkModels models_;
  std::vector<std::vector<WireTo>> wires_;     // by RowOf the sender; by host
  absl::node_hash_map<uint64_t, TimeNs> dcn_;  // free_at, by pair of islands
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LINK_H_
