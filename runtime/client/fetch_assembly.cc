//===- fetch_assembly.cc - Assembly of an array from hosts ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/fetch_assembly.h"

#include <algorithm>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include "runtime/base/buffer_bytes.h"
#include "runtime/base/memory.h"
#include "runtime/client/combine.h"
#include "runtime/layout/contributions.h"

namespace pathways {
namespace {

// Arrays of at least this size are assumed to be in fresh memory.
constexpr uint64_t kFreshBytes = uint64_t{2} << 20;
// Bytes that are touched before the thread yields.
constexpr uint64_t kTouchedBytes = uint64_t{1} << 14;

// Touches the pages of large arrays on the caller's thread, so that the worker
// that receives the pieces, and serves other actors too, need not.
void TouchFresh(char* data, uint64_t bytes) {
  if (bytes < kFreshBytes) return;
  for (uint64_t at = 0; at < bytes; at += kTouchedBytes) {
    if (!TouchPages(data + at, std::min(kTouchedBytes, bytes - at))) {
      throw std::bad_alloc();
    }
    std::this_thread::yield();
  }
}

}  // namespace

FetchAssembly::FetchAssembly(const ArrayPlacement& placement,
                             ElementType element, std::vector<int64_t> shape,
                             bool has_values, const layout::Box* window,
                             Partial partial, char* into)
    : has_values_(has_values) {
  const uint64_t steps = placement.stepped ? shape.front() : 1;
  array_.element = element;
  array_.shape = std::move(shape);
  if (has_values) {
    const layout::Contributions contributions =
        layout::ContributionsOf(placement.layout, placement.mesh);
    const auto bytes =
        static_cast<uint64_t>(array_.numElements() * placement.element_bytes);
    const uint64_t all =
        AddBytes(0, bytes, static_cast<uint64_t>(contributions.count()));
    const bool combines =
        partial == Partial::kCombine && !contributions.sizes.empty();
    bytes_ = combines ? bytes : all;
    if (into == nullptr) array_.data.resize(bytes_);
    result_ = into == nullptr ? array_.data.data() : into;
    if (combines) {
      values_.resize(all);
      combined_ = contributions;
    }
    TouchFresh(data(), all);
  }
  // Blocks that are covered, by contribution and begin.
  std::set<std::pair<int64_t, std::vector<int64_t>>> covered;
  for (const ArrayPlacement::Host& host : placement.hosts) {
    std::vector<BlockPull::Range> ranges;
    for (const Part& part : host.parts.parts) {
      const layout::Box box =
          layout::ShardBox(placement.layout, placement.mesh, part.shard);
      if (!covered.insert({part.contribution, box.begin}).second) continue;
      const uint64_t begin = part.offset * steps;
      const uint64_t first = begin / kPieceBytes;
      const uint64_t end = NumPieces(begin + part.bytes * steps);
      // One piece may hold the end of a block and the beginning of the next.
      if (!ranges.empty() && first <= ranges.back().end) {
        ranges.back().end = end;
      } else {
        ranges.push_back({first, end});
      }
    }
    if (ranges.empty()) continue;
    hosts_.push_back({host.host, BlockMap(placement, host.parts, steps, window),
                      BlockPull(std::move(ranges)), 0});
    hosts_.back().first = hosts_.back().pull.Next()->number;
  }
  hosts_left_ = hosts_.size();
}

std::vector<FetchAssembly::Source> FetchAssembly::sources() const {
  std::vector<Source> sources;
  for (const Host& host : hosts_) sources.push_back({host.host, host.first});
  return sources;
}

uint32_t FetchAssembly::first(int32_t host) const {
  const Host* found = Find(host);
  return found == nullptr ? 0 : found->first;
}

FetchAssembly::Host* FetchAssembly::Find(int32_t host) {
  return const_cast<Host*>(std::as_const(*this).Find(host));
}

const FetchAssembly::Host* FetchAssembly::Find(int32_t host) const {
  auto found = std::lower_bound(
      hosts_.begin(), hosts_.end(), host,
      [](const Host& a, int32_t number) { return a.host < number; });
  return found == hosts_.end() || found->host != host ? nullptr : &*found;
}

bool FetchAssembly::Accept(int32_t number, PulledPiece piece, Payload payload) {
  Host* host = Find(number);
  if (host == nullptr) return false;
  const uint64_t at = piece.offset();
  if (at >= host->map.bytes() || (payload.data == nullptr && has_values_) ||
      payload.bytes != piece.BytesOf(host->map.bytes()) ||
      !host->pull.Accept(piece)) {
    return false;
  }
  if (has_values_) {
    host->map.Scatter(static_cast<const char*>(payload.data), at, payload.bytes,
                      data());
  }
  if (host->pull.over()) --hosts_left_;
  return true;
}

std::optional<PulledPiece> FetchAssembly::Next(int32_t host) {
  Host* found = Find(host);
  return found == nullptr ? std::nullopt : found->pull.Next();
}

std::vector<PulledPiece> FetchAssembly::UnderWay(int32_t host) const {
  const Host* found = Find(host);
  return found == nullptr ? std::vector<PulledPiece>() : found->pull.UnderWay();
}

bool FetchAssembly::over(int32_t host) const {
  const Host* found = Find(host);
  return found == nullptr || found->pull.over();
}

HostArray FetchAssembly::Take() {
  if (!combined_.sizes.empty()) {
    CombineInto(combined_, array_.element, values_.data(), bytes_, result_);
    values_ = ArrayBytes();
  }
  return std::move(array_);
}

}  // namespace pathways
