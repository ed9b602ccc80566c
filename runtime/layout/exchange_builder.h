//===- exchange_builder.h - Steps of an exchange, in the making -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to group_exchange.cc: the steps of one host, one behind the other,
// and the memory that they need.
//
// Hosts have positions, in the order of their first ranks. Up to the power of
// two that is not above their number they *stay*; the others, *wards* each of
// the host as many positions before it, are out once they have handed over
// what they have. Those who stay are responsible for the elements of a vector
// by the bits of their position, the last bit first: so what hosts with equal
// last bits are responsible for lies together.
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
  // Numbers of rounds. There are fewer than 32 of either direction.
  static constexpr uint32_t kDirectRound = 1, kFirstUp = 2, kFirstDown = 34,
                            kLastRound = 66;
  static_assert(kLastRound < kExchangeRounds);

  // Elements [begin, end) of a vector, or positions.
  struct Range {
    int64_t begin = 0, end = 0;
    int64_t size() const { return end - begin; }
    bool operator==(const Range&) const = default;
  };

  // What a host has of the tree on its way up: of each node the elements in
  // `range`, one vector after the other.
  struct Partial {
    std::vector<TreeNode> nodes;
    Range range;
    uint64_t begin = 0;
    int64_t bytes = 0;  // of an element
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

  // Memory of a firing.
  uint64_t Allocate(int64_t bytes);

  // Each adds a step, this one number `next` of its kind.
  void Add(ExchangeStep::Kind kind, size_t next);
  void Send(int64_t position, uint32_t round, uint64_t begin, int64_t bytes);
  void Await(int64_t position, uint32_t round, uint64_t begin, int64_t bytes);
  void Copy(uint64_t from, uint64_t to, int64_t bytes);

  // The first `bits` bits of a position, from the last one on, as a number.
  static int64_t Reversed(int64_t position, int bits);
  // What all together are responsible for whose last `bits` bits are those of
  // `position`. Everybody for everything, if vectors go whole.
  Range Responsible(int64_t position, int bits) const;

  // The own contributions, combined: by members or by the first steps. They are
  // the first to allocate.
  Partial OwnNodes();
  // All rounds up. Returns whether this host stays; then `result` holds what it
  // is responsible for of the root, not wide.
  bool Up(Partial partial, Partial* result);
  // Everybody who stays gets what the others are responsible for; then their
  // wards get all. `begin` is where place 0 is, of elements of `bytes`.
  void Gather(uint64_t begin, int64_t bytes);

  const ExchangeSpec& spec_;
  std::vector<int32_t> host_at_;  // by position
  std::vector<std::vector<int64_t>> ranks_at_;
  int64_t own_ = 0, hosts_ = 0;  // the own position; how many there are
  int log_ = 0;
  int64_t top_ = 1;  // positions below it stay: 2^log_
  // Where what each is responsible for begins, in elements, by Reversed; and
  // the end. None: vectors go whole.
  std::vector<int64_t> place_;
  HostExchange out_;

 private:
  // Ranks of the positions in [begin, end), ascending.
  std::vector<int64_t> RanksOf(int64_t begin, int64_t end) const;
  // The nodes of `ranks`, in fresh memory.
  Partial NewPartial(const std::vector<int64_t>& ranks, Range range);
  // The nodes of `to` come of the vectors in `from`, over the range of `to`.
  void Combine(const std::vector<const Partial*>& from, const Partial& to,
               bool wide_operands, bool wide_result);
  // Sends the elements in `range` of all vectors, which lie together then.
  void SendPartial(int64_t position, uint32_t round, const Partial& partial,
                   Range range);
  Partial AwaitPartial(int64_t position, uint32_t round,
                       const std::vector<int64_t>& ranks, Range range);
  Partial CombinedNodes();
  // Hosts of the left part of a block of positions.
  static int64_t LeftHosts(Range block);
  // The parts of a block become one. Whether this host stays. `result` is not
  // null in the last round.
  bool Round(Range block, Partial* partial, Partial* result);
};

}  // namespace pathways::layout

#endif  // RUNTIME_LAYOUT_EXCHANGE_BUILDER_H_
