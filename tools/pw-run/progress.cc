//===- progress.cc - Progress of a run on a terminal ----------------------===//
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
#include <system_error>
#include <utility>

namespace pathways::pw_run {
namespace {

constexpr std::chrono::milliseconds kPause{200};  // between two updates

// "\r" moves to the start of the line, "\x1b[K" clears the rest of it.
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
  auto track = [this, text, done = std::move(done)] {
    // The first percentage comes after a pause, so short runs show none.
    while (!Wait()) {
      int percent = static_cast<int>(std::clamp(done(), 0.0, 1.0) * 100);
      Write("pw-run: " + text + " " + std::to_string(percent) + " %");
    }
  };
  try {
    thread_ = std::thread(std::move(track));
  } catch (const std::system_error&) {
    return;  // no thread left: the text stays as it is
  }
}

bool Progress::Wait() {
  const auto end = std::chrono::steady_clock::now() + kPause;
  MutexLock lock(&mutex_);
  while (!stop_) {
    if (wake_.wait_until(mutex_, end) == std::cv_status::timeout) break;
  }
  return stop_;
}

void Progress::Stop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(&mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  MutexLock lock(&mutex_);
  stop_ = false;
}

void Progress::Note(const std::string& text) const {
  // One call, so the tracking thread writes before or after it.
  std::fprintf(stderr, "%s%s\n", enabled_ ? "\r\x1b[K" : "", text.c_str());
  std::fflush(stderr);
}

void Progress::Clear() {
  Stop();
  if (shown_) Write("");
  shown_ = false;
}

}  // namespace pathways::pw_run
