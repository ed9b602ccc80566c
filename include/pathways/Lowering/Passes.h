//===- Passes.h - Passes from pw to plan and code ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LOWERING_PASSES_H
#define PATHWAYS_LOWERING_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "pathways/Codegen/Codegen.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Plan/PlanOps.h"
#include "pathways/Transforms/Passes.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir::pathways {

/// Returns the values of options that choose a rounding.
inline llvm::cl::ValuesClass getRoundingValues() {
  return llvm::cl::values(
      clEnumValN(Rounding::EachOp, "each_op", "each op rounds its result"),
      clEnumValN(Rounding::Strict, "strict",
                 "terms of products and sums too, one after the other"),
      clEnumValN(Rounding::Excess, "excess",
                 "roundings between ops may be dropped"));
}

#define GEN_PASS_DECL
#include "pathways/Lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pathways/Lowering/Passes.h.inc"

/// Options of the pipeline pw-compile: how to compile a program.
struct CompileOptions : public PassPipelineOptions<CompileOptions> {
  PassOptions::Option<std::string> topology{
      *this, "topology",
      llvm::cl::desc(
          "Machines: local, ISLANDSxHOSTSxDEVICES, or a textproto file"),
      llvm::cl::init("local")};
  PassOptions::Option<bool> oversubscribe{
      *this, "oversubscribe",
      llvm::cl::desc(
          "Let slices share devices and islands where there are too few"),
      llvm::cl::init(false)};
  PassOptions::Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc(
          "SLICE:AXIS=N,AXIS=N,...: other sizes of mesh axes of slices")};
  PassOptions::Option<bool> explainShardings{
      *this, "explain-shardings",
      llvm::cl::desc("Emit remarks that say how arrays and operations are "
                     "partitioned, and why"),
      llvm::cl::init(false)};
  PassOptions::Option<unsigned> stepsInFlight{
      *this, "steps-in-flight",
      llvm::cl::desc(
          "Steps of a program that may be open at a time, 1 to 1024"),
      llvm::cl::init(2)};
  PassOptions::Option<unsigned> credits{
      *this, "credits",
      llvm::cl::desc("Slots of an array that is fed, fetched or moved; 0: "
                     "steps in flight"),
      llvm::cl::init(0)};
  PassOptions::Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Order of the loop with labels: a schedule, or @ and a "
                     "file of orders; empty: that of the text")};
  PassOptions::Option<std::string> emitOrder{
      *this, "emit-order",
      llvm::cl::desc("File for the orders of loops with a schedule; empty: "
                     "none")};
  PassOptions::Option<bool> keepLoops{
      *this, "keep-loops",
      llvm::cl::desc("Store the operations of loops once in the plan, where "
                     "that is possible"),
      llvm::cl::init(true)};
  PassOptions::Option<std::string> profile{
      *this, "profile",
      llvm::cl::desc("A file with the measured costs of the program's parts; "
                     "empty: none")};
  PassOptions::ListOption<std::string> labelCosts{
      *this, "label-costs",
      llvm::cl::desc("Costs of calls by label, such as *F=18ms; the last that "
                     "fits counts")};
  PassOptions::Option<std::string> kernelCache{
      *this, "kernel-cache",
      llvm::cl::desc("Folder of compiled kernels; empty: none")};
  PassOptions::Option<uint64_t> kernelCacheBytes{
      *this, "kernel-cache-bytes",
      llvm::cl::desc("Most bytes to keep there; the least recently used go "
                     "first; 0: no bound"),
      llvm::cl::init(uint64_t{1} << 30)};
  PassOptions::Option<bool> explainCredits{
      *this, "explain-credits",
      llvm::cl::desc("Emit remarks that say how many iterations of a loop have "
                     "memory for each array, and why"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> explainKernels{
      *this, "explain-kernels",
      llvm::cl::desc(
          "Emit remarks that say which ops are left to plain loops, and why"),
      llvm::cl::init(false)};
  PassOptions::Option<Rounding> rounding{
      *this, "rounding", llvm::cl::desc("How floats are rounded"),
      llvm::cl::init(Rounding::EachOp), getRoundingValues()};
};

/// The use of costs by label in one compilation.
struct LabelCostReport {
  /// Texts of `label-costs` whose pattern fits the label of no call.
  std::vector<std::string> unused;
  /// Labels of calls whose cost is neither given nor measured.
  std::vector<std::string> estimated;
};

/// pw-lower-to-plan that fills `report`, unless that is null, and then does not
/// fail at an unused cost.
std::unique_ptr<Pass> createLowerToPlan(LowerToPlanOptions options,
                                        LabelCostReport *report);

/// Cost of compiling one kernel. It is no part of the plan, because it differs
/// between runs.
struct KernelCost {
  std::string kernel;
  bool isCached = false; ///< true if it came from the cache
  double seconds = 0; ///< to compile it or find it in the cache, on one thread
  std::vector<OpPath> paths; ///< filled on request
};

/// Kernels that this process has compiled, by a key that equal kernels for
/// equal targets share. Used by one compilation at a time.
class KnownKernels {
public:
  struct Entry {
    CompiledKernel code;
    double seconds = 0; ///< to compile it
  };
  const Entry *find(const std::string &key) const {
    auto entry = entries.find(key);
    return entry == entries.end() ? nullptr : &entry->second;
  }
  void add(std::string key, Entry entry) {
    entries.emplace(std::move(key), std::move(entry));
  }

private:
  std::map<std::string, Entry> entries;
};

/// pw-compile-kernels that appends to `costs`, in the order of the tables, and
/// takes kernels from `known` or adds them. Either may be null.
std::unique_ptr<Pass> createCompileKernels(CompileKernelsOptions options,
                                           std::vector<KernelCost> *costs,
                                           KnownKernels *known = nullptr);

/// Reports that a compilation fills in, and what it shares with others; null:
/// not wanted.
struct CompileReports {
  std::vector<KernelCost> *kernels = nullptr;
  std::vector<ReshardChoice> *reshards = nullptr;
  std::vector<LoopOrderReport> *orders = nullptr;
  LabelCostReport *labelCosts = nullptr;
  KnownKernels *known = nullptr;
};

/// Adds the passes that put a program on its devices. They do not read
/// CompileOptions::schedule.
void buildPlacePipeline(OpPassManager &pm, const CompileOptions &options,
                        const CompileReports &reports);

/// Adds the passes from there to plans with code.
void buildPlanPipeline(OpPassManager &pm, const CompileOptions &options,
                       const CompileReports &reports);

/// Adds all passes, from a module of `pw` to plans with code.
void buildCompilePipeline(OpPassManager &pm, const CompileOptions &options,
                          const CompileReports &reports);

/// Registers the passes of the lowering by name, and the pipeline pw-compile.
void registerPathwaysLoweringPasses();

/// Registers the dialects and external models that code generation needs.
void registerPathwaysLoweringDialects(DialectRegistry &registry);

} // namespace mlir::pathways

#endif // PATHWAYS_LOWERING_PASSES_H
