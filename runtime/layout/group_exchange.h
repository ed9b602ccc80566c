//===- group_exchange.h - Exchange of a collective --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a collective over a group with members on several hosts into a list of
// steps for each host. Hosts are ordered by their first ranks and combine in
// pairs of blocks, as ranks do in a ReductionTree. So if hosts have aligned
// blocks of ranks, each has one node of the tree to send, and if ranks are
// dealt out in turn, nodes of several hosts become one as early as possible.
//
// A reduction goes up in rounds: blocks of equally many hosts exchange their
// values, host by host; the hosts of a smaller block hand all their values to
// hosts of the larger one and are out. If a contribution is large, each round
// halves the range that a host is responsible for, and the results come back in
// as many rounds. Small contributions go whole both ways, which takes half the
// time. A host that is out receives the result from a host that stayed. With n
// hosts, no host takes part in more than 2 log n + 2 rounds. An all-gather is
// the way back alone. The large blocks of an all-to-all go directly from each
// host to each other; small blocks are passed on in log n rounds, together with
// others that go the same way. A permute sends from source to target, and then
// reduces nothing, so that every host knows that all have begun.
//
// Memory can be reused (docs/protocol.md, "Slots") because: (1) a host that has
// done its steps has received everything that was sent to it; (2) no host is
// done before every host has begun. In addition (3) a host that sends in a
// round has awaited only messages of earlier rounds, so the smallest round in
// which a host waits is the place where something is missing.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_GROUP_EXCHANGE_H_
#define RUNTIME_LAYOUT_GROUP_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "runtime/layout/reduction_tree.h"

namespace pathways::layout {

enum class ExchangeKind {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kPermute
};

struct ExchangeSpec {
  ExchangeKind kind = ExchangeKind::kAllReduce;
  ReductionTree tree;          // of the group's ranks
  std::vector<int32_t> hosts;  // host of each rank; at least two
  int64_t count = 0;           // elements per contribution
  int64_t element_bytes = 0;
  int64_t wide_bytes = 0;  // element bytes in a reduction
  // All-reduce only: members combine their contributions before the exchange.
  bool members_combine = false;
  // Permute only: for each rank, the rank whose contribution it receives; -1:
  // none.
  std::vector<int64_t> sources;
};

// Larger than the number of any round.
inline constexpr uint32_t kExchangeRounds = 128;

// One message of a firing. No two have the same sender, receiver and round.
struct ExchangeMessage {
  int32_t host = 0;  // the other host
  uint32_t round = 0;
  uint64_t begin = 0, bytes = 0;  // range in a firing's memory
};

struct ExchangeCopy {
  uint64_t from = 0, to = 0, bytes = 0;
};

// A reduction that combines vectors of `count` elements into one.
struct ExchangeReduction {
  ReductionOrder order;
  std::vector<uint64_t> operands;  // their offsets
  bool wide_operands = true, wide_result = true;
  uint64_t result = 0;
  int64_t count = 0;
};

struct ExchangeStep {
  enum Kind : uint8_t { kSend, kAwait, kCopy, kReduce };
  Kind kind = kSend;
  uint32_t index = 0;  // in the list of its kind
};

// Offsets of blocks, by the host's own ranks (in order) and the group's ranks.
struct BlockPlaces {
  std::vector<uint64_t> begin;   // per rank of the group; or one for all
  std::vector<uint64_t> stride;  // between own ranks; same index as `begin`
  uint64_t at(uint64_t own, int64_t rank) const {
    const int64_t i = begin.size() == 1 ? 0 : rank;
    return begin[i] + own * stride[i];
  }
};

// The part of one host. Each firing has `bytes` of memory, which begin with the
// contributions of the host's members. All offsets are relative to that memory,
// in bytes.
struct HostExchange {
  std::vector<int64_t> ranks;  // own ranks, ascending
  uint64_t bytes = 0;
  // The block of an own rank's contribution for each rank of the group, dense.
  // There is a single block if all ranks get the same.
  BlockPlaces contributions;
  // If members combine, this replaces `contributions`: for each node, the order
  // in which members combine it, with the group's ranks as operands. Nodes are
  // wide vectors, one after the other.
  std::vector<ReductionOrder> node_orders;
  uint64_t nodes_begin = 0, nodes_stride = 0;
  // The block of an own rank's result that comes from each rank of the group.
  // There is a single block if it comes from all ranks. Not for a permute.
  BlockPlaces results;
  // Permute only: offset of the result by own rank; -1: it is zero.
  std::vector<int64_t> permuted;

  std::vector<ExchangeStep> steps;
  std::vector<ExchangeMessage> sends;
  std::vector<ExchangeMessage> receives;
  std::vector<ExchangeCopy> copies;
  std::vector<ExchangeReduction> reductions;

  // Returns the index in `receives` of the message from `host` in `round`, or
  // -1.
  std::vector<uint32_t> by_sender;  // indices in `receives`, by (host, round)
  int64_t ReceiveOf(int32_t host, uint32_t round) const;
};

// Returns the part of `host`, which is one of the spec's hosts.
HostExchange MakeExchange(const ExchangeSpec& spec, int32_t host);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_GROUP_EXCHANGE_H_
