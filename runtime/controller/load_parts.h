//===- load_parts.h - Loads, while hosts load their programs ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LOAD_PARTS_H_
#define RUNTIME_CONTROLLER_LOAD_PARTS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/controller/program_table.h"
#include "runtime/resources/client_requests.h"
#include "runtime/resources/load_queue.h"

namespace pathways {

// The loads whose hosts were told to load their programs. Invariant: a load
// ends once, when all its programs are loaded, or all are gone: if one is
// refused, the others must be unloaded. One owner calls it; it sends nothing.
class LoadParts {
 public:
  // The consequence when a program of a load is loaded or gone.
  struct Step {
    enum Kind {
      kNoPart,   // the program belongs to no load that is here
      kWait,     // other programs of the load are not loaded or gone yet
      kLoaded,   // the load has ended; `handles`: its programs
      kUnload,   // a program was refused: unload those of `handles`
      kRefused,  // the load has ended, because of `status`
    };
    Kind kind = kNoPart;
    std::vector<uint64_t> handles;
    LoadQueue::Load load;  // if kRefused
    absl::Status status;
    bool is_held = false;  // the memory of a program that is gone is still held
  };

  // Adds a load. `handles`: of its programs, in their order.
  void Add(const LoadQueue::Load& load, absl::Span<const uint64_t> handles);
  bool Has(ClientRequest request) const { return loads_.count(request) > 0; }
  // Records how many bytes a program of the load needs on a host.
  void SetBytes(ClientRequest request, uint64_t handle, int32_t host,
                uint64_t bytes);
  // Records that a program is loaded or gone; `next` names its request.
  Step Take(const ProgramNext& next);
  // Drops the loads of a client that leaves.
  void Leave(uint32_t client);

 private:
  enum class Part { kLoading, kLoaded, kGone };
  struct Loading {
    LoadQueue::Load load;
    std::vector<std::pair<uint64_t, Part>> parts;  // by program, with handle
    absl::Status status;
    bool is_held = false;
  };

  std::map<ClientRequest, Loading> loads_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LOAD_PARTS_H_
