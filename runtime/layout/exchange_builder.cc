//===- exchange_builder.cc - Builder of the steps of an exchange ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/exchange_builder.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace pathways::layout {
namespace {

constexpr uint64_t kAlignment = 64;

int LogCeil(int64_t n) { return std::bit_width(static_cast<uint64_t>(n - 1)); }

}  // namespace

ExchangeBuilder::ExchangeBuilder(const ExchangeSpec& spec, int32_t host)
    : spec_(spec) {
  std::map<int32_t, size_t> position;
  for (size_t rank = 0; rank < spec.hosts.size(); ++rank) {
    auto [it, fresh] = position.try_emplace(spec.hosts[rank], host_at_.size());
    if (fresh) {
      host_at_.push_back(spec.hosts[rank]);
      ranks_at_.emplace_back();
    }
    ranks_at_[it->second].push_back(static_cast<int64_t>(rank));
  }
  own_ = static_cast<int64_t>(position.at(host));
  hosts_ = static_cast<int64_t>(host_at_.size());
  log_ = std::bit_width(static_cast<uint64_t>(hosts_)) - 1;
  top_ = int64_t{1} << log_;
  out_.ranks = ranks_at_[own_];
}

uint64_t ExchangeBuilder::Allocate(int64_t bytes) {
  const uint64_t at = (out_.bytes + kAlignment - 1) / kAlignment * kAlignment;
  out_.bytes = at + bytes;
  return at;
}

void ExchangeBuilder::Add(ExchangeStep::Kind kind, size_t next) {
  out_.steps.push_back({kind, static_cast<uint32_t>(next)});
}

void ExchangeBuilder::Send(int64_t position, uint32_t round, uint64_t begin,
                           int64_t bytes) {
  Add(ExchangeStep::kSend, out_.sends.size());
  out_.sends.push_back(
      {host_at_[position], round, begin, static_cast<uint64_t>(bytes)});
}

void ExchangeBuilder::Await(int64_t position, uint32_t round, uint64_t begin,
                            int64_t bytes) {
  Add(ExchangeStep::kAwait, out_.receives.size());
  out_.receives.push_back(
      {host_at_[position], round, begin, static_cast<uint64_t>(bytes)});
}

void ExchangeBuilder::Copy(uint64_t from, uint64_t to, int64_t bytes) {
  Add(ExchangeStep::kCopy, out_.copies.size());
  out_.copies.push_back({from, to, static_cast<uint64_t>(bytes)});
}

int64_t ExchangeBuilder::Reversed(int64_t position, int bits) {
  int64_t reversed = 0;
  for (int b = 0; b < bits; ++b) {
    reversed = 2 * reversed + (position >> b & 1);
  }
  return reversed;
}

ExchangeBuilder::Range ExchangeBuilder::Responsible(int64_t position,
                                                    int bits) const {
  if (place_.empty()) return {0, spec_.count};
  const int64_t first = Reversed(position, bits) << (log_ - bits);
  return {place_[first], place_[first + (int64_t{1} << (log_ - bits))]};
}

std::vector<int64_t> ExchangeBuilder::RanksOf(int64_t begin,
                                              int64_t end) const {
  std::vector<int64_t> ranks;
  for (int64_t p = begin; p < end; ++p) {
    ranks.insert(ranks.end(), ranks_at_[p].begin(), ranks_at_[p].end());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

ExchangeBuilder::Partial ExchangeBuilder::NewPartial(
    const std::vector<int64_t>& ranks, Range range) {
  Partial partial;
  if (spec_.count > 0) partial.nodes = spec_.tree.MaximalNodes(ranks);
  partial.range = range;
  partial.bytes = spec_.wide_bytes;
  partial.begin = Allocate(partial.nodes.size() * partial.stride());
  return partial;
}

void ExchangeBuilder::Combine(const std::vector<const Partial*>& from,
                              const Partial& to, bool wide_operands,
                              bool wide_result) {
  if (to.range.size() == 0) return;
  struct Part {
    TreeNode node;
    uint64_t at;
  };
  std::vector<Part> parts;
  for (const Partial* partial : from) {
    for (size_t i = 0; i < partial->nodes.size(); ++i) {
      parts.push_back({partial->nodes[i], partial->at(i, to.range.begin)});
    }
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.node.begin < b.node.begin;
  });
  std::vector<TreeNode> nodes;
  for (const Part& part : parts) nodes.push_back(part.node);
  for (size_t i = 0; i < to.nodes.size(); ++i) {
    ExchangeReduction reduction;
    reduction.order = spec_.tree.OrderOf(to.nodes[i], nodes);
    // The reduction gets only the operands that it reads.
    for (uint32_t& operand : reduction.order.operands) {
      reduction.operands.push_back(parts[operand].at);
      operand = static_cast<uint32_t>(reduction.operands.size() - 1);
    }
    reduction.wide_operands = wide_operands;
    reduction.wide_result = wide_result;
    reduction.result = to.at(i, to.range.begin);
    reduction.count = to.range.size();
    Add(ExchangeStep::kReduce, out_.reductions.size());
    out_.reductions.push_back(std::move(reduction));
  }
}

void ExchangeBuilder::SendPartial(int64_t position, uint32_t round,
                                  const Partial& partial, Range range) {
  const int64_t bytes = range.size() * partial.bytes;
  const auto vectors = static_cast<int64_t>(partial.nodes.size());
  uint64_t begin = partial.at(0, range.begin);
  if (vectors > 1 && range != partial.range && bytes > 0) {
    begin = Allocate(vectors * bytes);
    for (int64_t i = 0; i < vectors; ++i) {
      Copy(partial.at(i, range.begin), begin + i * bytes, bytes);
    }
  }
  Send(position, round, begin, vectors * bytes);
}

ExchangeBuilder::Partial ExchangeBuilder::AwaitPartial(
    int64_t position, uint32_t round, const std::vector<int64_t>& ranks,
    Range range) {
  Partial partial = NewPartial(ranks, range);
  Await(position, round, partial.begin,
        partial.nodes.size() * partial.stride());
  return partial;
}

ExchangeBuilder::Partial ExchangeBuilder::CombinedNodes() {
  Partial nodes = NewPartial(own_ranks(), {0, spec_.count});
  out_.nodes_begin = nodes.begin;
  out_.nodes_stride = nodes.stride();
  std::vector<TreeNode> ranks;
  for (int64_t rank : own_ranks()) ranks.push_back({rank, rank + 1});
  for (const TreeNode& node : nodes.nodes) {
    ReductionOrder order = spec_.tree.OrderOf(node, ranks);
    for (uint32_t& operand : order.operands) {
      operand = static_cast<uint32_t>(own_ranks()[operand]);
    }
    out_.node_orders.push_back(std::move(order));
  }
  return nodes;
}

ExchangeBuilder::Partial ExchangeBuilder::OwnNodes() {
  if (spec_.members_combine) return CombinedNodes();
  Partial contributions;
  for (int64_t rank : own_ranks()) {
    contributions.nodes.push_back({rank, rank + 1});
  }
  contributions.range = {0, spec_.count};
  contributions.bytes = spec_.element_bytes;
  contributions.begin =
      Allocate(contributions.nodes.size() * contributions.stride());
  out_.contributions.begin = {contributions.begin};
  out_.contributions.stride = {contributions.stride()};
  if (spec_.count == 0) return contributions;
  if (spec_.element_bytes == spec_.wide_bytes &&
      spec_.tree.MaximalNodes(own_ranks()) == contributions.nodes) {
    return contributions;  // nothing to combine
  }
  Partial nodes = NewPartial(own_ranks(), contributions.range);
  Combine({&contributions}, nodes, /*wide_operands=*/false,
          /*wide_result=*/true);
  return nodes;
}

bool ExchangeBuilder::Up(Partial partial, Partial* result) {
  // The nested blocks of hosts that contain this one, the smallest last.
  std::vector<Range> blocks;
  for (Range block = {0, hosts_}; block.size() > 1;) {
    blocks.push_back(block);
    const int64_t middle = block.begin + LeftHosts(block);
    (own_ < middle ? block.end : block.begin) = middle;
  }
  for (size_t i = blocks.size(); i-- > 0;) {
    if (!Round(blocks[i], &partial, i == 0 ? result : nullptr)) return false;
  }
  return true;
}

int64_t ExchangeBuilder::LeftHosts(Range block) {
  return static_cast<int64_t>(
      std::bit_floor(static_cast<uint64_t>(block.size() - 1)));
}

bool ExchangeBuilder::Round(Range block, Partial* partial, Partial* result) {
  const int64_t left = LeftHosts(block), right = block.size() - left;
  const int64_t middle = block.begin + left;
  const bool in_left = own_ < middle;
  const uint32_t round = kFirstUp + LogCeil(block.size()) - 1;
  const std::vector<int64_t> others =
      in_left ? RanksOf(middle, block.end) : RanksOf(block.begin, middle);
  const int bits = LogCeil(left);
  Range keep;
  Partial received;
  if (left == right) {
    const int64_t partner = in_left ? own_ + left : own_ - left;
    keep = Responsible(own_, bits + 1);
    SendPartial(partner, round, *partial, Responsible(partner, bits + 1));
    received = AwaitPartial(partner, round, others, keep);
  } else {
    // Number of hosts in the right part that are not out yet.
    const auto active =
        static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(right)));
    if (!in_left) {
      for (int64_t p = block.begin + (own_ - middle); p < middle; p += active) {
        SendPartial(p, round, *partial, Responsible(p, bits));
      }
      return false;
    }
    keep = Responsible(own_, bits);
    received = AwaitPartial(middle + (own_ - block.begin) % active, round,
                            others, keep);
  }
  if (spec_.count == 0) return true;
  Partial merged;
  if (result != nullptr) {
    result->nodes = {{0, size()}};
    result->range = keep;
    merged = *result;
  } else {
    merged = NewPartial(RanksOf(block.begin, block.end), keep);
  }
  Combine({partial, &received}, merged, /*wide_operands=*/true,
          /*wide_result=*/result == nullptr);
  *partial = std::move(merged);
  return true;
}

void ExchangeBuilder::Gather(uint64_t begin, int64_t bytes) {
  const Range all = {0, place_.empty() ? spec_.count : place_.back()};
  if (is_out()) {
    return Await(own_ - top_, kLastRound, begin, all.size() * bytes);
  }
  for (int bit = log_; !place_.empty() && bit-- > 0;) {
    const int64_t partner = own_ ^ (int64_t{1} << bit);
    const uint32_t round = kFirstDown + log_ - 1 - bit;
    const Range mine = Responsible(own_, bit + 1);
    const Range theirs = Responsible(partner, bit + 1);
    Send(partner, round, begin + mine.begin * bytes, mine.size() * bytes);
    Await(partner, round, begin + theirs.begin * bytes, theirs.size() * bytes);
  }
  if (has_ward()) {
    Send(own_ + top_, kLastRound, begin, all.size() * bytes);
  }
}

}  // namespace pathways::layout
