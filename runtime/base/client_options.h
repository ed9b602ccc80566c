//===- client_options.h - What a client is given, beside others -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a client says about its place among others when it connects, in C++ as
// on a command line. The one description of it: the runtime and the public API
// both take this.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_CLIENT_OPTIONS_H_
#define RUNTIME_BASE_CLIENT_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pathways {

inline constexpr int32_t kMaxPriority = 100;
inline constexpr double kMinWeight = 1e-3, kMaxWeight = 1e3;
// Launches of one client that have not ended; a further one waits.
inline constexpr int kMaxLaunches = 64;

struct ClientOptions {
  // Of device time, beside clients who want the same devices: one of weight 2
  // has twice as much as one of weight 1. kMinWeight to kMaxWeight.
  double weight = 1;
  // Those of a higher one are granted devices first (docs/scheduling.md).
  // -kMaxPriority to kMaxPriority.
  int32_t priority = 0;
  // Bytes that its programs may have on devices, and its arrays on hosts, all
  // together; 0: as many as there are.
  uint64_t quota_bytes = 0;
  // Launches that may be open at a time, 1 to kMaxLaunches; a further one waits
  // in its call.
  int run_ahead = kMaxLaunches;
  // A program that is on devices which are drained moves to others with its
  // next launch, as Rebind would move it, if there are any.
  bool elastic = false;
};

// Where a program is loaded.
enum class LoadPlace {
  kAsCompiled,  // on the devices that it was compiled for
  // On those of least load that have the memory, of the same kind and target,
  // what was on one island on one.
  kAnywhere,
  // As compiled, but that others take the place of devices which are drained,
  // lost or of a host that is not there, as Rebind chooses them. Where there
  // are too few, as compiled.
  kPresent,
};

// How a program is loaded.
struct LoadOptions {
  LoadPlace place = LoadPlace::kAsCompiled;
  // With kPresent, several of its devices become one where there are too few.
  bool oversubscribe = false;
  // Longest wait for memory that other clients have, in nanoseconds; 0: not at
  // all; negative: as long as it takes. What can never be there, whoever gives
  // up what, is not waited for.
  int64_t wait_ns = -1;
  // Waits likewise for hosts that are gone, until they are there again, and for
  // devices that are drained.
  bool await_devices = false;
  // Called when it waits, and again when there is another reason, with one
  // line that says for what and for whom. On a thread of the cluster, perhaps
  // one that others wait for: it must not call the client, nor take long.
  std::function<void(const std::string& why)> on_waiting = {};
};

// Devices that a client asks for while others run.
struct SliceOptions {
  // For messages.
  std::string name = "slice";
  // Of its mesh, row-major; its product is how many devices it has.
  std::vector<int64_t> shape = {1};
  std::string kind = "cpu";
  // Islands that its devices are cut over, in equal runs.
  int64_t islands = 1;
  // The devices of each run are neighbours in the mesh, or torus, of their
  // island, in the run's own shape: that of the slice, but that its first axis
  // is cut.
  bool contiguous = false;
  // Of each device, that nobody else has; 0: all of it. Then nobody else is
  // there; else others may have the rest, and share its time by weight.
  uint64_t device_bytes = 0;
  // Longest wait, and who is told, as of LoadOptions.
  int64_t wait_ns = -1;
  std::function<void(const std::string& why)> on_waiting = {};
};

// Where a loaded program goes.
struct RebindOptions {
  // Islands, hosts and devices that it is not to be on, as messages call them:
  // "island1", "host2", "island0/host2/device1".
  std::vector<std::string> avoid = {};
  // Several of its devices become one where there are too few.
  bool oversubscribe = false;
  LoadOptions load = {};
};

// How one launch is run.
struct LaunchOptions {
  // In place of the client's.
  std::optional<int32_t> priority = {};
  // From the call, in nanoseconds, when it should be over; 0: no matter when.
  // It orders launches, where the cluster's policy goes by deadlines, and ends
  // none.
  int64_t deadline_ns = 0;
  // The number of the first step, from 0 on: what `pw.step_index` is in it. A
  // run that is made of several launches gives each one the steps before it, so
  // that its steps are numbered as those of one launch. At most kMaxSteps with
  // the steps of the launch. Errors and traces name steps by these numbers.
  int64_t first_step = 0;
};

}  // namespace pathways

#endif  // RUNTIME_BASE_CLIENT_OPTIONS_H_
