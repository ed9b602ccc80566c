//===- CutChoice.cpp - Choice of the factors of an operation to cut -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Analysis/CutChoice.h"

#include "pathways/Analysis/CostModel.h"
#include "pathways/Dialect/Pathways/Layouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Largest number of cuts that are compared.
static constexpr size_t kMaxOptions = 512;

ShardingAttr mlir::pathways::getLayout(MLIRContext *context,
                                       ArrayRef<int64_t> dims, const Cut &cut) {
  SmallVector<ArrayAttr> axes;
  for (int64_t factor : dims)
    axes.push_back(factor == ShardingRule::kWhole ? ArrayAttr::get(context, {})
                                                  : cut[factor]);
  return ShardingAttr::get(context, axes);
}

SmallVector<StringAttr> mlir::pathways::getReducedAxes(const ShardingRule &rule,
                                                       const Cut &cut) {
  SmallVector<StringAttr> reduced;
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, cut))
    if (factor.isReduced)
      llvm::append_range(reduced, axes.getAsRange<StringAttr>());
  return reduced;
}

ShardingAttr mlir::pathways::getMadeLayout(MLIRContext *context,
                                           const ShardingRule &rule,
                                           const Cut &cut, unsigned result,
                                           ArrayRef<StringAttr> reducedAxes) {
  ShardingAttr layout = getLayout(context, rule.results[result], cut);
  if (reducedAxes.empty())
    return layout;
  return ShardingAttr::get(
      context, layout.getDims(),
      ReductionKindAttr::get(context, *rule.reductions[result]), reducedAxes);
}

namespace {
class CutRanking {
public:
  explicit CutRanking(const CutProblem &problem)
      : problem(problem), rule(problem.rule),
        context(problem.mesh.getContext()) {
    if (!problem.captures.empty())
      captured = getCapturedTensors(problem.op);
  }

  SmallVector<CutOption> run();

private:
  void addCandidate(unsigned factor, ArrayAttr axes);
  void addCandidates(ArrayRef<int64_t> dims, ShardingAttr layout);
  void enumerate(unsigned factor, Cut &cut,
                 SmallVectorImpl<CutOption> &options);
  uint64_t getNs(const Cut &cut) const;
  uint64_t getComputeNs(const Cut &cut) const;
  ShardingAttr getGoal(ShardingAttr wanted, ShardingAttr made) const;
  uint64_t getReshardNs(Value value, ShardingAttr from, ShardingAttr to) const;
  int64_t getNumBlocks(ArrayAttr axes) const {
    return *problem.mesh.getGroupSize(axes);
  }
  int64_t getNumShards(const Cut &cut) const {
    int64_t shards = 1;
    for (ArrayAttr axes : cut)
      shards *= getNumBlocks(axes);
    return shards;
  }

  const CutProblem &problem;
  const ShardingRule &rule;
  MLIRContext *context;
  SmallVector<Value> captured;
  SmallVector<SmallVector<ArrayAttr, 4>> candidates;
};
} // namespace

/// Adds `axes` if they may cut the factor. Also adds the longest prefix of
/// `axes` that makes equal blocks, if that is shorter.
void CutRanking::addCandidate(unsigned factor, ArrayAttr axes) {
  auto add = [&](ArrayAttr kept) {
    if (!llvm::is_contained(candidates[factor], kept))
      candidates[factor].push_back(kept);
  };
  if (rule.factors[factor].isCuttableInto(getNumBlocks(axes)))
    add(axes);
  ArrayRef<Attribute> list = axes.getValue();
  while (!list.empty() && rule.factors[factor].size %
                                  getNumBlocks(ArrayAttr::get(context, list)) !=
                              0)
    list = list.drop_back();
  if (list.size() < axes.size() && !list.empty())
    add(ArrayAttr::get(context, list));
}

void CutRanking::addCandidates(ArrayRef<int64_t> dims, ShardingAttr layout) {
  if (!layout)
    return;
  for (auto [factor, axes] : llvm::zip_equal(dims, layout.getDims()))
    if (factor != ShardingRule::kWhole && rule.factors[factor].isCuttable &&
        !axes.empty())
      addCandidate(factor, axes);
}

void CutRanking::enumerate(unsigned factor, Cut &cut,
                           SmallVectorImpl<CutOption> &options) {
  if (factor == candidates.size()) {
    options.push_back({cut, getNs(cut)});
    return;
  }
  for (ArrayAttr axes : candidates[factor]) {
    bool isTaken = llvm::any_of(cut, [&](ArrayAttr others) {
      return llvm::any_of(axes, [&](Attribute axis) {
        return llvm::is_contained(others, axis);
      });
    });
    if (isTaken)
      continue;
    cut.push_back(axes);
    enumerate(factor + 1, cut, options);
    cut.pop_back();
  }
}

/// Returns the layout to which a result of layout `made` is brought.
ShardingAttr CutRanking::getGoal(ShardingAttr wanted, ShardingAttr made) const {
  if (!wanted)
    return made.withoutPartial();
  SmallVector<ArrayAttr> dims;
  for (auto [dim, axes] : llvm::enumerate(wanted.getDims())) {
    bool isFree = axes.empty() && wanted.isOpen(dim);
    // A dimension with no wanted layout keeps its axes, unless they are wanted
    // elsewhere.
    for (Attribute axis : made.getDims()[dim])
      isFree &= llvm::none_of(wanted.getDims(), [&](ArrayAttr others) {
        return llvm::is_contained(others, axis);
      });
    dims.push_back(isFree ? made.getDims()[dim] : axes);
  }
  return ShardingAttr::get(context, dims);
}

uint64_t CutRanking::getReshardNs(Value value, ShardingAttr from,
                                  ShardingAttr to) const {
  auto type = cast<RankedTensorType>(value.getType());
  // f16 and bf16 are added up as f32.
  if (from.isPartial() && isa<FloatType>(type.getElementType()) &&
      type.getElementTypeBitWidth() == 16)
    type = type.clone(Float32Type::get(context));
  return problem.reshards.get(type, from, to).cost.ns;
}

uint64_t CutRanking::getNs(const Cut &cut) const {
  uint64_t ns = 0;
  SmallVector<StringAttr> reduced = getReducedAxes(rule, cut);
  auto getMade = [&](unsigned result) {
    return getMadeLayout(context, rule, cut, result, reduced);
  };
  // A result continues contributions that it starts from, if the layouts agree.
  auto isKept = [&](unsigned operand) {
    for (auto [result, init] : llvm::enumerate(rule.inits))
      if (!reduced.empty() && init == operand &&
          problem.operands[operand] == getMade(result))
        return true;
    return false;
  };
  for (auto [index, dims] : llvm::enumerate(rule.operands)) {
    ShardingAttr there = problem.operands[index];
    if (!there || isKept(index))
      continue;
    ShardingAttr needed = getLayout(context, dims, cut);
    if (!problem.isThere(index, needed))
      ns += getReshardNs(problem.op->getOperand(index), there, needed);
  }
  for (auto [value, there, dims] :
       llvm::zip(captured, problem.captures, rule.captures))
    if (there)
      ns += getReshardNs(value, there, getLayout(context, dims, cut));
  for (unsigned index = 0; index != rule.results.size(); ++index) {
    ShardingAttr made = getMade(index);
    ShardingAttr wanted = problem.results[index];
    // The contributions may already be wanted.
    if (wanted && wanted.isPartial()) {
      if (made.getPartialKind() == wanted.getPartialKind() &&
          made.getPartialAxes() == wanted.getPartialAxes())
        made = made.withoutPartial();
      wanted = wanted.withoutPartial();
    }
    ns +=
        getReshardNs(problem.op->getResult(index), made, getGoal(wanted, made));
  }
  return ns + getComputeNs(cut);
}

/// Returns the time of one shard, including its padding.
uint64_t CutRanking::getComputeNs(const Cut &cut) const {
  uint64_t ns = CostModel().getShardNs(problem.op, getNumShards(cut));
  for (auto [factor, axes] : llvm::zip_equal(rule.factors, cut))
    if (factor.size > 0)
      ns = llvm::SaturatingMultiply<uint64_t>(
               ns, llvm::alignTo(factor.size, getNumBlocks(axes))) /
           factor.size;
  return ns;
}

SmallVector<CutOption> CutRanking::run() {
  candidates.resize(rule.factors.size());
  // The largest operands come first: of equally cheap cuts theirs wins.
  SmallVector<unsigned> order;
  for (auto [index, layout] : llvm::enumerate(problem.operands))
    if (layout)
      order.push_back(index);
  auto getSize = [&](unsigned index) {
    return cast<RankedTensorType>(problem.op->getOperand(index).getType())
        .getNumElements();
  };
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return getSize(a) > getSize(b); });
  for (unsigned index : order)
    addCandidates(rule.operands[index], problem.operands[index]);
  for (auto [dims, layout] : llvm::zip_equal(rule.results, problem.results))
    addCandidates(dims, layout);
  for (auto &axes : candidates)
    axes.push_back(ArrayAttr::get(context, {}));
  // No axes is the last choice of each factor and is always kept.
  auto getNumOptions = [&] {
    size_t count = 1;
    for (const auto &axes : candidates)
      count = llvm::SaturatingMultiply(count, axes.size());
    return count;
  };
  while (getNumOptions() > kMaxOptions) {
    auto most = llvm::max_element(candidates, [](const auto &a, const auto &b) {
      return a.size() < b.size();
    });
    most->erase(most->end() - 2);
  }
  SmallVector<CutOption> options;
  Cut cut;
  enumerate(0, cut, options);
  llvm::stable_sort(options, [&](const CutOption &a, const CutOption &b) {
    if (a.ns != b.ns)
      return a.ns < b.ns;
    return getNumShards(a.cut) > getNumShards(b.cut);
  });
  return options;
}

SmallVector<CutOption> mlir::pathways::rankCuts(const CutProblem &problem) {
  return CutRanking(problem).run();
}
