//===- CrashRecovery.h - Recovery from crashes ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// MLIR and LLVM end the process on some inputs: parsers and verifiers read
/// invalid memory, since the libraries are built without asserts, and code
/// generation aborts on what it cannot select. A shielded call of them ends
/// with a `Crash` instead, also when the library is embedded in another
/// program.
///
/// llvm::CrashRecoveryContext is not sufficient for an embedding process: on a
/// stack overflow it has no stack to run on, a crash of any other thread
/// removes it for all threads, and a handler that was installed before receives
/// a signal without its details.
///
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_CRASHRECOVERY_H
#define PATHWAYS_SUPPORT_CRASHRECOVERY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::pathways {

/// The end of a shielded call by a crash.
struct Crash {
  /// Short description: the message of LLVM's fatal error, or "out of memory",
  /// "out of stack", "segmentation fault".
  std::string what;
  /// LLVM's description of its current work; may be empty.
  std::string doing;
  /// Offset of the last pointer into the watched text on the stack: near the
  /// position of its reader.
  std::optional<size_t> offset;

  /// Both descriptions in one line, for a diagnostic.
  std::string str() const;
};

/// Calls `body` on this thread. Returns nullopt if it returned. Returns the
/// Crash if it ended by a signal that its own code raised (a wrong address,
/// instruction or division, abort(), stack overflow), by a fatal error of LLVM
/// or by an exception. `watched` is a text that `body` reads.
///
/// Invariants: (1) After a crash no destructor of `body` has run, and locks
/// that it held remain locked: its memory leaks, and the caller must abandon,
/// not destroy, what it shared with `body`. (2) Signals of threads that are not
/// shielded, and signals sent by others, go to the previous handlers. (3) When
/// no shielded call is running in the process, its signal handlers and this
/// thread's signal stack are the previous ones. LLVM's handler of fatal errors
/// stays ours after the first call, as LLVM does not tell the previous one;
/// outside of shielded calls it does what LLVM does without a handler. (4)
/// Calls nest; a crash ends the innermost one.
///
/// Thread-safe. Costs a few microseconds on top of `body`.
std::optional<Crash> runWithCrashRecovery(llvm::function_ref<void()> body,
                                          llvm::StringRef watched = {});

/// Ends the innermost shielded call of this thread with a crash called `what`.
/// Requires that there is one.
[[noreturn]] void exitCrashRecovery(llvm::StringRef what);

/// Runs the main function of a tool: calls `body` and returns its exit code. A
/// crash on any thread ends the process with exit code 1 and one line on
/// standard error, "TOOL: error: crashed: ..."; unfinished output files are
/// removed. With a `watched` text, which is called `fileName`, a crash of its
/// parser is "FILE:LINE:COLUMN: error: ...". May be called once per process.
int runTool(llvm::StringRef tool, llvm::function_ref<int()> body,
            llvm::StringRef fileName = {}, llvm::StringRef watched = {});

} // namespace mlir::pathways

#endif // PATHWAYS_SUPPORT_CRASHRECOVERY_H
