//===- group_exchange.h - What hosts of a group tell each other -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective over a group whose members are on several hosts, as a list of
// steps for each host. Hosts are put in the order of their first ranks and
// combine in pairs of blocks, as ranks do in a ReductionTree, so that where
// hosts have aligned blocks of ranks, each has one node of the tree to send,
// and where ranks are dealt out in turn, nodes of several hosts become one as
// early as can be.
//
// A reduction goes up in rounds: blocks of hosts of equal size exchange what
// they have, host by host; of a smaller block, its hosts hand all they have to
// hosts of the larger one and are out. When a contribution is large, each takes
// over half of what it is responsible for, and the results come back in as many
// rounds; small ones go whole both ways, which takes half the time. Those who
// are out hear the end from one of the others. With n hosts nobody is in more
// than 2 log n + 2 rounds. Gathering is the way back alone. What is large of an
// all-to-all goes from each to each; small blocks are passed on in log n
// rounds, with others that go the same way. A permute goes from source to
// target, and as a reduction of nothing makes sure that all are there.
//
// So that memory may be used again (docs/protocol.md, "Slots"), this holds: (1)
// a host that has done its steps has received everything that was sent to it;
// (2) nobody is done before every host has begun. Also (3) who sends in a round
// has awaited only messages of earlier rounds, so the smallest round in which
// somebody waits is where something is missing.
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
  std::vector<int32_t> hosts;  // by rank; at least two different ones
  int64_t count = 0;           // elements of a contribution
  int64_t element_bytes = 0;
  int64_t wide_bytes = 0;  // of an element inside a reduction
  // Of an all-reduce: members combine what they contribute, not the exchange.
  bool members_combine = false;
  // Of a permute: by rank, whose contribution it gets; -1: nobody's.
  std::vector<int64_t> sources;
};

// Above the number of any round.
inline constexpr uint32_t kExchangeRounds = 128;

// One message of a firing. At most one has its sender, receiver and round.
struct ExchangeMessage {
  int32_t host = 0;  // the other one
  uint32_t round = 0;
  uint64_t begin = 0, bytes = 0;  // in the memory of a firing
};

struct ExchangeCopy {
  uint64_t from = 0, to = 0, bytes = 0;
};

// Vectors of `count` elements become one.
struct ExchangeReduction {
  ReductionOrder order;
  std::vector<uint64_t> operands;  // where they begin
  bool wide_operands = true, wide_result = true;
  uint64_t result = 0;
  int64_t count = 0;
};

struct ExchangeStep {
  enum Kind : uint8_t { kSend, kAwait, kCopy, kReduce };
  Kind kind = kSend;
  uint32_t index = 0;  // in the list of its kind
};

// Where blocks are that are numbered by a host's own ranks, in order, and by
// those of the group.
struct BlockPlaces {
  std::vector<uint64_t> begin;   // by rank of the group; one: of all
  std::vector<uint64_t> stride;  // likewise, from own rank to own rank
  uint64_t at(uint64_t own, int64_t rank) const {
    const int64_t i = begin.size() == 1 ? 0 : rank;
    return begin[i] + own * stride[i];
  }
};

// The part of one host. Each firing has `bytes` of memory, which begin with
// what own members contribute; places are in it, in bytes.
struct HostExchange {
  std::vector<int64_t> ranks;  // own ones, ascending
  uint64_t bytes = 0;
  // Of the contribution of an own rank, the block for each rank of the group:
  // dense, and one and the same where everybody gets everything.
  BlockPlaces contributions;
  // But when members combine, which they do by these orders, whose operands are
  // numbered as the group's ranks: wide vectors, one after the other.
  std::vector<ReductionOrder> node_orders;
  uint64_t nodes_begin = 0, nodes_stride = 0;
  // Of the result of an own rank, the block that comes from each rank of the
  // group; one and the same if it comes from all. Of a permute, by own rank
  // alone, and none where zeros come.
  BlockPlaces results;
  std::vector<int64_t> permuted;  // -1: zeros

  std::vector<ExchangeStep> steps;
  std::vector<ExchangeMessage> sends;
  std::vector<ExchangeMessage> receives;
  std::vector<ExchangeCopy> copies;
  std::vector<ExchangeReduction> reductions;

  // Which of `receives` comes from `host` in `round`; -1: none.
  std::vector<uint32_t> by_sender;  // indices in `receives`, by (host, round)
  int64_t ReceiveOf(int32_t host, uint32_t round) const;
};

// `host` is one of the spec's.
HostExchange MakeExchange(const ExchangeSpec& spec, int32_t host);

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_GROUP_EXCHANGE_H_
