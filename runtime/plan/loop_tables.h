//===- loop_tables.h - Uses of buffers in the loops of a plan ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the verifier and the expansion of loops. The number of a loop is
// its index in the table plus one, as in actions and buffers; 0 is no loop.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_LOOP_TABLES_H_
#define RUNTIME_PLAN_LOOP_TABLES_H_

#include <cstdint>
#include <vector>

#include "runtime/proto/plan.pb.h"

namespace pathways {

// Returns true if the buffer is another name and has no memory of its own.
inline bool IsName(const proto::Buffer& buffer) {
  return buffer.initial() != 0 || buffer.last_of() != 0;
}

// Returns the offset of a buffer of a loop in an iteration.
inline uint64_t PlaceOf(const proto::Buffer& buffer, uint32_t iteration) {
  const int64_t slot = iteration % buffer.iteration_slots();
  return buffer.offset() +
         static_cast<uint64_t>(slot * buffer.iteration_stride());
}

// Calls `visit(slice, gang, iteration)` for each cell of a loop, those of a
// slice in its order, until it returns false. Returns false in that case.
template <typename F>
bool ForEachCell(const proto::Loop& loop, F visit) {
  for (const proto::OrderRun& run : loop.orders())
    for (uint32_t t = 0; t < run.times(); ++t)
      for (int c = 0; c < run.gangs_size(); ++c)
        if (!visit(run.slice(), run.gangs(c),
                   run.iterations(c) + uint64_t{t} * run.step()))
          return false;
  return true;
}

// The plan must obey rule 1, and the loops, actions and buffers must refer to
// each other as rule 11 says.
class LoopTables {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The content of a buffer in an iteration.
  struct Content {
    uint32_t buffer = kNone;  // not a name
    uint32_t loop = 0;        // of that buffer
    uint32_t writer = kNone;
    // The content is that of `lag` iterations earlier.
    uint32_t lag = 0;
  };
  // An action that reads a buffer: in iteration i what was written in iteration
  // i - lag.
  struct Read {
    uint32_t action = kNone;
    uint32_t lag = 0;
  };
  struct Alias {
    uint32_t operand = kNone;
    uint32_t result = kNone;
  };

  explicit LoopTables(const proto::Plan& plan);

  // Returns the buffers of a loop that are no names.
  const std::vector<uint32_t>& BuffersOf(uint32_t loop) const {
    return buffers_[loop - 1];
  }
  uint32_t FirstAction(uint32_t loop) const { return first_[loop - 1]; }
  uint32_t NumActions(uint32_t loop) const { return count_[loop - 1]; }
  bool IsInside(uint32_t action) const {
    return plan_.actions(static_cast<int>(action)).loop() != 0;
  }
  uint32_t WriterOf(uint32_t buffer) const { return writers_[buffer]; }
  // Returns what a buffer means inside of its loop after the first iterations.
  Content ContentOf(uint32_t buffer) const;
  // Returns the reads of a buffer of a loop, also by its names.
  const std::vector<Read>& ReadsOf(uint32_t buffer) const {
    return reads_[buffer];
  }
  // Returns the alias by which an action inside of a loop writes `buffer`, or
  // null.
  const Alias* AliasOf(uint32_t buffer) const {
    return aliases_[buffer].operand == kNone ? nullptr : &aliases_[buffer];
  }
  // Returns `buffer` and the buffers that take over its memory in the same
  // iteration.
  std::vector<uint32_t> ChainOf(uint32_t buffer) const;

 private:
  const proto::Plan& plan_;
  std::vector<std::vector<uint32_t>> buffers_;  // by loop
  std::vector<uint32_t> first_, count_;         // by loop
  std::vector<uint32_t> writers_;               // by buffer; kNone: nobody
  std::vector<std::vector<Read>> reads_;        // by buffer
  std::vector<Alias> aliases_;                  // by result
  std::vector<uint32_t> heirs_;                 // by operand
};

}  // namespace pathways

#endif  // RUNTIME_PLAN_LOOP_TABLES_H_
