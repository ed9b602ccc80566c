//===- fetch_assembly.h - An array that comes from hosts --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_FETCH_ASSEMBLY_H_
#define RUNTIME_CLIENT_FETCH_ASSEMBLY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/host_array.h"
#include "runtime/binding/parts.h"
#include "runtime/client/block_map.h"
#include "runtime/layout/contributions.h"
#include "runtime/protocol/block_pull.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// Joins the blocks of an array that hosts hold, each asked for once, from the
// first host that has it. Contributions are kept, or combined when all are
// there, with the bits of a reduction on the devices. Pieces are copied to
// where they belong; what comes twice, or was not asked for, changes nothing.
// One owner at a time calls it.
class FetchAssembly {
 public:
  // One host that is asked; it sends its first piece of its own accord.
  struct Source {
    int32_t host = 0;
    uint32_t first = 0;  // that piece
  };

  // `shape` has the steps of a stepped array. Without `has_values` pieces have
  // none either, and so does the array. With a `window` only that box (without
  // steps) is joined, which has that shape, and the placement has no other
  // parts than those in it (BlockMap). kKeep: the array's data are the
  // contributions to it, one dense array behind the other by rank.
  enum class Partial { kCombine, kKeep };
  FetchAssembly(const ArrayPlacement& placement, ElementType element,
                std::vector<int64_t> shape, bool has_values = true,
                const layout::Box* window = nullptr,
                Partial partial = Partial::kCombine);

  // Ascending by host.
  std::vector<Source> sources() const;
  // The first piece of one that is asked.
  uint32_t first(int32_t host) const;
  // Takes a piece. False: it was not asked for, or has come before.
  bool Accept(int32_t host, PulledPiece piece, Payload payload);
  // What to ask a host for now, and what it was asked for and has not sent.
  std::optional<PulledPiece> Next(int32_t host);
  std::vector<PulledPiece> UnderWay(int32_t host) const;

  // All has come, from one host or all of them. True of a host that is not
  // asked.
  bool over(int32_t host) const;
  bool complete() const { return hosts_left_ == 0; }
  // The array, when all has come; once.
  HostArray Take();

 private:
  struct Host {
    int32_t host;
    BlockMap map;
    BlockPull pull;
    uint32_t first;
  };

  Host* Find(int32_t host);
  const Host* Find(int32_t host) const;

  // Where pieces go.
  char* data() {
    return combined_.sizes.empty() ? array_.data.data() : values_.data();
  }

  const bool has_values_;
  HostArray array_;
  // Contributions that are to be combined, one behind the other; else empty.
  ArrayBytes values_;
  layout::Contributions combined_;
  std::vector<Host> hosts_;  // ascending
  size_t hosts_left_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_FETCH_ASSEMBLY_H_
