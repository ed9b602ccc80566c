//===- dispatch.cc - Preparation of actions by their host -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/dispatch.h"

#include <algorithm>
#include <tuple>

namespace pathways {

DispatchTable::Remote* DispatchTable::FindRemote(uint32_t edge, int32_t host) {
  auto it = std::lower_bound(remotes.begin(), remotes.end(),
                             std::make_tuple(edge, host),
                             [](const Remote& a, const auto& key) {
                               return std::make_tuple(a.edge, a.host) < key;
                             });
  return it != remotes.end() && it->edge == edge && it->host == host ? &*it
                                                                     : nullptr;
}

const DispatchTable::Source* DispatchTable::Missing(const Item& item) const {
  for (const Source& source : item.sources) {
    if (item.prepared < source.tokens) continue;
    const uint64_t firing = item.prepared - source.tokens;
    const uint64_t enqueued = source.remote ? remotes[source.index].enqueued
                                            : items[source.index].prepared;
    if (enqueued <= firing) return &source;
  }
  return nullptr;
}

bool DispatchTable::Ready(const Item& item, uint64_t granted) const {
  return !item.working && item.prepared < granted &&
         item.prepared < item.fired + window && Missing(item) == nullptr;
}

void HostWork::Add(const Piece& piece) {
  heap_.push_back(piece);
  std::push_heap(heap_.begin(), heap_.end());
}

HostWork::Piece HostWork::Take() {
  std::pop_heap(heap_.begin(), heap_.end());
  const Piece first = heap_.back();
  heap_.pop_back();
  return first;
}

HostWork::Turn HostWork::Begin(TimeNs cost) {
  busy_ = true;
  const Piece piece = Take();
  // A timer on threads may be late; the delay does not count as work.
  const TimeNs begin = std::max(end_, piece.since);
  end_ = begin + cost;
  return {piece, ++number_, begin, end_};
}

void HostWork::Drop(uint32_t program, uint32_t incarnation) {
  std::erase_if(heap_, [&](const Piece& piece) {
    return piece.program == program && piece.incarnation == incarnation;
  });
  std::make_heap(heap_.begin(), heap_.end());
}

}  // namespace pathways
