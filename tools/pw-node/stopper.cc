//===- stopper.cc - Stop on a signal --------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-node/stopper.h"

#include <unistd.h>

#include <csignal>
#include <thread>
#include <utility>

namespace pathways::pw_node {

void Stopper::CatchSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([this, signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    Stop();
    sigwait(&signals, &signal);
    _exit(128 + signal);
  }).detach();
}

void Stopper::Set(std::function<void()> stop) {
  MutexLock lock(&mutex_);
  stop_ = std::move(stop);
  if (stopped_ && stop_) stop_();
}

void Stopper::Stop() {
  MutexLock lock(&mutex_);
  stopped_ = true;
  if (stop_) stop_();
}

}  // namespace pathways::pw_node
