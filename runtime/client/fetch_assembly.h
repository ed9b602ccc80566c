//===- fetch_assembly.h - Assembly of an array from hosts -------*- C++ -*-===//
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

#include "pathways/HostArray.h"
#include "runtime/binding/parts.h"
#include "runtime/client/block_map.h"
#include "runtime/layout/contributions.h"
#include "runtime/protocol/block_pull.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// Joins the blocks of an array that hosts hold, each requested once, from the
// first host that has it. Contributions are kept, or combined when all have
// come, with the bits of a reduction on the devices. Pieces are copied to where
// they belong; duplicates, and pieces that were not requested, are ignored. One
// owner at a time calls it.
class FetchAssembly {
 public:
  // A host to ask. It sends its first piece without a pull.
  struct Source {
    int32_t host = 0;
    uint32_t first = 0;  // number of that piece
  };

  // `shape`: includes the steps of a stepped array. `has_values`: if false,
  // pieces and the array have no bytes. `window`: only this box (without
  // steps), which has that shape, is joined, and the placement has no parts
  // outside it (BlockMap). kKeep: the array's data are its contributions, one
  // dense array per rank, in order. `into`: memory of the caller for the data;
  // null: the assembly allocates it.
  enum class Partial { kCombine, kKeep };
  FetchAssembly(const ArrayPlacement& placement, ElementType element,
                std::vector<int64_t> shape, bool has_values = true,
                const layout::Box* window = nullptr,
                Partial partial = Partial::kCombine, char* into = nullptr);

  // Returns the hosts to ask, ascending.
  std::vector<Source> sources() const;
  // Returns the first piece of a host that is asked.
  uint32_t first(int32_t host) const;
  // Takes a piece. Returns false if it was not requested, or has come before.
  bool Accept(int32_t host, PulledPiece piece, Payload payload);
  // Next returns a piece to request from the host now; UnderWay returns the
  // pieces that were requested from it and have not come.
  std::optional<PulledPiece> Next(int32_t host);
  std::vector<PulledPiece> UnderWay(int32_t host) const;

  // Both return true if everything has come, from one host or from all of them.
  // `over` is also true for a host that is not asked.
  bool over(int32_t host) const;
  bool complete() const { return hosts_left_ == 0; }
  // Returns the array when all has come, without data if these are in memory of
  // the caller; may be called once.
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

  // Returns the memory that pieces are copied to.
  char* data() { return combined_.sizes.empty() ? result_ : values_.data(); }

  const bool has_values_;
  HostArray array_;
  char* result_ = nullptr;  // data of the array, here or with the caller
  uint64_t bytes_ = 0;      // of the array
  // Contributions to combine, in order of rank; empty if there are none.
  ArrayBytes values_;
  layout::Contributions combined_;
  std::vector<Host> hosts_;  // ascending
  size_t hosts_left_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_FETCH_ASSEMBLY_H_
