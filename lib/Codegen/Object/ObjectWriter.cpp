//===- ObjectWriter.cpp - Object files of one target ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectWriter.h"

#include "runtime/kernel/kernel_imports.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir::pathways;

/// Returns the functions that LLVM may introduce calls of: those that the
/// loader provides.
static llvm::TargetLibraryInfoImpl
makeLibrary(const llvm::TargetMachine &machine) {
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  for (unsigned i = 0; i < llvm::NumLibFuncs; ++i) {
    auto function = static_cast<llvm::LibFunc>(i);
    llvm::StringRef name = llvm::TargetLibraryInfo(library).getName(function);
    if (::pathways::FindKernelImport(name.data(), name.size()) == nullptr)
      library.setUnavailable(function);
  }
  return library;
}

/// Returns true if the pass with this name is skipped. LLVM runs more than a
/// hundred passes on each function. For a small function, finding that there is
/// nothing to do takes as long as generating its code.
static bool isLeftOut(llvm::StringRef pass) {
  static const llvm::StringSet<> passes = {
      // These handle features that kernels lack: exceptions, threads, garbage
      // collection, instrumentation, hardening, debug information.
      "callbrprepare", "cfi-instr-inserter", "dwarf-eh-prepare",
      "fentry-insert", "fixup-statepoint-caller-saved", "funclet-layout",
      "gc-analysis", "gc-lowering", "indirectbr-expand", "kcfi",
      "livedebugvalues", "machine-sanmd", "objc-arc-contract",
      "patchable-function", "post-inline-ee-instrument",
      "pseudo-probe-inserter", "regallocscoringpass",
      "remove-loads-into-fake-uses", "removeredundantdebugvalues", "safe-stack",
      "shadow-stack-gc-lowering", "stack-frame-layout", "stack-protector",
      "stackmap-liveness", "x86-lvi-load", "x86-lvi-ret", "x86-return-thunks",
      "x86-seses", "x86-slh", "x86argumentstackrebase", "xray-instrumentation",
      // These optimize calls that kernels do not make.
      "expand-memcmp", "mergeicmps", "partially-inline-libcalls",
      "replace-with-veclib",
      // optimize() does these where they gain something.
      "canon-freeze", "loop-reduce",
      // These optimize branches: there are few, most of them around loops.
      "early-ifcvt", "early-tailduplication", "machine-sink", "opt-phis",
      "postra-machine-sink", "shrink-wrap", "tailduplication",
      "x86-cmov-conversion",
      // These optimize scalars and constants in long functions.
      "consthoist", "lrshrink", "machine-combiner", "machine-latecleanup",
      "machinelicm", "x86-avoid-sfb", "x86-domain-reassignment"};
  return passes.contains(pass);
}

namespace {
/// Forwards all passes except those that are skipped.
struct Sieve : llvm::legacy::PassManagerBase {
  explicit Sieve(llvm::legacy::PassManagerBase &kept) : kept(kept) {}

  void add(llvm::Pass *pass) override {
    const llvm::PassInfo *info =
        llvm::PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
    if (info && isLeftOut(info->getPassArgument()))
      delete pass;
    else
      kept.add(pass);
  }

  llvm::legacy::PassManagerBase &kept;
};
} // namespace

kernel::ObjectWriter::ObjectWriter(std::unique_ptr<llvm::TargetMachine> machine)
    : machine(std::move(machine)),
      library(std::make_unique<llvm::TargetLibraryInfoImpl>(
          makeLibrary(*this->machine))) {}

kernel::ObjectWriter::~ObjectWriter() = default;

std::optional<llvm::StringRef> kernel::ObjectWriter::write(llvm::Module &code) {
  if (!passes) {
    auto made = std::make_unique<llvm::legacy::PassManager>();
    Sieve sieve(*made);
    if (machine->addPassesToEmitFile(sieve, stream, nullptr,
                                     llvm::CodeGenFileType::ObjectFile))
      return std::nullopt;
    passes = std::move(made);
  }
  bytes.clear();
  passes->run(code);
  return llvm::StringRef(bytes.data(), bytes.size());
}
