//===- PlanTables.h - Tables of a plan.program ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_DIALECT_PLAN_PLANTABLES_H
#define PATHWAYS_DIALECT_PLAN_PLANTABLES_H

#include "pathways/Dialect/Plan/PlanOps.h"
#include "runtime/proto/plan.pb.h"
#include <array>
#include <optional>

namespace mlir::pathways::plan {

/// The tables of a plan, in the order of text and file.
enum class Table {
  Slice,
  Layout,
  Kernel,
  Buffer,
  Action,
  Edge,
  Argument,
  Result,
  Loop,
  Order
};
inline constexpr unsigned kNumTables = 10;

/// Returns the table that an operation directly in a plan.program belongs to.
std::optional<Table> getTable(Operation *op);

/// A plan.program as the messages of plan.proto, and the operations of their
/// entries.
struct PlanTables {
  ::pathways::proto::Plan plan;
  /// The operation of each entry, by table.
  std::array<SmallVector<Operation *>, kNumTables> entries;
  /// Object code by offset in the blob section, without duplicates. The bytes
  /// belong to the resources; they are empty if a resource is missing.
  SmallVector<std::pair<uint64_t, ArrayRef<char>>> blobs;
  uint64_t blobBytes = 0;
  /// True if every kernel has its code.
  bool hasCode = true;

  ArrayRef<Operation *> operator[](Table table) const {
    return entries[static_cast<unsigned>(table)];
  }
};

/// Builds the tables. Fails, with a diagnostic at the entry, on a name that is
/// not in its table, entries out of order, and numbers and texts that do not
/// fit into the messages. Does not check the rules of a plan.
FailureOr<PlanTables> exportTables(ProgramOp program);

/// Builds the plan.program of `plan` at the builder's insertion point, the
/// exact inverse of exportTables. Requires that references are in range, types
/// and enumerations are known and shapes are those of tensors, as in any plan
/// that obeys the rules. Fails, with a diagnostic at `loc`, on objects whose
/// code is not inside `blobs`, and on a plan that text cannot express: two
/// segments of one name in a kernel.
FailureOr<ProgramOp> importTables(OpBuilder &builder, Location loc,
                                  const ::pathways::proto::Plan &plan,
                                  ArrayRef<char> blobs);

} // namespace mlir::pathways::plan

#endif // PATHWAYS_DIALECT_PLAN_PLANTABLES_H
