//===- token_machine.h - Runs plans as tokens, in any order --- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An oracle for the verifier, written without its rules: plays firings of a
// plan in a random order that edges and queues allow, and looks at what could
// go wrong. One shard stands for all: every edge is one token.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PLAN_TOKEN_MACHINE_H_
#define UNITTESTS_RUNTIME_PLAN_TOKEN_MACHINE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/tables.h"
#include "runtime/proto/plan.pb.h"

namespace pathways::testing {

// Plays `steps` firings of every action. Returns "" or the first fault: nothing
// can fire, a content was overwritten before it was read, or a token came for a
// firing too far ahead for W counters.
inline std::string PlayPlan(const proto::Plan& plan, int64_t steps,
                            uint64_t seed) {
  std::mt19937_64 random(seed);
  int actions = plan.actions_size();
  int64_t window = plan.header().steps_in_flight();
  std::vector<int64_t> fired(actions);
  std::vector<std::vector<const proto::Edge*>> in(actions), out(actions);
  for (const proto::Edge& edge : plan.edges()) {
    in[edge.to()].push_back(&edge);
    out[edge.from()].push_back(&edge);
  }
  std::vector<std::vector<int>> queue(plan.slices_size());
  for (int a = 0; a < actions; ++a) {
    if (plan.actions(a).kind() == proto::GANG)
      queue[plan.actions(a).slice()].push_back(a);
  }
  std::vector<size_t> head(plan.slices_size());
  // Contents of each 128 bytes of (slice, memory).
  std::map<std::tuple<uint32_t, int, uint64_t>, std::pair<uint32_t, int64_t>>
      memory;
  auto blocks = [&](uint32_t b, int64_t firing, const auto& visit) {
    const proto::Buffer& buffer = plan.buffers(b);
    uint64_t begin =
        buffer.offset() + firing % buffer.credits() * buffer.slot_stride();
    for (uint64_t at = begin; at < begin + buffer.bytes(); at += 128)
      visit(memory[{buffer.slice(), buffer.memory(), at}]);
  };
  // Buffers that firing `a` lets in: a send lets in what its recv receives.
  auto entered = [&](int a) {
    const proto::Action& action = plan.actions(a);
    const proto::Action& by =
        action.kind() == proto::SEND ? plan.actions(action.peer()) : action;
    return by.results();
  };
  // Some actions are slow in a run, so that others get far ahead.
  std::vector<uint64_t> weight(actions);
  for (uint64_t& w : weight) w = random() % 4 == 0 ? 1 : 64;

  for (int64_t left = steps * actions; left > 0; --left) {
    std::vector<int> ready;
    uint64_t total = 0;
    for (int a = 0; a < actions; ++a) {
      if (fired[a] == steps) continue;
      const proto::Action& action = plan.actions(a);
      if (action.kind() == proto::GANG) {
        const std::vector<int>& q = queue[action.slice()];
        if (q[head[action.slice()] % q.size()] != a) continue;
      }
      bool tokens =
          std::all_of(in[a].begin(), in[a].end(), [&](const proto::Edge* edge) {
            return fired[edge->from()] > fired[a] - int64_t{edge->tokens()} ||
                   fired[a] < int64_t{edge->tokens()};
          });
      if (!tokens) continue;
      ready.push_back(a);
      total += weight[a];
    }
    if (ready.empty()) return "nothing can fire";
    uint64_t pick = random() % total;
    size_t chosen = 0;
    while (pick >= weight[ready[chosen]]) pick -= weight[ready[chosen++]];
    int a = ready[chosen];
    const proto::Action& action = plan.actions(a);
    int64_t n = fired[a];
    int64_t content = action.kind() == proto::FEED ? n - 1 : n;
    std::string fault;
    for (uint32_t b : action.operands()) {
      bool own = std::find(action.results().begin(), action.results().end(),
                           b) != action.results().end();
      if (content < 0 || (own && action.kind() == proto::GANG)) continue;
      blocks(b, content, [&](const std::pair<uint32_t, int64_t>& holds) {
        if (holds == std::make_pair(b, content)) return;
        fault = absl::StrCat(action.name(), " reads ", plan.buffers(b).name(),
                             " of firing ", content, ", its memory holds ",
                             plan.buffers(holds.first).name(), " of firing ",
                             holds.second);
      });
    }
    if (!fault.empty()) return fault;
    for (uint32_t b : entered(a))
      blocks(b, n,
             [&](std::pair<uint32_t, int64_t>& holds) { holds = {b, n}; });
    // A recv completes what its send let in.
    for (uint32_t b : action.results()) {
      blocks(b, n, [&](const std::pair<uint32_t, int64_t>& holds) {
        if (holds == std::make_pair(b, n)) return;
        fault = absl::StrCat(action.name(), " completes ",
                             plan.buffers(b).name(), ", its memory holds ",
                             plan.buffers(holds.first).name());
      });
    }
    if (!fault.empty()) return fault;
    for (const proto::Edge* edge : out[a]) {
      // The target counts firings fired .. fired + W - 1.
      int64_t target = n + edge->tokens();
      if (static_cast<int>(edge->to()) != a &&
          target - fired[edge->to()] >= window)
        return absl::StrCat("a token from ", action.name(), " is for firing ",
                            target, " of ", plan.actions(edge->to()).name(),
                            ", which has fired ", fired[edge->to()],
                            " times, of ", window, " in flight");
    }
    ++fired[a];
    if (action.kind() == proto::GANG) ++head[action.slice()];
  }
  return "";
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_PLAN_TOKEN_MACHINE_H_
