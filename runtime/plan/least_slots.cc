//===- least_slots.cc - Fewest slots that slow no loop --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/least_slots.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "runtime/plan/loop_graph.h"
#include "runtime/plan/loop_tables.h"

namespace pathways {
namespace {

// A search that visits each node so often on average has probably met a circle;
// one pass over all nodes then says so.
constexpr size_t kMaxSteps = 4;

class SlotSolver {
 public:
  SlotSolver(const proto::Plan& plan, uint32_t loop,
             absl::Span<const uint32_t> buffers, const LoopTimes& times)
      : plan_(plan),
        times_(times),
        tables_(plan),
        graph_(plan, tables_, loop),
        users_(plan.actions_size()),
        entries_(plan.actions_size()),
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
      entries_[places_.back().entry].push_back(number);
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
    FindPrevious();
    waits_.assign(graph_.size(), false);
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

  // Nodes to visit: the one that ends first comes first.
  using Work = std::priority_queue<std::pair<uint64_t, uint32_t>,
                                   std::vector<std::pair<uint64_t, uint32_t>>,
                                   std::greater<>>;

  // A gang takes time, so that a circle does: each has a gang.
  uint64_t TimeOf(uint32_t action) const {
    const bool is_gang =
        plan_.actions(static_cast<int>(action)).kind() == proto::GANG;
    return std::max<uint64_t>(times_.run[action], is_gang ? 1 : 0);
  }

  void FindPrevious() {
    Neighbours::Edges edges;
    for (uint32_t node = 0; node < graph_.size(); ++node)
      for (uint32_t after : graph_.Next(node)) edges.emplace_back(after, node);
    previous_ = Neighbours(graph_.size(), edges);
  }

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
    for (const LoopTables::Read& use : places_[p].uses) {
      const uint32_t moved = std::max(use.lag, slots);
      for (uint32_t i = 0; i + moved < graph_.trips(); ++i)
        if (end_[graph_.Node(use.action, i + use.lag)] + credits_[p] >
            begin_[graph_.Node(places_[p].entry, i + slots)])
          return false;
    }
    return true;
  }

  // Lowers the slots of place `p` as long as no slice ends later.
  void Lower(uint32_t p) {
    // Fewer slots are worse: find the least number that single waits allow, and
    // then the least one that works.
    uint32_t low = 1, high = slots_[p];
    while (low < high) {
      const uint32_t slots = low + (high - low) / 2;
      if (MayHave(p, slots))
        high = slots;
      else
        low = slots + 1;
    }
    high = slots_[p];
    for (uint32_t slots = low; low < high; slots = low + (high - low) / 2) {
      if (TryLower(p, slots))
        high = slots;
      else
        low = slots + 1;
    }
  }

  // Sets the slots of place `p`, and the times, if no slice then ends later.
  bool TryLower(uint32_t p, uint32_t slots) {
    const uint32_t before = std::exchange(slots_[p], slots);
    std::vector<std::pair<uint32_t, uint64_t>> changed;  // nodes and their ends
    Work work;
    ForEachUse(p, [&](uint32_t node, uint32_t i) {
      if (i + slots < graph_.trips()) {
        const uint32_t entry = graph_.Node(places_[p].entry, i + slots);
        Delay(entry, end_[node] + credits_[p], &changed, &work);
      }
    });
    size_t steps = 0;
    const size_t most = kMaxSteps * size_t{graph_.size()};
    bool is_early = true;
    while (!work.empty() && is_early && steps <= most) {
      const uint32_t node = work.top().second;
      work.pop();
      waits_[node] = false;
      if (end_[node] > begin_[node] + TimeOf(graph_.ActionOf(node)))
        is_early = false;
      ++steps;
      ForEachNext(slots_, node, [&](uint32_t after, uint64_t delay) {
        Delay(after, end_[node] + delay, &changed, &work);
      });
    }
    if (is_early && work.empty()) {
      Advance(p);
      return true;
    }
    for (; !work.empty(); work.pop()) waits_[work.top().second] = false;
    while (!changed.empty()) {
      end_[changed.back().first] = changed.back().second;
      changed.pop_back();
    }
    if (is_early && PlaysAsEarly()) return true;
    slots_[p] = before;
    return false;
  }

  // Sets the times for `slots_` in one pass over all nodes if no slice then
  // ends later.
  bool PlaysAsEarly() {
    std::vector<uint64_t> end = end_;
    std::vector<uint32_t> order = order_;
    if (Play(slots_) && EndsOfSlices() == ends_) {
      FindLatest();
      return true;
    }
    end_ = std::move(end);
    order_ = std::move(order);
    return false;
  }

  // Lets `node` begin at `begin` or later.
  void Delay(uint32_t node, uint64_t begin,
             std::vector<std::pair<uint32_t, uint64_t>>* changed, Work* work) {
    const uint64_t end = begin + TimeOf(graph_.ActionOf(node));
    if (end <= end_[node]) return;
    changed->push_back({node, end_[node]});
    end_[node] = end;
    if (waits_[node]) return;
    waits_[node] = true;
    work->push({end, node});
  }

  // Lets the nodes that others wait for in place `p` end earlier.
  void Advance(uint32_t p) {
    std::priority_queue<std::pair<uint64_t, uint32_t>> work;
    auto advance = [&](uint32_t node, uint64_t end) {
      const uint64_t begin = end - TimeOf(graph_.ActionOf(node));
      if (begin >= begin_[node]) return;
      begin_[node] = begin;
      if (waits_[node]) return;
      waits_[node] = true;
      work.push({begin, node});
    };
    ForEachUse(p, [&](uint32_t node, uint32_t i) {
      if (i + slots_[p] < graph_.trips())
        advance(node, begin_[graph_.Node(places_[p].entry, i + slots_[p])] -
                          credits_[p]);
    });
    while (!work.empty()) {
      const uint32_t node = work.top().second;
      work.pop();
      waits_[node] = false;
      const uint64_t begin = begin_[node];
      for (uint32_t before : previous_[node]) advance(before, begin);
      const uint32_t iteration = graph_.IterationOf(node);
      for (uint32_t q : entries_[graph_.ActionOf(node)]) {
        if (iteration < slots_[q]) continue;
        for (const LoopTables::Read& use : places_[q].uses) {
          const uint64_t at = uint64_t{iteration} - slots_[q] + use.lag;
          if (at < graph_.trips())
            advance(graph_.Node(use.action, static_cast<uint32_t>(at)),
                    begin - credits_[q]);
        }
      }
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
  std::vector<uint64_t> credits_;               // by place
  std::vector<std::vector<User>> users_;        // by action
  std::vector<std::vector<uint32_t>> entries_;  // places, by action
  std::vector<uint64_t> ends_;   // the ends of slices with all slots
  std::vector<uint32_t> slots_;  // by place
  std::vector<uint32_t> order_;  // nodes, each behind those that it waits for
  std::vector<uint32_t> rank_;   // places of nodes in the first order
  std::vector<uint64_t> end_, begin_;  // by node
  std::vector<bool> waits_;            // true for nodes to be visited
  Neighbours previous_;                // nodes that a node waits for
};

}  // namespace

std::vector<SlotBound> FindLeastSlots(const proto::Plan& plan, uint32_t loop,
                                      absl::Span<const uint32_t> buffers,
                                      const LoopTimes& times, bool explains) {
  return SlotSolver(plan, loop, buffers, times).Solve(explains);
}

}  // namespace pathways
