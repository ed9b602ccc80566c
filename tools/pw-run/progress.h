//===- progress.h - A line on a terminal that says what goes on -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites one line of standard error when that is a terminal, and is silent
// otherwise, so that logs stay clean.
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

// One at a time. The line is gone when the object is. Not thread-safe; the
// function given to Track() is called by a thread of the object's own.
class Progress {
 public:
  // `enabled`: normally isatty(2).
  explicit Progress(bool enabled) : enabled_(enabled) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows `text` until the next call.
  void Show(const std::string& text);
  // Shows `text` and a percentage, done() of 1, a few times a second; without
  // the percentage where the system has no thread to spare.
  void Track(const std::string& text, std::function<double()> done);
  // Stops and clears the line. Call before anything else is printed, but by
  // Note.
  void Clear();
  // Prints a line of its own on standard error. Any thread.
  void Note(const std::string& text) const;

 private:
  // Sleeps for a moment; true: to stop.
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
