//===- exchange_builder.h - Builder of the steps of an exchange -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to group_exchange.cc: builds the steps of one host, in order, and
// lays out the memory that they need.
//
// Hosts have positions, in the order of their first ranks. Those below the
// largest power of two that is not above their number *stay*. Each of the
// others is the *ward* of the host that is that many positions before it, and
// is out once it has handed over its values. Each host that stays is
// responsible for a range of the elements of a vector, by the bits of its
// position, the last bit first: so the ranges of hosts with equal last bits are
// contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_LAYOUT_EXCHANGE_BUILDER_H_
#define RUNTIME_LAYOUT_EXCHANGE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/layout/group_exchange.h"

namespace pathways::layout {

class ExchangeBuilder {
 protected:
  // Numbers of rounds. Either direction has fewer than 32 rounds.
  static constexpr uint32_t kDirectRound = 1, kFirstUp = 2, kFirstDown = 34,
                            kLastRound = 66;
  static_assert(kLastRound < kExchangeRounds);

  // Elements [begin, end) of a vector, or a range of positions.
  struct Range {
    int64_t begin = 0, end = 0;
    int64_t size() const { return end - begin; }
    bool operator==(const Range&) const = default;
  };

  // The part of the tree that a host has on the way up: the elements in `range`
  // of each node, one vector after the other.
  struct Partial {
    std::vector<TreeNode> nodes;
    Range range;
    uint64_t begin = 0;
    int64_t bytes = 0;  // of one element
    uint64_t stride() const { return range.size() * bytes; }
    uint64_t at(size_t node, int64_t element) const {
      return begin + node * stride() + (element - range.begin) * bytes;
    }
  };

  ExchangeBuilder(const ExchangeSpec& spec, int32_t host);

  int64_t size() const { return spec_.tree.size(); }
  const std::vector<int64_t>& own_ranks() const { return ranks_at_[own_]; }
  bool is_out() const { return own_ >= top_; }
  bool has_ward() const { return own_ + top_ < hosts_; }

  // Returns the offset of `bytes` more bytes in the memory of a firing.
  uint64_t Allocate(int64_t bytes);

  // Each function adds one step. Add appends one that refers to entry `next` of
  // the list of its kind.
  void Add(ExchangeStep::Kind kind, size_t next);
  void Send(int64_t position, uint32_t round, uint64_t begin, int64_t bytes);
  void Await(int64_t position, uint32_t round, uint64_t begin, int64_t bytes);
  void Copy(uint64_t from, uint64_t to, int64_t bytes);

  // Returns the lowest `bits` bits of `position` in reverse order.
  static int64_t Reversed(int64_t position, int bits);
  // Returns the elements for which all positions with the same lowest `bits`
  // bits as `position` are responsible together. If vectors go whole, every
  // host is responsible for all elements.
  Range Responsible(int64_t position, int bits) const;

  // Returns the nodes of the host's own contributions, combined by the members
  // or by the first steps. Must be called before anything else allocates.
  Partial OwnNodes();
  // Adds all rounds up. Returns true if this host stays; then `result` holds
  // the elements of the root for which it is responsible, not wide.
  bool Up(Partial partial, Partial* result);
  // Adds the way down: each host that stays receives the elements of the
  // others, and then hands everything to its ward. `begin` is the offset of
  // place 0; `bytes` is the size of an element.
  void Gather(uint64_t begin, int64_t bytes);

  const ExchangeSpec& spec_;
  std::vector<int32_t> host_at_;  // by position
  std::vector<std::vector<int64_t>> ranks_at_;
  int64_t own_ = 0, hosts_ = 0;  // own position; number of hosts
  int log_ = 0;
  int64_t top_ = 1;  // positions below it stay: 2^log_
  // First element of each host's range, by Reversed, and the end. Empty:
  // vectors go whole.
  std::vector<int64_t> place_;
  HostExchange out_;

 private:
  // Returns the ranks of positions [begin, end), ascending.
  std::vector<int64_t> RanksOf(int64_t begin, int64_t end) const;
  // Returns the nodes of `ranks`, in newly allocated memory.
  Partial NewPartial(const std::vector<int64_t>& ranks, Range range);
  // Adds steps that compute the nodes of `to`, over its range, from the vectors
  // in `from`.
  void Combine(const std::vector<const Partial*>& from, const Partial& to,
               bool wide_operands, bool wide_result);
  // Sends the elements in `range` of all vectors, which are made contiguous
  // first.
  void SendPartial(int64_t position, uint32_t round, const Partial& partial,
                   Range range);
  Partial AwaitPartial(int64_t position, uint32_t round,
                       const std::vector<int64_t>& ranks, Range range);
  Partial CombinedNodes();
  // Returns the number of hosts in the left part of a block of positions.
  static int64_t LeftHosts(Range block);
  // Combines the two parts of a block. Returns true if this host stays.
  // `result` is not null in the last round only.
  bool Round(Range block, Partial* partial, Partial* result);
};

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_EXCHANGE_BUILDER_H_
