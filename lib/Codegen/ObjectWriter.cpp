//===- ObjectWriter.cpp - Object files of one target ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectWriter.h"

#include "runtime/kernel/kernel_imports.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir::pathways;

/// What LLVM may introduce calls of: only what the loader has.
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

kernel::ObjectWriter::ObjectWriter(std::unique_ptr<llvm::TargetMachine> machine)
    : machine(std::move(machine)),
      library(std::make_unique<llvm::TargetLibraryInfoImpl>(
          makeLibrary(*this->machine))) {}

kernel::ObjectWriter::~ObjectWriter() = default;

std::optional<llvm::StringRef> kernel::ObjectWriter::write(llvm::Module &code) {
  if (!passes) {
    auto made = std::make_unique<llvm::legacy::PassManager>();
    if (machine->addPassesToEmitFile(*made, stream, nullptr,
                                     llvm::CodeGenFileType::ObjectFile))
      return std::nullopt;
    passes = std::move(made);
  }
  bytes.clear();
  passes->run(code);
  return llvm::StringRef(bytes.data(), bytes.size());
}
