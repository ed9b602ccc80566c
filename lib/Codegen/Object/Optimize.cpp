//===- Optimize.cpp - LLVM passes for kernels -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's default pipeline is made for hand-written code. Code from the earlier
// stages has no calls to inline, no exceptions and few branches. Its loops are
// counted, their sizes are constants, and code that is worth a register tile is
// in one already. So only the passes run that have an effect, and loops are
// unrolled only if they vanish completely.
//
//===----------------------------------------------------------------------===//

#include "CodegenInternal.h"
#include "Object/ObjectWriter.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"

using namespace mlir::pathways;

namespace {
/// Prevents unrolling of outer loops: repeating their bodies gains nothing.
struct KeepOuterLoops : llvm::PassInfoMixin<KeepOuterLoops> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &,
                              llvm::LoopStandardAnalysisResults &,
                              llvm::LPMUpdater &) {
    if (!loop.isInnermost())
      loop.setLoopAlreadyUnrolled();
    return llvm::PreservedAnalyses::all();
  }
};

/// Returns the number of vector ops in `loop` that unrolling cannot remove.
unsigned countVectorOps(const llvm::Loop &loop) {
  unsigned ops = 0;
  for (const llvm::BasicBlock *block : loop.blocks())
    for (const llvm::Instruction &op : *block)
      if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&op))
        ops += store->getValueOperand()->getType()->isVectorTy();
      else if (llvm::isa<llvm::LoadInst, llvm::CallInst, llvm::BinaryOperator>(
                   op))
        ops += op.getType()->isVectorTy();
  return ops;
}

/// Prevents unrolling of long or large loops: estimating the cost takes longer
/// than this check. If a loop that stands alone vanishes, nothing stays in
/// registers, so that only a few branches would be saved; its limit is lower.
struct KeepLongLoops : llvm::PassInfoMixin<KeepLongLoops> {
  static constexpr unsigned kShort = 8;
  /// LLVM unrolls a loop of which much can be simplified up to 400 % of 150;
  /// this is that limit if each op has the least cost.
  static constexpr unsigned kLarge = 600, kLargeAlone = 16;

  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &,
                              llvm::LoopStandardAnalysisResults &results,
                              llvm::LPMUpdater &) {
    unsigned count = results.SE.getSmallConstantTripCount(&loop);
    const unsigned large = loop.getParentLoop() ? kLarge : kLargeAlone;
    if (count == 0 || count > kShort || count * countVectorOps(loop) > large)
      loop.setLoopAlreadyUnrolled();
    return llvm::PreservedAnalyses::all();
  }
};
} // namespace

namespace {
/// Rewrites the addresses in loops to few pointers that are incremented.
/// Finding the best pointers takes long. If a loop has few addresses, each one
/// is an addressing mode of the target, a pointer plus the induction variable.
/// If it has many, as in tiles, their base pointers do not fit in registers.
class ReduceAddresses : public llvm::PassInfoMixin<ReduceAddresses> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (llvm::none_of(loops.getLoopsInPreorder(), hasManyAddresses))
      return llvm::PreservedAnalyses::all();
    return llvm::createFunctionToLoopPassAdaptor(llvm::LoopStrengthReducePass())
        .run(function, analyses);
  }

private:
  static constexpr size_t kMany = 5;

  /// Returns true if the loop has many addresses that differ by more than a
  /// constant.
  static bool hasManyAddresses(const llvm::Loop *loop) {
    if (!loop->isInnermost())
      return false;
    llvm::SmallDenseSet<std::pair<const llvm::Value *, const llvm::Value *>, 16>
        addresses;
    for (const llvm::BasicBlock *block : loop->blocks())
      for (const llvm::Instruction &op : *block)
        if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&op))
          for (const llvm::Value *index : address->indices())
            if (!llvm::isa<llvm::Constant>(index))
              addresses.insert(
                  {address->getPointerOperand(), withoutConstant(index)});
    return addresses.size() >= kMany;
  }

  static const llvm::Value *withoutConstant(const llvm::Value *index) {
    auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
    bool isSum = sum && (sum->getOpcode() == llvm::Instruction::Add ||
                         sum->getOpcode() == llvm::Instruction::Or);
    return isSum && llvm::isa<llvm::ConstantInt>(sum->getOperand(1))
               ? sum->getOperand(0)
               : index;
  }
};
} // namespace

namespace {
/// Prevents the SLP vectorizer from computing the operands of unsigned
/// conversions to float in fewer bits. LLVM 22 keeps as many bits as the number
/// needs if it has a sign: for a number that was sign-extended it drops the
/// sign, and all 64 bits of -1 become the float 2^32. It does not look through
/// a freeze, which changes nothing here.
struct FenceUnsigned : llvm::PassInfoMixin<FenceUnsigned> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &) {
    llvm::SmallVector<llvm::UIToFPInst *> conversions;
    const llvm::SimplifyQuery query(function.getDataLayout());
    for (llvm::Instruction &op : llvm::instructions(function))
      if (auto *conversion = llvm::dyn_cast<llvm::UIToFPInst>(&op))
        if (!llvm::isKnownNonNegative(conversion->getOperand(0), query))
          conversions.push_back(conversion);
    for (llvm::UIToFPInst *conversion : conversions)
      conversion->setOperand(0,
                             new llvm::FreezeInst(conversion->getOperand(0), "",
                                                  conversion->getIterator()));
    if (conversions.empty())
      return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
  }
};
} // namespace

/// Adds passes for loops that are vector code already, and their surroundings.
static void addPassesForTiles(llvm::FunctionPassManager &passes) {
  // Splits the descriptors of buffers, which are structures.
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops),
                                                       /*UseMemorySSA=*/true));
  llvm::LoopPassManager second;
  second.addPass(llvm::LoopIdiomRecognizePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(second)));
}

/// Adds passes for loops over scalars, which may be vectorized.
static void addPassesForLoops(llvm::FunctionPassManager &passes) {
  llvm::LoopPassManager first;
  first.addPass(llvm::SimpleLoopUnswitchPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(first),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager second;
  second.addPass(llvm::IndVarSimplifyPass());
  second.addPass(llvm::LoopDeletionPass());
  second.addPass(KeepOuterLoops());
  second.addPass(llvm::LoopFullUnrollPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(second)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::DSEPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions()
                                           .convertSwitchRangeToICmp(true)
                                           .hoistCommonInsts(true)
                                           .sinkCommonInsts(true)));
  passes.addPass(FenceUnsigned());
  passes.addPass(llvm::SLPVectorizerPass());
  passes.addPass(llvm::VectorCombinePass());
}

/// Adds passes for code that became short or loop-invariant.
static void addLastPasses(llvm::FunctionPassManager &passes) {
  // Short loops over vectors vanish, so that LICM finds sums that stay in
  // registers.
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(KeepLongLoops()));
  passes.addPass(
      llvm::LoopUnrollPass(llvm::LoopUnrollOptions()
                               .setPartial(false)
                               .setRuntime(false)
                               .setUpperBound(false)
                               .setFullUnrollMaxCount(KeepLongLoops::kShort)));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::InferAlignmentPass());
  passes.addPass(llvm::DivRemPairsPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(ReduceAddresses());
}

void kernel::optimize(llvm::Module &code, ObjectWriter &writer,
                      bool hasPlainLoops) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  fam.registerPass(
      [&] { return llvm::TargetLibraryAnalysis(writer.getLibrary()); });
  llvm::PassBuilder builder(&writer.getMachine());
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  llvm::FunctionPassManager inner;
  addPassesForTiles(inner);
  if (hasPlainLoops)
    addPassesForLoops(inner);
  addLastPasses(inner);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(inner)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(code, mam);
}
