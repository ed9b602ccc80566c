//===- CrashRecovery.h - Survive what crashes -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// MLIR and LLVM end the process on some inputs: parsers and verifiers read
/// what is not there, since the libraries are built without asserts, and code
/// generation aborts on what it cannot select. A shielded call of them ends
/// with a `Crash` instead, also in a process that is not ours.
///
/// llvm::CrashRecoveryContext does less than an embedding process needs: on a
/// stack overflow it has no stack to run on, a crash of any other thread
/// removes it for all, and a handler that was there before sees a signal
/// without its details.
///
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_CRASHRECOVERY_H
#define PATHWAYS_SUPPORT_CRASHRECOVERY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::pathways {

/// What ended a shielded call.
struct Crash {
  /// In a few words: what LLVM's fatal error says, or "out of memory", "out of
  /// stack", "segmentation fault".
  std::string what;
  /// What LLVM said it was doing; may be empty.
  std::string doing;
  /// Of the last pointer into the watched text that the stack held: near where
  /// its reader was.
  std::optional<size_t> offset;

  /// Both in one line, for a diagnostic.
  std::string str() const;
};

/// Calls `body` on this thread. Returns nothing when it returned, or how it
/// ended otherwise: by a signal that its own code raised (a wrong address,
/// instruction or division, abort(), no stack left), by a fatal error of LLVM
/// or by an exception. `watched` is a text that `body` reads.
///
/// Invariants: (1) After a crash no destructor of `body` has run and locks that
/// it held are still held: what it made is lost, and what it shared with the
/// caller is for the caller to abandon, not to destroy. (2) Signals of threads
/// that are not shielded, and signals that somebody sent, go where they went
/// before. (3) Once no shielded call is under way in the process, its signal
/// handlers and this thread's signal stack are those it had. LLVM's handler of
/// fatal errors stays ours from the first call on, as LLVM cannot say which
/// there was; outside of shielded calls it does what LLVM does without one.
/// (4) Calls nest; the innermost one ends.
///
/// Thread-safe. Costs some microseconds, whatever `body` does.
std::optional<Crash> runWithCrashRecovery(llvm::function_ref<void()> body,
                                          llvm::StringRef watched = {});

/// Ends the innermost shielded call of this thread, which there must be, as a
/// crash does that is called `what`.
[[noreturn]] void exitCrashRecovery(llvm::StringRef what);

/// For the main function of a tool: calls `body`, which returns an exit code. A
/// crash, on any thread, ends the process with exit code 1 and one line on
/// standard error, "TOOL: error: crashed: ..."; what was to be written is
/// removed. With a `watched` text, which is called `fileName`, a crash while it
/// is parsed is "FILE:LINE:COLUMN: error: ...". Once in a process.
int runTool(llvm::StringRef tool, llvm::function_ref<int()> body,
            llvm::StringRef fileName = {}, llvm::StringRef watched = {});

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_CRASHRECOVERY_H
