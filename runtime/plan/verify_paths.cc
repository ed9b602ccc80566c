//===- verify_paths.cc - Short paths in tokens ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <tuple>

#include "runtime/plan/verify_internal.h"

namespace pathways::verify_internal {

PathIndex::PathIndex(const Context& context)
    : context_(context),
      budget_((int64_t{1} << 20) + 64 * int64_t{context.plan.edges_size()}) {
  for (const proto::Edge& edge : context.plan.edges()) {
    uint32_t from = edge.from();
    uint32_t to = edge.to();
    uint64_t tokens = edge.tokens();
    uint32_t from_slice = context.action(from).slice();
    if (context.action(to).kind() == proto::SEND &&
        edge.relation() != proto::SAME && edge.kind() != proto::DATA) {
      AddDirect(&direct_to_send_, from, to, tokens);
      if (IsGang(from)) to_send_.push_back({to, from_slice, from, tokens});
    }
    if (edge.relation() == proto::PIECES) {
      // For the shards of the destination, an edge to the send counts as one to
      // its recv.
      if (edge.kind() == proto::DATA) continue;
      to = context.action(to).peer();
    }
    AddDirect(&direct_, from, to, tokens);
    if (IsGang(from) && !IsGang(to)) {
      in_.push_back({to, from_slice, from, tokens});
    } else if (!IsGang(from) && IsGang(to)) {
      out_.push_back({from, context.action(to).slice(), to, tokens});
    }
  }
  Finish(&out_);
  Finish(&in_);
  Finish(&to_send_);
}

void PathIndex::Finish(Links* links) {
  std::sort(links->begin(), links->end(), [](const Link& a, const Link& b) {
    return std::tie(a.node, a.slice, a.gang, a.tokens) <
           std::tie(b.node, b.slice, b.gang, b.tokens);
  });
  auto together = [](const Link& a, const Link& b) {
    return a.node == b.node && a.slice == b.slice;
  };
  for (size_t i = 0; i < links->size(); ++i) {
    Link& link = (*links)[i];
    link.upto = link.tokens;
    if (i > 0 && together((*links)[i - 1], link))
      link.upto = std::min(link.upto, (*links)[i - 1].upto);
  }
  for (size_t i = links->size(); i-- > 0;) {
    Link& link = (*links)[i];
    link.from = link.tokens;
    if (i + 1 < links->size() && together((*links)[i + 1], link))
      link.from = std::min(link.from, (*links)[i + 1].from);
  }
}

void PathIndex::AddDirect(Direct* direct, uint32_t from, uint32_t to,
                          uint64_t tokens) {
  auto [it, added] = direct->try_emplace(uint64_t{from} << 32 | to, tokens);
  if (!added) it->second = std::min(it->second, tokens);
}

uint64_t PathIndex::FindDirect(const Direct& direct, uint32_t from,
                               uint32_t to) {
  auto it = direct.find(uint64_t{from} << 32 | to);
  return it == direct.end() ? kNoPath : it->second;
}

uint64_t PathIndex::FromGang(const Links& links, uint32_t node, uint32_t slice,
                             uint32_t position) {
  auto key = std::tie(node, slice, position);
  auto it = std::lower_bound(
      links.begin(), links.end(), key, [](const Link& link, const auto& k) {
        return std::tie(link.node, link.slice, link.gang) < k;
      });
  auto in_group = [&](const Link& link) {
    return link.node == node && link.slice == slice;
  };
  uint64_t tokens = kNoPath;
  // Gangs from `position` on are reached without tokens, earlier ones with one.
  if (it != links.end() && in_group(*it)) tokens = it->from;
  if (it != links.begin() && in_group(*(it - 1)))
    tokens = std::min(tokens, (it - 1)->upto + 1);
  return tokens;
}

uint64_t PathIndex::ToGang(const Links& links, uint32_t node, uint32_t slice,
                           uint32_t position) {
  auto key = std::tie(node, slice, position);
  auto it = std::upper_bound(
      links.begin(), links.end(), key, [](const auto& k, const Link& link) {
        return k < std::tie(link.node, link.slice, link.gang);
      });
  auto in_group = [&](const Link& link) {
    return link.node == node && link.slice == slice;
  };
  uint64_t tokens = kNoPath;
  // The gang at `position` is reached from earlier gangs without tokens, and
  // from later ones with one.
  if (it != links.begin() && in_group(*(it - 1))) tokens = (it - 1)->upto;
  if (it != links.end() && in_group(*it))
    tokens = std::min(tokens, it->from + 1);
  return tokens;
}

uint64_t PathIndex::ThroughQueue(uint32_t from, const Links& in,
                                 uint32_t to) const {
  uint32_t slice = context_.action(from).slice();
  auto begin_of = [&](const Links& links, uint32_t node) {
    return std::lower_bound(links.begin(), links.end(), std::tie(node, slice),
                            [](const Link& link, const auto& key) {
                              return std::tie(link.node, link.slice) < key;
                            });
  };
  auto on = begin_of(out_, from);
  auto off = begin_of(in, to);
  auto at = [&](const Links& links, Links::const_iterator link, uint32_t node) {
    return link != links.end() && link->node == node && link->slice == slice;
  };
  if (!at(out_, on, from) || !at(in, off, to)) return kNoPath;
  // One additional token joins any two gangs.
  uint64_t tokens = on->from + off->from + 1;
  uint64_t joined = kNoPath;
  for (; at(in, off, to); ++off) {
    for (; at(out_, on, from) && on->gang <= off->gang; ++on) {
      joined = on->upto;
      if (--budget_ < 0) return kNoPath;
    }
    if (joined != kNoPath) tokens = std::min(tokens, joined + off->tokens);
    if (--budget_ < 0) return kNoPath;
  }
  return tokens;
}

uint64_t PathIndex::Tokens(uint32_t from, uint32_t to, uint64_t enough) const {
  if (from == to) return 0;
  uint64_t tokens = FindDirect(direct_, from, to);
  bool from_gang = IsGang(from);
  bool to_gang = IsGang(to);
  uint32_t from_slice = context_.action(from).slice();
  uint32_t to_slice = context_.action(to).slice();
  if (tokens <= enough) return tokens;
  if (from_gang && to_gang) {
    if (from_slice == to_slice)
      tokens = std::min<uint64_t>(tokens, from < to ? 0 : 1);
  } else if (from_gang) {
    tokens = std::min(tokens, FromGang(in_, to, from_slice, from));
  } else if (to_gang) {
    tokens = std::min(tokens, ToGang(out_, from, to_slice, to));
  } else {
    tokens = std::min(tokens, ThroughQueue(from, in_, to));
  }
  return tokens;
}

uint64_t PathIndex::TokensToSend(uint32_t from, uint32_t send,
                                 uint64_t enough) const {
  uint64_t tokens = FindDirect(direct_to_send_, from, send);
  if (tokens <= enough) return tokens;
  return std::min(tokens, IsGang(from)
                              ? FromGang(to_send_, send,
                                         context_.action(from).slice(), from)
                              : ThroughQueue(from, to_send_, send));
}

}  // namespace pathways::verify_internal
