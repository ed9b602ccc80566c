//===- CodeCache.h - Compiled kernels on disk -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A folder of compiled kernels that any number of processes share. The code of
/// a kernel is a function of its key, so an entry is never stale. An entry is
/// written completely or not at all; a damaged one is reported, compiled again
/// and replaced. lib/Codegen/Object/CodeCache.md describes the format.
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

/// Entries of a folder, shared with other processes. Thread-safe. Neither
/// contents of the folder nor anything that other processes do to it makes a
/// compilation fail; problems are reported as warnings.
class CodeCache {
public:
  static constexpr uint64_t kDefaultBytes = uint64_t{1} << 30;
  /// A temporary file that was not written to for this long is stale: its
  /// writer is gone.
  static constexpr int64_t kStaleSeconds = 3600;

  using Key = std::array<uint8_t, 32>;
  /// `code` identifies the code alone; `places` also identifies its locations
  /// in the source. Kernels whose checks report locations are stored under
  /// `places`.
  struct Keys {
    Key code, places;
  };

  /// Creates `folder` if it is missing, checks that this user can write to it
  /// and that no other user except root can, and removes stale temporary files.
  /// `maxBytes` bounds what trim() leaves; 0: no bound. Fails with a sentence
  /// that names the folder and the reason.
  static llvm::Expected<std::unique_ptr<CodeCache>>
  open(llvm::StringRef folder, uint64_t maxBytes = kDefaultBytes);

  /// Returns the keys of the kernel of `functions` for `targets`, which are
  /// complete, compiled with `rounding`. They are equal in all processes with
  /// the same build of the code generator and of LLVM.
  static Keys getKeys(ArrayRef<func::FuncOp> functions,
                      ArrayRef<::pathways::proto::Target> targets,
                      Rounding rounding = Rounding::EachOp);

  /// Returns the entry, or nullopt. An entry that cannot be used is reported at
  /// `loc`.
  std::optional<CompiledKernel>
  find(const Keys &keys, ArrayRef<::pathways::proto::Target> targets,
       Location loc);

  /// Writes an entry, or replaces a damaged one. The first failure to write is
  /// reported at `loc`; after it, nothing more is written.
  void store(const Keys &keys, const CompiledKernel &kernel, Location loc);

  /// If anything was stored, evicts the least recently used entries until the
  /// rest fits the bound.
  void trim();

  struct Counts {
    uint64_t hits = 0;
    uint64_t misses = 0; ///< includes damaged entries
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
  /// Returns the entry, nullopt if there is none, or an error that says what is
  /// wrong.
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
