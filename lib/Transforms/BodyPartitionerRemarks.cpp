//===- BodyPartitionerRemarks.cpp - Remarks on the partitioning of a body -===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

using namespace mlir;
using namespace mlir::pathways;

/// Returns true if all devices must gather `value`, of which they have parts.
bool BodyPartitioner::isGatheredWhole(Value value) {
  auto local = locals.find(value);
  return local != locals.end() && !local->second.isFree() &&
         local->second.sharding != layouts.getWhole(typeOf(value).getRank());
}

/// Reports that `op`, which is computed whole, needs its operands whole.
void BodyPartitioner::explainWhole(Operation *op) {
  auto isGathered = [&](Value value) { return isGatheredWhole(value); };
  bool isOperand = llvm::any_of(op->getOperands(), isGathered);
  if (!isOperand && llvm::none_of(getCapturedTensors(op), isGathered))
    return;
  InFlightDiagnostic remark = op->emitRemark() << "'" << op->getName() << "' ";
  // Loops and branches were tried before; a remark says why they are not cut.
  if (isa<scf::ForOp, scf::IfOp>(op))
    remark << "is computed whole by all devices";
  else
    remark << "has no sharding rule";
  remark << ", so " << (isOperand ? "its operands" : "what its body reads")
         << (isOperand ? " are" : " is") << " gathered whole";
}

/// Reports which dimensions are gathered because the operation needs them
/// whole.
void BodyPartitioner::explainGathers(Operation *op, const ShardingRule &rule) {
  for (auto [index, dims] : llvm::enumerate(rule.operands)) {
    Local local = locals.lookup(op->getOperand(index));
    if (local.isFree())
      continue;
    for (auto [dim, factor] : llvm::enumerate(dims)) {
      ArrayAttr axes = local.sharding.getDims()[dim];
      if (axes.empty())
        continue;
      int64_t blocks = layouts.getNumBlocks(axes.getValue());
      bool isWhole =
          factor == ShardingRule::kWhole || !rule.factors[factor].isCuttable;
      if (!isWhole && rule.factors[factor].isCuttableInto(blocks))
        continue;
      InFlightDiagnostic remark =
          op->emitRemark() << "'" << op->getName()
                           << "' needs all of dimension " << dim
                           << " of operand " << index << ", which is gathered";
      if (!isWhole)
        remark << ": its " << rule.factors[factor].size
               << " elements are not cut into " << blocks << " equal blocks";
    }
  }
  if (rule.captures.empty())
    return;
  for (Value value : getCapturedTensors(op)) {
    if (!isGatheredWhole(value))
      continue;
    InFlightDiagnostic remark = op->emitRemark()
                                << "'" << op->getName() << "' needs all of a "
                                << value.getType()
                                << " that its body reads, which is gathered";
    remark.attachNote(value.getLoc()) << "the tensor is defined here";
  }
}

/// Reports shards that have no element of the constrained value.
void BodyPartitioner::explainEmpty(ConstrainOp op) {
  ShardingAttr sharding = layouts.normalize(op.getSharding());
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    int64_t size = typeOf(op.getSource()).getDimSize(dim);
    int64_t blocks = layouts.getNumBlocks(axes.getValue());
    if (int64_t empty = countEmptyBlocks(size, blocks))
      op.emitRemark() << "dimension " << dim << " of " << size
                      << " elements is cut into " << blocks << " blocks, "
                      << empty << " of which have none";
  }
}

static std::string toText(ArrayAttr axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      axes.getAsRange<StringAttr>(), os,
      [&](StringAttr axis) { os << '"' << axis.getValue() << '"'; }, ", ");
  return '{' + text + '}';
}

static std::string toText(const Cut &cut) {
  std::string text;
  for (auto [factor, axes] : llvm::enumerate(cut))
    if (!axes.empty())
      text += (text.empty() ? "" : ", ") + std::string("d") +
              std::to_string(factor) + " " + toText(axes);
  return text.empty() ? "not cut" : text;
}

/// Reports the cost of each way to cut `op`.
void BodyPartitioner::explainCut(Operation *op, ArrayRef<CutOption> options) {
  constexpr size_t kMost = 4;
  InFlightDiagnostic remark =
      op->emitRemark() << "'" << op->getName() << "' of '" << body.getSymName()
                       << "' is cut along " << toText(options.front().cut)
                       << ", " << options.front().ns << " ns";
  for (const CutOption &option : options.drop_front().take_front(kMost - 1))
    remark << "; " << toText(option.cut) << " would be " << option.ns << " ns";
  if (options.size() > kMost)
    remark << "; and " << options.size() - kMost << " more";
}

/// Reports the layouts of the results of `op`, and their origin.
void BodyPartitioner::explainLayouts(Operation *op) {
  for (Value result : op->getResults()) {
    auto local = locals.find(result);
    if (local == locals.end() || local->second.isFree())
      continue;
    std::string reasons;
    llvm::raw_string_ostream why(reasons);
    for (ArrayAttr axes : local->second.sharding.getDims())
      for (auto axis : axes.getAsRange<StringAttr>())
        if (auto origin = shardings->getOrigin(result, axis))
          why << "; \"" << axis.getValue() << "\" is from "
              << describe(*origin);
    op->emitRemark() << "result " << cast<OpResult>(result).getResultNumber()
                     << " of '" << op->getName() << "' lies "
                     << local->second.sharding << reasons;
  }
}
