//===- CodeCache.h - Compiled kernels on disk -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A folder of compiled kernels that any number of processes share. What code a
/// kernel gets is a function of its key, so an entry is never stale; it is
/// there whole or not at all, and one that is damaged is reported, compiled
/// again and replaced. lib/Codegen/Object/CodeCache.md has the format.
///
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_CODEGEN_CODECACHE_H
#define PATHWAYS_CODEGEN_CODECACHE_H

#include "pathways/Codegen/Codegen.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace mlir::pathways {

/// Entries of a folder, shared with other processes. Thread-safe. Nothing that
/// is found in the folder, and nothing that other processes do to it, makes a
/// compilation fail; what is worth knowing is a warning.
class CodeCache {
public:
  static constexpr uint64_t kDefaultBytes = uint64_t{1} << 30;
  /// A temporary file that nobody wrote to for so long has lost its writer.
  static constexpr int64_t kStaleSeconds = 3600;

  using Key = std::array<uint8_t, 32>;
  /// `code` identifies the code alone, `places` also where in the source it
  /// comes from: kernels whose checks report places are kept under the latter.
  struct Keys {
    Key code, places;
  };

  /// Creates `folder` where it is missing, proves that this user can write to
  /// it and that nobody else but root can, and removes stale temporary files.
  /// `maxBytes` bounds what trim() leaves; 0: no bound. Fails with a sentence
  /// that names the folder and the reason.
  static llvm::Expected<std::unique_ptr<CodeCache>>
  open(llvm::StringRef folder, uint64_t maxBytes = kDefaultBytes);

  /// Keys of the kernel of `functions` for `targets`, which are complete. Equal
  /// in all processes of one build of the code generator and one LLVM.
  static Keys getKeys(ArrayRef<func::FuncOp> functions,
                      ArrayRef<::pathways::proto::Target> targets);

  /// The entry, or none. One that cannot be used is reported at `loc`.
  std::optional<CompiledKernel>
  find(const Keys &keys, ArrayRef<::pathways::proto::Target> targets,
       Location loc);

  /// Writes an entry, or replaces a damaged one. Where the folder cannot be
  /// written any more it says so once, at `loc`, and writes no more.
  void store(const Keys &keys, const CompiledKernel &kernel, Location loc);

  /// Removes the entries that were not used for the longest time until the rest
  /// fits into the bound, if anything was stored.
  void trim();

  struct Counts {
    uint64_t hits = 0;
    uint64_t misses = 0; ///< damaged entries among them
    uint64_t damaged = 0;
    uint64_t stored = 0;
    uint64_t removed = 0; ///< by trim()
  };
  Counts getCounts() const;

private:
  CodeCache(llvm::StringRef folder, uint64_t maxBytes)
      : folder(folder), maxBytes(maxBytes) {}

  std::string pathOf(const Key &key) const;
  void removeStaleTemporaries();
  /// The entry; none where there is none, or an error that says what is wrong.
  llvm::Expected<std::optional<CompiledKernel>>
  read(const Key &key, ArrayRef<::pathways::proto::Target> targets) const;
  llvm::Error write(const Key &key, const CompiledKernel &kernel) const;

  const std::string folder;
  const uint64_t maxBytes;
  std::atomic<bool> isBroken = false; // writing failed
  std::atomic<uint64_t> hits = 0, misses = 0, damaged = 0, stored = 0,
                        removed = 0;
};

} // namespace mlir::pathways

#endif // PATHWAYS_CODEGEN_CODECACHE_H
