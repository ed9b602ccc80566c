//===- progress.cc - A line on a terminal that says what goes on ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace pathways::pw_run {
namespace {

// "\r" to the start of the line, "\x1b[K" clears the rest of it.
void Write(const std::string& text) {
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  std::fflush(stderr);
}

}  // namespace

void Progress::Show(const std::string& text) {
  if (!enabled_) return;
  Stop();
  Write("pw-run: " + text);
  shown_ = true;
}

void Progress::Track(const std::string& text, std::function<double()> done) {
  if (!enabled_) return;
  Show(text);
  thread_ = std::thread([this, text, done = std::move(done)] {
    std::unique_lock<std::mutex> lock(mutex_);
    // The first figure after a moment: short runs show none.
    while (!wake_.wait_for(lock, std::chrono::milliseconds(200),
                           [this] { return stop_; })) {
      lock.unlock();
      int percent = static_cast<int>(std::clamp(done(), 0.0, 1.0) * 100);
      Write("pw-run: " + text + " " + std::to_string(percent) + " %");
      lock.lock();
    }
  });
}

void Progress::Stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  stop_ = false;
}

void Progress::Clear() {
  Stop();
  if (shown_) Write("");
  shown_ = false;
}

}  // namespace pathways::pw_run
