//===- Array.h - Arrays on devices ------------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ARRAY_H
#define PATHWAYS_ARRAY_H

#include "pathways/HostArray.h"
#include "pathways/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pathways {

/// Division of an array over devices. The devices form a mesh; dimension d
/// of the array is cut over the mesh axes dims[d]. With k shards along a
/// dimension of n elements, each shard has ceil(n / k) of them, and the last
/// shards have fewer or none. Mesh axes that appear nowhere hold copies.
struct Sharding {
  struct Axis {
    std::string name;
    int64_t size = 1;
    bool operator==(const Axis &) const = default;
  };
  /// Combines the contributions to a partial array. kUMax and kUMin take
  /// integers as unsigned; kAnd, kOr and kXor combine their bits.
  enum class Reduction {
    kNone,
    kAdd,
    kMul,
    kMax,
    kMin,
    kUMax,
    kUMin,
    kAnd,
    kOr,
    kXor
  };

  /// Axes of the mesh, major axis first; none: a single device.
  std::vector<Axis> mesh = {};
  /// Names of the devices ("island0/host1/device2"), one for each shard,
  /// row-major over the mesh. A device may appear several times.
  std::vector<std::string> devices = {};
  /// For each dimension of the array, the axes that cut it, major axis first.
  std::vector<std::vector<std::string>> dims = {};
  /// Axes over which shards hold contributions to the same elements; the value
  /// of the array is their combination by `reduction`.
  std::vector<std::string> partial_axes = {};
  Reduction reduction = Reduction::kNone;

  bool operator==(const Sharding &) const = default;
};

/// The part of an array that one device holds.
struct Shard {
  /// Name of the device.
  std::string device;
  /// First element in each dimension of the whole array, and number of
  /// elements.
  std::vector<int64_t> offset, shape;
};

/// Values of an array, read where they are: dense, row-major. They do not
/// change, and stay until `owner` and its copies are gone, whatever happens to
/// the array. The memory must not be written.
struct ArrayView {
  ElementType element = ElementType::kInvalid;
  std::vector<int64_t> shape;
  std::span<const char> data;
  std::shared_ptr<const void> owner;
};

/// An array that a session holds, in memory of the process or on the devices
/// where its last launch left it. Copies refer to the same array, whose memory
/// is freed with the last copy. The destructor never waits. An array may be the
/// result of a run that has not ended, and still be an argument of the next
/// launch. A moved-from or default-constructed array is empty: every call
/// returns an error.
class Array {
public:
  Array() = default;

  /// The type of the array, known before it is ready. An empty array has
  /// kInvalid and no shape.
  ElementType element() const;
  const std::vector<int64_t> &shape() const;
  /// Returns true if await and get would return, with or without an error,
  /// without waiting for a run. Never waits.
  bool isReady() const;
  /// Waits for the run that fills the array, if there is one. Errors:
  /// RunFailed.
  Status await() const;
  /// Waits for at most `limitNs` nanoseconds if that is not negative. Returns
  /// false if the run has not ended by then. A simulation makes progress only
  /// in calls that wait, and takes no account of the limit. Errors: as for
  /// await.
  Result<bool> awaitFor(int64_t limitNs) const;
  /// Waits, then returns a copy of the whole array, dense. Errors: as for
  /// await; InvalidArgument if the array was released; Refused, naming type and
  /// bytes, if this process lacks memory for the copy. The array remains.
  Result<HostArray> fetch() const;
  /// Waits, then copies the whole array, dense, to `into`. Each byte is copied
  /// once, except that contributions are combined. After an error the contents
  /// of `into` are undefined. Errors: as for fetch; InvalidArgument also if the
  /// array has another number of bytes, or no values, as in a session that only
  /// costs.
  Status fetchInto(std::span<char> into) const;
  /// Waits, then returns the values without a copy. Meanwhile the view takes
  /// memory of the session, as the array does. Errors: as for fetch; Refused,
  /// with the reason, unless the values are dense in one piece of memory of
  /// this process: that of a value that was put and not launched yet, or of a
  /// host in this process that holds all of the array.
  Result<ArrayView> view() const;
  /// Returns the sharding of the array on the devices, which a launch may
  /// change if the array is its argument. Returns nullopt if this process or
  /// files hold the values, if the array has no elements, and in a simulation
  /// without kernels. Never waits. Errors: InvalidArgument if the array was
  /// released.
  Result<std::optional<Sharding>> sharding() const;
  /// Returns the shards in the order of Sharding::devices; an array without a
  /// sharding has none. Never waits. Errors: as for sharding.
  Result<std::vector<Shard>> shards() const;
  /// Waits, then returns a copy of one shard, dense, with the shape that
  /// `shards` gives. Only the bytes of that shard move. The shard of a partial
  /// array is the contribution that its device holds. Errors: as for fetch;
  /// InvalidArgument if `index` is not that of a shard.
  Result<HostArray> fetchShard(int64_t index) const;
  /// Waits, then writes the array to a new folder (docs/checkpoints.md), each
  /// block of its shards once. This process holds one block at a time in
  /// memory. Either the complete folder is on the disk or nothing is. Errors:
  /// as for await; AlreadyExists if the path exists and is not an empty folder;
  /// Unwritable if the folder cannot be made, permission is missing or the disk
  /// is full; InvalidArgument if the array was released, or has no values, as
  /// in a simulation without kernels; Refused if memory for a block is short.
  Status save(const std::string &folder) const;
  /// Frees the memory before the last copy is gone; no copy can be used
  /// afterwards. A launch that has the array as argument continues. Never
  /// waits.
  void release();

  struct State;
  explicit Array(std::shared_ptr<State> state) : state(std::move(state)) {}
  const State *getState() const { return state.get(); }

private:
  std::shared_ptr<State> state;
};

} // namespace pathways

#endif // PATHWAYS_ARRAY_H
