//===- ObjectWriter.h - Object files of one target --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_OBJECT_OBJECTWRITER_H
#define LIB_CODEGEN_OBJECT_OBJECTWRITER_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>

namespace llvm {
class Module;
class TargetLibraryInfoImpl;
class TargetMachine;
namespace legacy {
class PassManager;
} // namespace legacy
} // namespace llvm

namespace mlir::pathways::kernel {

/// Makes code for one target, on one thread at a time. To make the target's
/// machine, what that derives from its features on first use, and its passes
/// takes longer than to compile a small kernel; all of it is for any number of
/// modules, and what is written depends on none of those before.
class ObjectWriter {
public:
  explicit ObjectWriter(std::unique_ptr<llvm::TargetMachine> machine);
  ~ObjectWriter();

  llvm::TargetMachine &getMachine() { return *machine; }

  /// The functions that LLVM may introduce calls of.
  const llvm::TargetLibraryInfoImpl &getLibrary() const { return *library; }

  /// The object file of `code`, until the next call; nothing for a target that
  /// has none. Errors go to the module's context.
  std::optional<llvm::StringRef> write(llvm::Module &code);

private:
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::TargetLibraryInfoImpl> library;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  std::unique_ptr<llvm::legacy::PassManager> passes; ///< which know all above
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_OBJECT_OBJECTWRITER_H
