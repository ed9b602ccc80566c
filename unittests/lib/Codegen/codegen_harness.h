//===- codegen_harness.h - Running kernels in tests -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CODEGEN_CODEGEN_HARNESS_H
#define UNITTESTS_LIB_CODEGEN_CODEGEN_HARNESS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "pathways/Codegen/Codegen.h"
#include "runtime/kernel/kernel_library.h"
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace kernel_test {

/// Memory as the runtime passes it: aligned, and here followed by guard bytes
/// that must not change.
class Buffer {
public:
  explicit Buffer(size_t bytes, int fill = 0xAB) : bytes(bytes) {
    size_t total = (bytes + kGuard + 127) / 128 * 128;
    data = static_cast<char *>(std::aligned_alloc(128, total));
    std::memset(data, fill, bytes);
    std::memset(data + bytes, 0x5C, kGuard);
  }
  template <typename T> static Buffer of(const std::vector<T> &values) {
    Buffer buffer(values.size() * sizeof(T));
    if (!values.empty())
      std::memcpy(buffer.data, values.data(), buffer.bytes);
    return buffer;
  }
  Buffer(Buffer &&other)
      : bytes(other.bytes), data(std::exchange(other.data, nullptr)) {}
  ~Buffer() { std::free(data); }

  void *get() { return data; }
  template <typename T> std::vector<T> as() const {
    std::vector<T> values(bytes / sizeof(T));
    if (bytes)
      std::memcpy(values.data(), data, bytes);
    return values;
  }
  bool isIntact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (data[bytes + i] != 0x5C)
        return false;
    return true;
  }

private:
  static constexpr size_t kGuard = 256;
  size_t bytes;
  char *data;
};

/// One kernel with all functions of a module, in order.
class Kernel {
public:
  Kernel();
  ~Kernel();

  /// Parses and compiles. Returns false, with the diagnostics in errors(), if
  /// the program is refused.
  bool compile(const std::string &text,
               const std::vector<pathways::proto::Target> &targets = {});
  /// Compiles existing functions in the same way.
  bool compile(llvm::ArrayRef<mlir::func::FuncOp> functions,
               const std::vector<pathways::proto::Target> &targets = {});
  /// Makes later compilations round like this.
  void setRounding(mlir::pathways::Rounding wanted) { rounding = wanted; }
  bool load(const pathways::proto::Target &wanted = {});

  /// Runs a segment with scratch memory of the declared size. Checks that
  /// nothing is written past the end of any buffer.
  int32_t run(unsigned segment, std::vector<Buffer *> buffers,
              std::vector<int32_t> coordinates = {}, uint64_t step = 0);

  const std::string &errors() const { return errorText; }
  const mlir::pathways::CompiledKernel &code() const { return compiled; }
  pathways::proto::Kernel &proto() { return kernel; }
  std::string &blobs() { return blobBytes; }
  mlir::MLIRContext &context() { return ctx; }
  mlir::ModuleOp module() { return *moduleRef; }
  bool parse(const std::string &text);

private:
  mlir::MLIRContext ctx;
  mlir::OwningOpRef<mlir::ModuleOp> moduleRef;
  mlir::pathways::CompiledKernel compiled;
  pathways::proto::Kernel kernel;
  std::string blobBytes, errorText;
  mlir::pathways::Rounding rounding = mlir::pathways::Rounding::EachOp;
  std::shared_ptr<const pathways::KernelLibrary> library;
};

/// Returns pseudorandom numbers that are the same on every machine.
template <typename T>
std::vector<T> numbers(size_t count, unsigned seed, double low = -1,
                       double high = 1) {
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    values.push_back(static_cast<T>(low + (high - low) * double(state >> 11) /
                                              9007199254740992.0));
  }
  return values;
}

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_CODEGEN_HARNESS_H
