//===- in_process_transport.h - Transports of one process -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several transports inside one process, for tests of what stands above.
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

// Names by which transports of a process dial each other. Thread-safe; outlives
// none of its transports, which hold it together.
class InProcessNetwork {
 public:
  // False: another has the name.
  bool Add(absl::string_view name, std::shared_ptr<InProcessStation> station);
  void Remove(const InProcessStation* station);
  std::shared_ptr<InProcessStation> Find(absl::string_view name) const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<InProcessStation>, std::less<>> names_
      ABSL_GUARDED_BY(mutex_);
};

// Addresses are "local:NAME", any name that is not empty. There is no thread:
// only Poll moves anything, each time up to some messages or pieces of each
// peer, critical messages first. So a test of one thread sees the same order
// every time. `events` outlives Stop.
std::unique_ptr<Transport> MakeInProcessTransport(
    std::shared_ptr<InProcessNetwork> network, const TransportLimits& limits,
    TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_TESTING_IN_PROCESS_TRANSPORT_H_
