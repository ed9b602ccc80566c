//===- Optimize.cpp - What LLVM does to kernels ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's default pipeline is for what people write. What comes from the stages
// before this one has no calls to inline, no exceptions and few branches; loops
// are counted, their sizes are constants, and what is worth a register tile is
// one already. So only the passes run that find something to do, and loops are
// not unrolled beyond what lets them vanish.
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
/// Loops around loops stay: to repeat what is inside of them gains nothing.
struct KeepOuterLoops : llvm::PassInfoMixin<KeepOuterLoops> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &,
                              llvm::LoopStandardAnalysisResults &,
                              llvm::LPMUpdater &) {
    if (!loop.isInnermost())
      loop.setLoopAlreadyUnrolled();
    return llvm::PreservedAnalyses::all();
  }
};

/// Those ops on vectors in `loop` that stay however often it is repeated.
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

/// What is not short is not unrolled, nor what is large; to find out what that
/// would cost takes longer than to see that. Around a loop of its own nothing
/// stays in registers when it vanishes, so that there a few branches are all
/// that would be gained.
struct KeepLongLoops : llvm::PassInfoMixin<KeepLongLoops> {
  static constexpr unsigned kShort = 8;
  /// The most that LLVM lets a loop become of which much can be left out, 400 %
  /// of 150, if each op counts as the least.
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
/// Writes the addresses in loops as few pointers that go on with them. To find
/// the best ones takes long. Where a loop has few addresses, each of them is
/// one of the target's, a pointer and the loop's number; where there are many,
/// as in tiles, those pointers do not fit in registers.
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

  /// Whether the loop has many, which differ in more than a constant.
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
/// Keeps the vectorizer of straight code from computing in fewer bits what
/// becomes a float without a sign. LLVM 22 takes as few as keep the number if
/// it has a sign: of a number that was extended by its sign it drops that, and
/// of all 64 bits of -1 the float becomes 2^32. It does not look behind a
/// freeze, which changes nothing here.
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

/// Loops that are vector code already, and what surrounds them.
static void addPassesForTiles(llvm::FunctionPassManager &passes) {
  // Descriptors of buffers, which are structures, come apart.
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

/// Loops over scalars, of which vectors may be made.
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

/// What has become short, or the same each time.
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
