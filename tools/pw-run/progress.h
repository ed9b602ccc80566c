//===- progress.h - Progress of a run on a terminal -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites one line of standard error if that is a terminal; otherwise prints
// nothing, so that logs stay clean.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_PROGRESS_H_
#define TOOLS_PW_RUN_PROGRESS_H_

#include <condition_variable>
#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"

namespace pathways::pw_run {

// Shows one text at a time, and clears the line when destroyed. Not
// thread-safe; a thread of the object calls the function given to Track().
class Progress {
 public:
  // `enabled`: normally isatty(2).
  explicit Progress(bool enabled) : enabled_(enabled) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows `text` until the next call.
  void Show(const std::string& text);
  // Shows `text` and a percentage, done() times 100, several times a second;
  // without the percentage if the system has no thread left.
  void Track(const std::string& text, std::function<double()> done);
  // Stops and clears the line. Must be called before anything is printed,
  // except by Note.
  void Clear();
  // Prints a line of its own on standard error. Any thread may call it.
  void Note(const std::string& text) const;

 private:
  // Sleeps for a moment. Returns true if the thread must stop.
  bool Wait();
  void Stop();

  const bool enabled_;
  bool shown_ = false;
  Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::condition_variable_any wake_;
  std::thread thread_;
};

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_PROGRESS_H_
