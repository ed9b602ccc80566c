//===- in_process_transport.h - Transports inside one process ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transports inside one process, for tests of the layers above.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_TESTING_IN_PROCESS_TRANSPORT_H_
#define RUNTIME_TRANSPORT_TESTING_IN_PROCESS_TRANSPORT_H_

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/transport.h"

namespace pathways {

class InProcessStation;

// Names by which transports of a process dial each other. Thread-safe. Its
// transports share it and keep it alive.
class InProcessNetwork {
 public:
  // Returns false if the name is taken.
  bool Add(absl::string_view name, std::shared_ptr<InProcessStation> station);
  void Remove(const InProcessStation* station);
  std::shared_ptr<InProcessStation> Find(absl::string_view name) const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<InProcessStation>, std::less<>> names_
      ABSL_GUARDED_BY(mutex_);
};

// Makes a transport. Addresses are "local:NAME" with any NAME that is not
// empty. There is no thread: only Poll moves anything, each time up to a number
// of messages or pieces for each peer, critical messages first. So a
// single-threaded test sees the same order every time. `events` must outlive
// Stop.
std::unique_ptr<Transport> MakeInProcessTransport(
    std::shared_ptr<InProcessNetwork> network, const TransportLimits& limits,
    TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TESTING_IN_PROCESS_TRANSPORT_H_
