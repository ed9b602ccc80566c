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

/// Writes object files for one target, on one thread at a time. Creating the
/// target machine, the data that it derives from its features on first use, and
/// its passes takes longer than compiling a small kernel. The writer creates
/// them once for any number of modules; its output for a module does not depend
/// on earlier ones.
class ObjectWriter {
public:
  explicit ObjectWriter(std::unique_ptr<llvm::TargetMachine> machine);
  ~ObjectWriter();

  llvm::TargetMachine &getMachine() { return *machine; }

  /// Returns the library functions that LLVM may introduce calls of.
  const llvm::TargetLibraryInfoImpl &getLibrary() const { return *library; }

  /// Returns the object file of `code`, valid until the next call, or nullopt
  /// if the target has no object files. Errors go to the module's context.
  std::optional<llvm::StringRef> write(llvm::Module &code);

private:
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::TargetLibraryInfoImpl> library;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  /// They refer to all fields above.
  std::unique_ptr<llvm::legacy::PassManager> passes;
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_OBJECT_OBJECTWRITER_H
