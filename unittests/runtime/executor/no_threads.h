//===- no_threads.h - No more threads for a while ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_EXECUTOR_NO_THREADS_H_
#define UNITTESTS_RUNTIME_EXECUTOR_NO_THREADS_H_

#include <pthread.h>

#include <cstddef>

namespace pathways::testing {

// While it lives, the process gets no further thread: each would have a stack
// that no address space has.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 47);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_EXECUTOR_NO_THREADS_H_
