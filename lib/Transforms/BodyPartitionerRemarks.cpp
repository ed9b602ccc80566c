//===- BodyPartitionerRemarks.cpp - Why it is cut so ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyPartitioner.h"

using namespace mlir;
using namespace mlir::pathways;

/// Says which dimensions come together because the operation needs all of them.
void BodyPartitioner::explainGathers(Operation *op, const ShardingRule &rule) {
  for (auto [index, dims] : llvm::enumerate(rule.operands)) {
    Local local = locals.lookup(op->getOperand(index));
    if (local.isFree())
      continue;
    for (auto [dim, factor] : llvm::enumerate(dims))
      if (!local.sharding.getDims()[dim].empty() &&
          (factor == ShardingRule::kWhole || !rule.factors[factor].isCuttable))
        op->emitRemark() << "'" << op->getName() << "' needs all of dimension "
                         << dim << " of operand " << index
                         << ", which is gathered";
  }
}

/// Says which dimensions are not cut as they are asked to be.
void BodyPartitioner::explainUneven(ConstrainOp op) {
  ShardingAttr sharding = layouts.normalize(op.getSharding());
  ShardingAttr even = layouts.getEven(typeOf(op.getSource()), sharding);
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
    if (axes != even.getDims()[dim])
      op.emitRemark() << "dimension " << dim << " of "
                      << typeOf(op.getSource()).getDimSize(dim)
                      << " elements is not cut into "
                      << layouts.getNumBlocks(axes.getValue())
                      << " equal blocks; everybody has all of it";
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

/// Of each way to cut `op`, what it costs.
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

/// How results of `op` lie, and who said so.
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
