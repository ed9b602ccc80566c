//===- client_options.h - Options of clients, loads, launches ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options that a client gives when it connects, loads programs, asks for
// slices and launches, in C++ as on a command line. The runtime and the public
// API share this one description.
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
// Largest number of open launches of one client. A further launch waits.
inline constexpr int kMaxLaunches = 64;

struct ClientOptions {
  // Share of device time relative to other clients that want the same devices:
  // a client of weight 2 gets twice as much as one of weight 1. kMinWeight to
  // kMaxWeight.
  double weight = 1;
  // Launches of higher priority are granted devices first (docs/scheduling.md).
  // -kMaxPriority to kMaxPriority.
  int32_t priority = 0;
  // Limit in bytes for the client's programs on devices and its arrays on
  // hosts, all together. 0: no limit.
  uint64_t quota_bytes = 0;
  // Largest number of open launches, 1 to kMaxLaunches. The call of a further
  // launch waits.
  int run_ahead = kMaxLaunches;
  // If true, a program on devices that are drained moves to others with its
  // next launch, as Rebind would move it, if there are any.
  bool elastic = false;
};

// Choice of the devices on which a program is loaded.
enum class LoadPlace {
  kAsCompiled,  // the devices that the program was compiled for
  // The least loaded devices of the same kind and target that have the memory.
  // Shards of one island stay together on one island.
  kAnywhere,
  // The compiled devices, but those that are drained, lost, or on a host that
  // is gone are replaced as Rebind chooses. If there are too few others,
  // exactly the compiled devices.
  kPresent,
};

// Options of one load of a program.
struct LoadOptions {
  LoadPlace place = LoadPlace::kAsCompiled;
  // With kPresent: several devices of the program may share one device if there
  // are too few.
  bool oversubscribe = false;
  // Longest wait in nanoseconds for memory that other clients hold. 0: no wait;
  // negative: no limit. A need that the cluster could never meet, whoever
  // released memory, fails at once.
  int64_t wait_ns = -1;
  // If true, the load also waits for hosts that are gone, until they return,
  // and for devices that are drained.
  bool await_devices = false;
  // Called when the load starts to wait, and again whenever the reason changes,
  // with one line that names the reason and who holds the load up. It runs on a
  // thread of the cluster that others may wait for: it must not call the
  // client, nor take long.
  std::function<void(const std::string& why)> on_waiting = {};
};

// Options of a slice: devices that a client reserves while other clients run.
struct SliceOptions {
  // Name of the slice in messages.
  std::string name = "slice";
  // Shape of the slice's mesh, row-major. Its product is the number of devices.
  std::vector<int64_t> shape = {1};
  std::string kind = "cpu";
  // Number of islands over which the devices are divided, in equal runs.
  int64_t islands = 1;
  // If true, the devices of each run are neighbours in the mesh, or torus, of
  // their island and form the run's own shape: that of the slice with its first
  // axis cut.
  bool contiguous = false;
  // Bytes of each device that are reserved for the client. 0: the whole device,
  // which no other client may use. Otherwise other clients may use the rest,
  // and share the device's time by weight.
  uint64_t device_bytes = 0;
  // Longest wait and its notification, as in LoadOptions.
  int64_t wait_ns = -1;
  std::function<void(const std::string& why)> on_waiting = {};
};

// Options for moving a loaded program to other devices.
struct RebindOptions {
  // Islands, hosts and devices that the program must not be on, by the names in
  // messages: "island1", "host2", "island0/host2/device1".
  std::vector<std::string> avoid = {};
  // If true, several devices of the program may share one device if there are
  // too few.
  bool oversubscribe = false;
  LoadOptions load = {};
};

// Options of one launch.
struct LaunchOptions {
  // Replaces the client's priority.
  std::optional<int32_t> priority = {};
  // Deadline in nanoseconds from the call; 0: none. It orders launches if the
  // cluster's policy goes by deadlines. A launch that misses it still
  // completes.
  int64_t deadline_ns = 0;
  // Number of the first step, from 0: the value of `pw.step_index` in it. A run
  // that consists of several launches passes the number of steps before each
  // launch, so that steps are numbered as in one launch. At most kMaxSteps
  // together with the steps of the launch. Errors and traces name steps by
  // these numbers.
  int64_t first_step = 0;
};

}  // namespace pathways

#endif  // RUNTIME_BASE_CLIENT_OPTIONS_H_
