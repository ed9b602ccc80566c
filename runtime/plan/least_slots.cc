//===- least_slots.cc - Fewest slots that slow no loop --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/least_slots.h"

#include <algorithm>

#include "runtime/plan/loop_graph.h"
#include "runtime/plan/loop_tables.h"

namespace pathways {
namespace {

class SlotSolver {
 public:
  SlotSolver(const proto::Plan& plan, uint32_t loop,
             absl::Span<const uint32_t> buffers, const LoopTimes& times)
      : plan_(plan),
        times_(times),
        tables_(plan),
        graph_(plan, tables_, loop),
        users_(plan.actions_size()),
        ends_(plan.slices_size(), 0),
        slots_(buffers.size(), graph_.trips()) {
    for (uint32_t buffer : buffers) {
      const uint32_t number = static_cast<uint32_t>(places_.size());
      places_.push_back(PlaceInLoop(plan, tables_, buffer));
      const proto::Action& writer =
          plan.actions(static_cast<int>(tables_.WriterOf(buffer)));
      credits_.push_back(writer.kind() == proto::RECV
                             ? times.credit[tables_.WriterOf(buffer)]
                             : 0);
      for (const LoopTables::Read& use : places_.back().uses)
        users_[use.action].push_back({number, use.lag});
    }
  }

  std::vector<SlotBound> Solve(bool explains) {
    Play(slots_);
    ends_ = EndsOfSlices();
    FindLatest();
    rank_.resize(graph_.size());
    for (uint32_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
    for (uint32_t p = 0; p < places_.size(); ++p) Relax(p);
    Play(slots_);
    FindLatest();
    for (uint32_t p = 0; p < places_.size(); ++p) Lower(p);
    std::vector<SlotBound> bounds(places_.size());
    for (uint32_t p = 0; p < places_.size(); ++p)
      bounds[p] = explains ? Explain(p) : SlotBound{slots_[p]};
    return bounds;
  }

 private:
  // A place that an action uses.
  struct User {
    uint32_t place = 0;
    uint32_t lag = 0;
  };

  uint64_t TimeOf(uint32_t action) const { return times_.run[action]; }
  // Calls `visit(after, delay)` for each node that waits until `node` has left
  // a slot, and knows it so much later.
  template <typename F>
  void ForEachTurn(const std::vector<uint32_t>& slots, uint32_t node,
                   F visit) const {
    const uint64_t iteration = graph_.IterationOf(node);
    for (const User& user : users_[graph_.ActionOf(node)]) {
      if (iteration < user.lag) continue;
      const uint64_t later = iteration - user.lag + slots[user.place];
      if (later < graph_.trips())
        visit(graph_.Node(places_[user.place].entry,
                          static_cast<uint32_t>(later)),
              credits_[user.place]);
    }
  }
  // Calls it for each node that waits for `node`.
  template <typename F>
  void ForEachNext(const std::vector<uint32_t>& slots, uint32_t node,
                   F visit) const {
    for (uint32_t after : graph_.Next(node)) visit(after, uint64_t{0});
    ForEachTurn(slots, node, visit);
  }

  // Sets when each node ends at the earliest. Returns false if some wait for
  // each other.
  bool Play(const std::vector<uint32_t>& slots) {
    std::vector<uint32_t> left = graph_.waits();
    for (uint32_t node = 0; node < graph_.size(); ++node)
      ForEachTurn(slots, node,
                  [&](uint32_t after, uint64_t) { ++left[after]; });
    end_.assign(graph_.size(), 0);
    order_.clear();
    for (uint32_t node = 0; node < graph_.size(); ++node)
      if (left[node] == 0) order_.push_back(node);
    for (size_t i = 0; i < order_.size(); ++i) {
      const uint32_t node = order_[i];
      end_[node] += TimeOf(graph_.ActionOf(node));
      ForEachNext(slots, node, [&](uint32_t after, uint64_t delay) {
        // Until it ends, a node has its begin here.
        end_[after] = std::max(end_[after], end_[node] + delay);
        if (--left[after] == 0) order_.push_back(after);
      });
    }
    return order_.size() == graph_.size();
  }

  std::vector<uint64_t> EndsOfSlices() const {
    std::vector<uint64_t> ends(plan_.slices_size(), 0);
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      const proto::Action& action =
          plan_.actions(static_cast<int>(graph_.ActionOf(node)));
      if (action.kind() == proto::GANG)
        ends[action.slice()] = std::max(ends[action.slice()], end_[node]);
    }
    return ends;
  }
  bool IsAsEarly() const {
    const std::vector<uint64_t> ends = EndsOfSlices();
    for (size_t s = 0; s < ends.size(); ++s)
      if (ends[s] > ends_[s]) return false;
    return true;
  }

  // Sets when each node begins at the latest, after Play with `slots_`.
  void FindLatest() {
    const uint64_t last = *std::max_element(end_.begin(), end_.end());
    begin_.resize(graph_.size());
    for (size_t i = order_.size(); i-- > 0;) {
      const uint32_t node = order_[i], number = graph_.ActionOf(node);
      const proto::Action& action = plan_.actions(static_cast<int>(number));
      uint64_t end =
          action.kind() == proto::GANG ? ends_[action.slice()] : last;
      ForEachNext(slots_, node, [&](uint32_t after, uint64_t delay) {
        end = std::min(end, begin_[after] - delay);
      });
      begin_[node] = end - TimeOf(number);
    }
  }
  // Calls `visit(node, iteration)` for each use of place `p` in an iteration.
  template <typename F>
  void ForEachUse(uint32_t p, F visit) const {
    for (const LoopTables::Read& use : places_[p].uses)
      for (uint32_t i = 0; i + use.lag < graph_.trips(); ++i)
        visit(graph_.Node(use.action, i + use.lag), i);
  }

  // Returns true if a use of place `p` ends, at the latest, before `entry` must
  // begin. Of two nodes that take no time the first one in the order ends
  // first.
  bool IsBefore(uint32_t p, uint32_t use, uint32_t entry) const {
    const uint64_t time = TimeOf(graph_.ActionOf(use)) + credits_[p];
    const uint64_t end = begin_[use] + time;
    return end < begin_[entry] ||
           (end == begin_[entry] && (time > 0 || rank_[use] < rank_[entry]));
  }
  // Sets the slots of place `p` to a number with which all can run as late as
  // possible.
  void Relax(uint32_t p) {
    uint32_t slots = 1, before = 0;
    while (slots != before) {
      before = slots;
      ForEachUse(p, [&](uint32_t node, uint32_t i) {
        while (i + slots < graph_.trips() &&
               !IsBefore(p, node, graph_.Node(places_[p].entry, i + slots)))
          ++slots;
      });
    }
    slots_[p] = std::min(slots, graph_.trips());
  }

  // Returns false if a single wait of place `p` with so many slots is too long.
  bool MayHave(uint32_t p, uint32_t slots) const {
    bool may = true;
    ForEachUse(p, [&](uint32_t node, uint32_t i) {
      if (uint64_t{i} + slots < graph_.trips() &&
          end_[node] + credits_[p] >
              begin_[graph_.Node(places_[p].entry, i + slots)])
        may = false;
    });
    return may;
  }

  // Lowers the slots of place `p` as long as no slice ends later.
  void Lower(uint32_t p) {
    while (slots_[p] > 1 && MayHave(p, slots_[p] - 1)) {
      --slots_[p];
      if (!Play(slots_) || !IsAsEarly()) {
        ++slots_[p];
        Play(slots_);
        return;
      }
      FindLatest();
    }
  }

  SlotBound Explain(uint32_t p) {
    SlotBound bound{slots_[p]};
    if (bound.slots == 1) return bound;
    std::vector<uint32_t> fewer = slots_;
    --fewer[p];
    bound.reason = SlotBound::kDeadlock;
    if (!Play(fewer)) return bound;
    bound.reason = SlotBound::kTime;
    const std::vector<uint64_t> ends = EndsOfSlices();
    for (uint32_t s = 0; s < ends.size(); ++s) {
      if (ends[s] <= ends_[s] + bound.later) continue;
      bound.slice = s;
      bound.later = ends[s] - ends_[s];
    }
    return bound;
  }

  const proto::Plan& plan_;
  const LoopTimes& times_;
  const LoopTables tables_;
  const IterationGraph graph_;
  std::vector<LoopPlace> places_;
  std::vector<uint64_t> credits_;         // by place
  std::vector<std::vector<User>> users_;  // by action
  std::vector<uint64_t> ends_;   // of slices, with a slot for each iteration
  std::vector<uint32_t> slots_;  // by place
  std::vector<uint32_t> order_;  // nodes, each behind those that it waits for
  std::vector<uint32_t> rank_;   // of nodes, in the first such order
  std::vector<uint64_t> end_, begin_;  // by node
};

}  // namespace

std::vector<SlotBound> FindLeastSlots(const proto::Plan& plan, uint32_t loop,
                                      absl::Span<const uint32_t> buffers,
                                      const LoopTimes& times, bool explains) {
  return SlotSolver(plan, loop, buffers, times).Solve(explains);
}

}  // namespace pathways
