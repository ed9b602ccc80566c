//===- CompileKernels.cpp - Object code for the functions of kernels ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Codegen/CodeCache.h"
#include "pathways/Codegen/Codegen.h"
#include "pathways/Lowering/Passes.h"
#include "pathways/Transforms/Machines.h"
#include "runtime/kernel/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <chrono>
#include <map>

namespace mlir::pathways {
#define GEN_PASS_DEF_COMPILEKERNELS
#include "pathways/Lowering/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

namespace {

/// One kernel to compile, and the result.
struct Job {
  plan::KernelOp kernel;
  SmallVector<func::FuncOp> functions; ///< one per segment
  std::vector<proto::Target> targets;
  std::string key; ///< in the known kernels; empty: there are none
  bool isKnown = false, isDone = false;
  CompiledKernel code;
  double seconds = 0;
  std::vector<OpPath> paths;
};

struct CompileKernels
    : public ::mlir::pathways::impl::CompileKernelsBase<CompileKernels> {
  using CompileKernelsBase::CompileKernelsBase;
  CompileKernels(CompileKernelsOptions options, std::vector<KernelCost> *costs,
                 KnownKernels *known)
      : CompileKernelsBase(std::move(options)), costs(costs), known(known) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    CompileKernelsBase::getDependentDialects(registry);
    registerKernelDialects(registry);
  }

  void runOnOperation() override;

private:
  /// Returns the targets of the devices that may run `slice`, without
  /// duplicates. Reports targets that no code can be generated for.
  const std::vector<proto::Target> &getTargets(plan::SliceOp slice);
  void addJobs(plan::ProgramOp program, SmallVectorImpl<Job> &jobs);
  void finish(Job &job);

  std::vector<KernelCost> *costs = nullptr;
  KnownKernels *known = nullptr;
  const ::pathways::Topology *machines = nullptr;
  bool hasBadTarget = false;
  /// Targets by islands and kind.
  std::map<std::pair<std::vector<int64_t>, std::string>,
           std::vector<proto::Target>>
      targets;
};

} // namespace

/// Returns a text that is equal for equal targets.
static std::string getKey(const proto::Target &target) {
  return target.SerializeAsString();
}

const std::vector<proto::Target> &
CompileKernels::getTargets(plan::SliceOp slice) {
  SmallVector<int64_t, 1> islands;
  if (std::optional<uint64_t> island = slice.getIsland())
    islands.push_back(*island);
  llvm::append_range(islands,
                     slice.getMoreIslands().value_or(ArrayRef<int64_t>()));
  std::string kind = slice.getKind().empty() ? "cpu" : slice.getKind().str();
  auto [entry, isNew] =
      targets.try_emplace({{islands.begin(), islands.end()}, kind});
  if (!isNew)
    return entry->second;
  // All devices of the kind on the islands count: the slice may later be bound
  // to others without compiling again.
  llvm::StringSet<> seen;
  for (int64_t island : islands) {
    if (island < 0 || island >= machines->num_islands())
      continue;
    for (int64_t d = 0, e = machines->num_devices(island); d < e; ++d) {
      const proto::Device &device = machines->device(island, d);
      if (::pathways::DeviceKind(device) != kind ||
          !seen.insert(getKey(device.target())).second)
        continue;
      entry->second.push_back(device.target());
      auto complete = ::pathways::CompleteTarget(device.target());
      if (!complete.ok()) {
        slice.emitError("device ") << machines->DeviceName(island, d) << ": "
                                   << std::string(complete.status().message());
        hasBadTarget = true;
      }
    }
  }
  // This machine is the target if no device is.
  if (entry->second.empty())
    entry->second.emplace_back();
  return entry->second;
}

void CompileKernels::addJobs(plan::ProgramOp program,
                             SmallVectorImpl<Job> &jobs) {
  llvm::StringMap<plan::SliceOp> slices;
  for (auto slice : program.getBody().getOps<plan::SliceOp>())
    slices[slice.getId()] = slice;
  llvm::StringMap<llvm::SetVector<Operation *>> users; // by kernel
  for (auto gang : program.getBody().getOps<plan::GangOp>())
    if (gang.getKernel())
      users[*gang.getKernel()].insert(slices.lookup(gang.getSlice()));
  for (auto kernel : program.getBody().getOps<plan::KernelOp>()) {
    if (kernel.hasCode())
      continue;
    Job &job = jobs.emplace_back();
    job.kernel = kernel;
    llvm::StringMap<func::FuncOp> functions;
    for (auto function : kernel.getBody().getOps<func::FuncOp>())
      functions[function.getSymName()] = function;
    // The verifier of the kernel has checked that each segment has a function.
    for (auto segment : kernel.getBody().getOps<plan::SegmentOp>())
      job.functions.push_back(functions.lookup(segment.getId()));
    llvm::StringSet<> seen;
    for (Operation *slice : users[kernel.getId()])
      for (const proto::Target &target : getTargets(cast<plan::SliceOp>(slice)))
        if (seen.insert(getKey(target)).second)
          job.targets.push_back(target);
    if (job.targets.empty())
      job.targets.emplace_back();
  }
}

void CompileKernels::finish(Job &job) {
  OpBuilder b(job.kernel.getContext());
  job.kernel.setHash(job.code.hash);
  if (rounding != Rounding::EachOp)
    job.kernel.setRounding(
        static_cast<plan::Rounding>(static_cast<Rounding>(rounding)));
  for (auto [segment, code] : llvm::zip(
           job.kernel.getBody().getOps<plan::SegmentOp>(), job.code.segments)) {
    if (code.scratchBytes)
      segment.setScratch(code.scratchBytes);
    SmallVector<Attribute> locations;
    for (const CodeLocation &location : code.locations)
      locations.push_back(
          b.getStrArrayAttr({location.where, location.message}));
    if (!locations.empty())
      segment.setLocationsAttr(b.getArrayAttr(locations));
  }
  for (auto function :
       llvm::make_early_inc_range(job.kernel.getBody().getOps<func::FuncOp>()))
    function.erase();
  b.setInsertionPointToEnd(&job.kernel.getBody().front());
  for (auto [number, target, object] :
       llvm::enumerate(job.code.targets, job.code.objects)) {
    SmallVector<StringRef> features(target.features().begin(),
                                    target.features().end());
    plan::ObjectOp::create(
        b, job.kernel.getLoc(), b.getStringAttr(target.triple()),
        b.getStringAttr(target.cpu()),
        features.empty() ? ArrayAttr() : b.getStrArrayAttr(features),
        plan::getCodeAttr(b.getContext(), job.kernel.getId(), number,
                          ArrayRef<char>(object.data(), object.size())));
  }
}

void CompileKernels::runOnOperation() {
  machines = getAnalysis<Machines>().read(topology);
  if (!machines)
    return signalPassFailure();
  targets.clear();
  hasBadTarget = false;
  std::unique_ptr<CodeCache> cache;
  if (!kernelCache.empty()) {
    auto opened = CodeCache::open(kernelCache, kernelCacheBytes);
    if (!opened) {
      getOperation().emitError(llvm::toString(opened.takeError()));
      return signalPassFailure();
    }
    cache = std::move(*opened);
  }
  SmallVector<Job, 0> jobs;
  for (auto program : getOperation().getOps<plan::ProgramOp>())
    addJobs(program, jobs);
  if (hasBadTarget)
    return signalPassFailure();
  for (Job &job : jobs) {
    if (!known || job.functions.empty())
      continue;
    CodeCache::Key key =
        CodeCache::getKeys(job.functions, job.targets, rounding).places;
    job.key.assign(key.begin(), key.end());
    const KnownKernels::Entry *entry = known->find(job.key);
    job.isKnown = entry != nullptr;
    if (entry) {
      job.code = entry->code;
      job.seconds = entry->seconds;
    }
  }
  auto compile = [&](Job &job) {
    auto start = std::chrono::steady_clock::now();
    if (!job.isKnown) {
      FailureOr<CompiledKernel> code =
          compileKernel(job.functions, job.targets, cache.get(), rounding);
      if (failed(code))
        return;
      job.code = std::move(*code);
      job.seconds = std::chrono::duration<double>(
                        std::chrono::steady_clock::now() - start)
                        .count();
    }
    if (explain) {
      // Explanations are not cached: the cache has no places in the source.
      auto paths = explainKernel(job.functions, job.targets.front(), rounding);
      if (failed(paths))
        return;
      job.paths = std::move(*paths);
    }
    job.isDone = true;
  };
  // Kernels are independent; diagnostics and results come in table order. All
  // are compiled even if one fails, since which ones to skip would depend on
  // the threads.
  parallelForEach(&getContext(), jobs, compile);
  if (cache)
    cache->trim();
  if (!llvm::all_of(jobs, [](const Job &job) { return job.isDone; }))
    return signalPassFailure();
  for (Job &job : jobs) {
    if (!job.key.empty())
      known->add(job.key, {job.code, job.seconds});
    finish(job);
    if (costs)
      costs->push_back({job.kernel.getId().str(), job.code.isCached,
                        job.seconds, std::move(job.paths)});
  }
}

std::unique_ptr<Pass>
mlir::pathways::createCompileKernels(CompileKernelsOptions options,
                                     std::vector<KernelCost> *costs,
                                     KnownKernels *known) {
  return std::make_unique<CompileKernels>(std::move(options), costs, known);
}
