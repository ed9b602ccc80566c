//===- KernelTable.cpp - Kernels shared by calls --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include "KernelEntry.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::pathways;

KernelTable::Needs KernelTable::getNeeds(func::FuncOp callee) {
  auto known = needs.find(callee);
  if (known != needs.end())
    return known->second;
  Needs result = Needs::Nothing;
  // Visits all functions reached; splitAtCollectives refuses cycles.
  SmallVector<func::FuncOp> work = {callee};
  llvm::SmallPtrSet<Operation *, 8> seen = {callee};
  while (!work.empty()) {
    func::FuncOp function = work.pop_back_val();
    function.walk([&](Operation *op) {
      if (isa<ValidExtentOp>(op))
        result = Needs::Extents;
      else if (isa<ShardIndexOp>(op) && result == Needs::Nothing)
        result = Needs::Coordinates;
      else if (auto call = dyn_cast<func::CallOp>(op))
        if (auto next = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                call, call.getCalleeAttr()))
          if (seen.insert(next).second)
            work.push_back(next);
    });
  }
  return needs[callee] = result;
}

LogicalResult KernelTable::setCost(PlanKernel &kernel) {
  kernel.costNs = costs.getBodyNs(*kernel.body.inlined);
  if (!costs.hasProfile())
    return success();
  FailureOr<std::optional<::pathways::Computation>> computation =
      getComputation(kernel);
  if (failed(computation))
    return failure();
  std::optional<uint64_t> measured;
  if (*computation)
    measured = costs.getMeasuredNs(**computation);
  // A computation without steps has nothing to measure.
  kernel.isMeasured = measured.has_value() || !*computation;
  if (measured)
    kernel.costNs = *measured;
  return success();
}

/// Returns each argument of `wanted` whose memory a result takes, with that
/// result.
static SmallVector<AliasPair> chooseAliases(const SegmentedBody &body,
                                            const MemoryWishes &wanted) {
  SegmentAliases aliases(body);
  SmallVector<AliasPair> chosen;
  llvm::SmallDenseSet<unsigned> taken;
  auto take = [&](unsigned argument, unsigned result) {
    if (taken.contains(result) || !aliases.canAlias(argument, result))
      return false;
    chosen.push_back({argument, result});
    taken.insert(result);
    return true;
  };
  // For each type, the first of the open results that may not be taken yet.
  llvm::DenseMap<Type, size_t> firsts;
  for (const MemoryWishes::Wish &wish : wanted.wishes) {
    if (wish.best && take(wish.argument, *wish.best))
      continue;
    auto *open = wanted.open.find(wish.shard);
    if (!wish.isDonated || open == wanted.open.end())
      continue;
    ArrayRef<unsigned> results = open->second;
    size_t &first = firsts[wish.shard];
    while (first < results.size() && taken.contains(results[first]))
      ++first;
    for (unsigned result : results.drop_front(first))
      if (take(wish.argument, result))
        break;
  }
  return chosen;
}

PlanKernel *KernelTable::get(func::FuncOp callee, MeshAttr mesh,
                             ArrayRef<ArrayType> operands,
                             const MemoryWishes &wanted) {
  Builder b(callee.getContext());
  Needs need = getNeeds(callee);
  SmallVector<Attribute> parts = {callee.getSymNameAttr()};
  if (need != Needs::Nothing)
    parts.push_back(mesh);
  if (need == Needs::Extents) {
    // The slice is irrelevant.
    auto nowhere = FlatSymbolRefAttr::get(b.getContext(), "");
    for (ArrayType type : operands)
      parts.push_back(TypeAttr::get(type.withSlice(nowhere)));
  }
  Attribute code = b.getArrayAttr(parts);
  SmallVector<Attribute> wish = {code};
  SmallVector<int64_t> numbers;
  for (const MemoryWishes::Wish &part : wanted.wishes)
    numbers.append(
        {part.argument, part.best ? int64_t{*part.best} : -1, part.isDonated});
  wish.push_back(b.getDenseI64ArrayAttr(numbers));
  for (const auto &[shard, results] : wanted.open)
    wish.push_back(b.getDenseI64ArrayAttr(
        SmallVector<int64_t>(results.begin(), results.end())));
  PlanKernel *&known = byWish[b.getArrayAttr(wish)];
  if (known)
    return known;

  std::string name = names.get(callee.getSymName());
  auto kernel = std::make_unique<PlanKernel>();
  kernel->holder = ModuleOp::create(callee.getLoc());
  OpBuilder body = OpBuilder::atBlockEnd(kernel->holder->getBody());
  // The dot keeps functions apart from those that generated code imports.
  FailureOr<SegmentedBody> split =
      splitAtCollectives(callee, mesh, operands, body, name + ".run");
  if (failed(split))
    return nullptr;
  kernel->body = std::move(*split);
  kernel->aliases = chooseAliases(kernel->body, wanted);
  addAliases(kernel->body, kernel->aliases);
  SmallVector<int64_t> got;
  for (auto [argument, result] : kernel->aliases)
    got.append({argument, result});
  PlanKernel *&same =
      byResult[b.getArrayAttr({code, b.getDenseI64ArrayAttr(got)})];
  if (same)
    return known = same;

  kernel->number = kernels.size();
  kernel->name = std::move(name);
  if (failed(setCost(*kernel)))
    return nullptr;
  if (need == Needs::Nothing) {
    // Code that needs no coordinates serves any mesh.
    for (func::FuncOp function : kernel->body.segments)
      function->removeAttr(kSegmentMeshAttrName);
  } else {
    kernel->coordinates = mesh.getNames().size();
  }
  kernels.push_back(std::move(kernel));
  same = kernels.back().get();
  return known = same;
}
