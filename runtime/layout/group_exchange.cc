//===- group_exchange.cc - Exchange of a collective -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/group_exchange.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/layout/exchange_builder.h"

namespace pathways::layout {
namespace {

// Vectors of more bytes are split, and their parts go to different hosts.
constexpr int64_t kSplitBytes = 32 << 10;
// Elements that stay together when a vector is split, so that loops over them
// can be vectorized.
constexpr int64_t kGrain = 16;

class Builder : public ExchangeBuilder {
 public:
  Builder(const ExchangeSpec& spec, int32_t host)
      : ExchangeBuilder(spec, host) {}

  HostExchange Build() {
    switch (spec_.kind) {
      case ExchangeKind::kAllReduce:
        AllReduce();
        break;
      case ExchangeKind::kReduceScatter:
        ReduceScatter();
        break;
      case ExchangeKind::kAllGather:
        AllGather();
        break;
      case ExchangeKind::kAllToAll:
        AllToAll();
        break;
      case ExchangeKind::kPermute:
        Permute();
        break;
    }
    const std::vector<ExchangeMessage>& receives = out_.receives;
    for (uint32_t i = 0; i < receives.size(); ++i) out_.by_sender.push_back(i);
    std::sort(out_.by_sender.begin(), out_.by_sender.end(),
              [&](uint32_t a, uint32_t b) {
                return std::make_pair(receives[a].host, receives[a].round) <
                       std::make_pair(receives[b].host, receives[b].round);
              });
    return std::move(out_);
  }

 private:
  void AllReduce() {
    if (spec_.count * spec_.wide_bytes > kSplitBytes) {
      const int64_t share =
          (spec_.count + top_ * kGrain - 1) / (top_ * kGrain) * kGrain;
      for (int64_t i = 0; i <= top_; ++i) {
        place_.push_back(std::min(spec_.count, i * share));
      }
    }
    Partial nodes = OwnNodes();
    Partial result;
    result.bytes = spec_.element_bytes;
    result.range = {0, spec_.count};
    const uint64_t begin = Allocate(result.stride());
    // The last round narrows the range; the elements before it belong to other
    // hosts.
    const Range last = Responsible(own_, log_);
    result.begin = begin + last.begin * spec_.element_bytes;
    Up(std::move(nodes), &result);
    Gather(begin, spec_.element_bytes);
    out_.results = {{begin}, {0}};
  }

  // Places the elements of all blocks of the hosts that stay, each followed by
  // the blocks of its ward.
  void PlaceBlocks(int64_t block) {
    place_.assign(1, 0);
    block_at_.resize(size());
    for (int64_t i = 0; i < top_; ++i) {
      const int64_t position = Reversed(i, log_);
      int64_t at = place_.back();
      for (int64_t p = position; p < hosts_; p += top_) {
        for (int64_t rank : ranks_at_[p]) {
          block_at_[rank] = at;
          at += block;
        }
      }
      place_.push_back(at);
    }
  }

  void ReduceScatter() {
    const int64_t block = spec_.count / size();
    PlaceBlocks(block);
    Partial nodes = OwnNodes();
    const uint64_t base = out_.contributions.begin[0];
    const uint64_t stride = out_.contributions.stride[0];
    out_.contributions.stride.assign(size(), stride);
    out_.contributions.begin.clear();
    for (int64_t rank = 0; rank < size(); ++rank) {
      out_.contributions.begin.push_back(base +
                                         block_at_[rank] * spec_.element_bytes);
    }
    const int64_t bytes = block * spec_.element_bytes;
    const auto own_bytes = static_cast<int64_t>(own_ranks().size()) * bytes;
    const Range mine = Responsible(own_, log_);
    Partial result;
    result.bytes = spec_.element_bytes;
    result.begin =
        Allocate(is_out() ? own_bytes : mine.size() * spec_.element_bytes);
    out_.results = {{result.begin}, {static_cast<uint64_t>(bytes)}};
    Up(std::move(nodes), &result);
    if (is_out()) {
      Await(own_ - top_, kLastRound, result.begin, own_bytes);
    } else if (has_ward()) {
      Send(own_ + top_, kLastRound, result.begin + own_bytes,
           static_cast<int64_t>(ranks_at_[own_ + top_].size()) * bytes);
    }
  }

  void AllGather() {
    PlaceBlocks(spec_.count);
    const uint64_t begin = Allocate(place_.back() * spec_.element_bytes);
    const int64_t bytes = spec_.count * spec_.element_bytes;
    for (int64_t rank = 0; rank < size(); ++rank) {
      out_.results.begin.push_back(begin +
                                   block_at_[rank] * spec_.element_bytes);
    }
    out_.results.stride.assign(size(), 0);
    auto unit = [&](int64_t position) {
      return out_.results.begin[ranks_at_[position][0]];
    };
    auto unit_bytes = [&](int64_t position) {
      return static_cast<int64_t>(ranks_at_[position].size()) * bytes;
    };
    out_.contributions = {{unit(own_)}, {static_cast<uint64_t>(bytes)}};
    if (is_out()) {
      Send(own_ - top_, kFirstUp, unit(own_), unit_bytes(own_));
    } else if (has_ward()) {
      Await(own_ + top_, kFirstUp, unit(own_ + top_), unit_bytes(own_ + top_));
    }
    Gather(begin, spec_.element_bytes);
  }

  void AllToAll() {
    const int64_t bytes = spec_.count / size() * spec_.element_bytes;
    const auto own = static_cast<int64_t>(own_ranks().size());
    out_.contributions.begin.resize(size());
    out_.contributions.stride.resize(size());
    out_.results = out_.contributions;
    std::vector<uint64_t> staged(hosts_);
    for (int64_t p = 0; p < hosts_; ++p) {
      const auto theirs = static_cast<int64_t>(ranks_at_[p].size());
      staged[p] = Allocate(own * theirs * bytes);
      for (int64_t k = 0; k < theirs; ++k) {
        out_.contributions.begin[ranks_at_[p][k]] = staged[p] + k * bytes;
        out_.contributions.stride[ranks_at_[p][k]] = theirs * bytes;
      }
    }
    // Bytes that a host sends on average decide the way.
    const bool small =
        spec_.count * spec_.element_bytes * size() / hosts_ <= kSplitBytes;
    const std::vector<uint64_t> from =
        small ? PassOn(staged, bytes) : SendToEach(staged, bytes);
    for (int64_t p = 0; p < hosts_; ++p) {
      for (size_t k = 0; k < ranks_at_[p].size(); ++k) {
        out_.results.begin[ranks_at_[p][k]] = from[p] + k * own * bytes;
        out_.results.stride[ranks_at_[p][k]] = bytes;
      }
    }
  }

  // Returns the bytes that host `p` has for host `q` in an all-to-all, with
  // blocks of `bytes`.
  int64_t UnitBytes(int64_t p, int64_t q, int64_t bytes) const {
    return static_cast<int64_t>(ranks_at_[p].size() * ranks_at_[q].size()) *
           bytes;
  }

  // Sends directly from each host to each other. `staged` has the offset by
  // receiver; returns the offset of the received values by sender.
  std::vector<uint64_t> SendToEach(const std::vector<uint64_t>& staged,
                                   int64_t bytes) {
    for (int64_t i = 1; i < hosts_; ++i) {
      const int64_t p = (own_ + i) % hosts_;
      Send(p, kDirectRound, staged[p], UnitBytes(own_, p, bytes));
    }
    std::vector<uint64_t> from = staged;  // own values stay in place
    for (int64_t i = 1; i < hosts_; ++i) {
      // The earliest senders are awaited first.
      const int64_t p = (own_ + hosts_ - i) % hosts_;
      from[p] = Allocate(UnitBytes(p, own_, bytes));
      Await(p, kDirectRound, from[p], UnitBytes(p, own_, bytes));
    }
    return from;
  }

  // Does the same in rounds: values that must go a number of positions further
  // around the ring are passed on by each power of two in that number, together
  // with all others that go the same way.
  std::vector<uint64_t> PassOn(const std::vector<uint64_t>& staged,
                               int64_t bytes) {
    auto around = [&](int64_t position) {
      return (position % hosts_ + hosts_) % hosts_;
    };
    // Offset of the values in this host that travel so many positions in all.
    std::vector<uint64_t> at(hosts_);
    for (int64_t i = 0; i < hosts_; ++i) at[i] = staged[around(own_ + i)];
    uint32_t round = kFirstUp;
    for (int64_t step = 1; step < hosts_; step *= 2, ++round) {
      // Returns the size of the values for that distance which leave `position`
      // in this round.
      auto leaving = [&](int64_t position, int64_t distance) {
        const int64_t source = around(position - distance % step);
        return UnitBytes(source, around(source + distance), bytes);
      };
      int64_t sent = 0, received = 0;
      for (int64_t i = step; i < hosts_; ++i) {
        if ((i & step) == 0) continue;
        sent += leaving(own_, i);
        received += leaving(around(own_ - step), i);
      }
      const uint64_t to = Allocate(sent), from = Allocate(received);
      uint64_t out = to, in = from;
      for (int64_t i = step; i < hosts_; ++i) {
        if ((i & step) == 0) continue;
        if (bytes > 0) Copy(at[i], out, leaving(own_, i));
        out += leaving(own_, i);
        at[i] = in;
        in += leaving(around(own_ - step), i);
      }
      Send(around(own_ + step), round, to, sent);
      Await(around(own_ - step), round, from, received);
    }
    std::vector<uint64_t> by_sender(hosts_);
    for (int64_t i = 0; i < hosts_; ++i) by_sender[around(own_ - i)] = at[i];
    return by_sender;
  }

  void Permute() {
    const int64_t bytes = spec_.count * spec_.element_bytes;
    const auto own = static_cast<int64_t>(own_ranks().size());
    const uint64_t begin = Allocate(own * bytes);
    out_.contributions = {{begin}, {static_cast<uint64_t>(bytes)}};
    auto own_index = [&](int64_t rank) {
      const auto at =
          std::lower_bound(own_ranks().begin(), own_ranks().end(), rank);
      return at != own_ranks().end() && *at == rank ? at - own_ranks().begin()
                                                    : -1;
    };
    for (int64_t i = 1; i < hosts_; ++i) {
      const int64_t p = (own_ + i) % hosts_;
      // Own contributions in the order of the first rank that gets them; each
      // is sent once.
      std::vector<int64_t> sent;
      std::set<int64_t> is_sent;
      for (int64_t rank : ranks_at_[p]) {
        const int64_t index =
            spec_.sources[rank] < 0 ? -1 : own_index(spec_.sources[rank]);
        if (index >= 0 && is_sent.insert(index).second) sent.push_back(index);
      }
      if (sent.empty()) continue;
      const auto count = static_cast<int64_t>(sent.size());
      uint64_t at = begin + sent[0] * bytes;
      if (count > 1) {
        at = Allocate(count * bytes);
        for (int64_t k = 0; k < count; ++k) {
          Copy(begin + sent[k] * bytes, at + k * bytes, bytes);
        }
      }
      Send(p, kDirectRound, at, count * bytes);
    }
    out_.permuted.assign(own, -1);
    std::map<int64_t, std::vector<int64_t>> from;  // own ranks, by position
    for (int64_t i = 0; i < own; ++i) {
      const int64_t source = spec_.sources[own_ranks()[i]];
      if (source < 0) continue;
      const int64_t index = own_index(source);
      if (index >= 0) {
        out_.permuted[i] = static_cast<int64_t>(begin + index * bytes);
        continue;
      }
      const auto host =
          std::find(host_at_.begin(), host_at_.end(), spec_.hosts[source]);
      from[host - host_at_.begin()].push_back(i);
    }
    std::vector<std::pair<int64_t, uint64_t>> received;
    for (const auto& [p, targets] : from) {
      std::map<int64_t, int64_t> order;  // order of arrival, by source
      for (int64_t target : targets) {
        order.try_emplace(spec_.sources[own_ranks()[target]],
                          static_cast<int64_t>(order.size()));
      }
      const auto count = static_cast<int64_t>(order.size());
      const uint64_t at = Allocate(count * bytes);
      for (int64_t target : targets) {
        const int64_t k = order.at(spec_.sources[own_ranks()[target]]);
        out_.permuted[target] = static_cast<int64_t>(at + k * bytes);
      }
      Await(p, kDirectRound, at, count * bytes);
    }
    AwaitAll();
  }

  // Awaits all hosts by a reduction of nothing.
  void AwaitAll() {
    ExchangeSpec nothing;
    nothing.tree = spec_.tree;
    nothing.hosts = spec_.hosts;
    const HostExchange all = Builder(nothing, host_at_[own_]).Build();
    for (const ExchangeStep& step : all.steps) {
      const ExchangeMessage& message = step.kind == ExchangeStep::kSend
                                           ? all.sends[step.index]
                                           : all.receives[step.index];
      Add(step.kind, step.kind == ExchangeStep::kSend ? out_.sends.size()
                                                      : out_.receives.size());
      (step.kind == ExchangeStep::kSend ? out_.sends : out_.receives)
          .push_back({message.host, message.round, 0, 0});
    }
  }

  std::vector<int64_t> block_at_;  // by rank, in elements
};

}  // namespace

int64_t HostExchange::ReceiveOf(int32_t host, uint32_t round) const {
  const auto at = std::lower_bound(
      by_sender.begin(), by_sender.end(), std::make_pair(host, round),
      [&](uint32_t i, const std::pair<int32_t, uint32_t>& key) {
        return std::make_pair(receives[i].host, receives[i].round) < key;
      });
  if (at == by_sender.end() || receives[*at].host != host ||
      receives[*at].round != round) {
    return -1;
  }
  return *at;
}

HostExchange MakeExchange(const ExchangeSpec& spec, int32_t host) {
  return Builder(spec, host).Build();
}

}  // namespace pathways::layout
