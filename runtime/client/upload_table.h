//===- upload_table.h - Values that hosts pull ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_UPLOAD_TABLE_H_
#define RUNTIME_CLIENT_UPLOAD_TABLE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "runtime/binding/parts.h"
#include "runtime/checkpoint/saved_array.h"
#include "runtime/client/block_map.h"
#include "runtime/client/file_reader.h"
#include "runtime/protocol/block_pull.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// Values in a client's memory, dense and row-major, or in files, which do not
// change while `owner` is held. `data` and `saved` are both null if only sizes
// count. `all`: the values are the contributions of the placement, one dense
// array per rank, in order.
struct ClientValues {
  const char* data = nullptr;
  std::shared_ptr<const void> owner;
  const SavedArray* saved = nullptr;
  bool all = false;
};

// Objects of one client that hosts will request, or request now. Invariants:
// (1) the values of an object are held until each host that began to request
// them has said that it reads them no more; (2) a piece that was handed out
// does not change until its host requests another one at that slot. One owner
// calls it.
class UploadTable {
 public:
  // Adds an object that goes to the hosts of `placement`, for `launch`.
  void Add(uint64_t object, uint64_t launch, ClientValues values,
           std::shared_ptr<const ArrayPlacement> placement, uint64_t steps);
  // Adds a launch that needs the object, too, if it is still here.
  void AddLaunch(uint64_t object, uint64_t launch);
  // Returns the piece that a host requests; nullopt if there is no such object
  // or piece. The payload has no bytes if the host has requested a later piece,
  // and so has this one.
  std::optional<Payload> Piece(uint64_t object, int32_t host,
                               PulledPiece piece);
  // Returns how to read a piece that is in files; nullopt if it is not.
  std::optional<PieceRead> Read(uint64_t object, int32_t host,
                                PulledPiece piece);
  // Ends a read. Returns what Piece does; nullopt also if the read failed.
  std::optional<Payload> EndRead(PieceRead read);
  // Records that a host reads no value of the object any more. Returns the
  // owner of the values after the last host, for the caller to drop where that
  // may take time.
  std::shared_ptr<const void> Pulled(uint64_t object, int32_t host);
  // Ends a launch: hosts that have not requested its objects will not, unless
  // another launch needs them. Returns owners of values as Pulled does.
  std::vector<std::shared_ptr<const void>> EndLaunch(uint64_t launch);
  // Returns why values of the launch could not be read from files, once; OK if
  // they could.
  absl::Status TakeFailure(uint64_t launch);
  // Ends all launches.
  std::vector<std::shared_ptr<const void>> EndAll();
  // Records that a host is gone. Objects that it has requested are held for it
  // only until their launches have ended.
  std::vector<std::shared_ptr<const void>> HostGone(int32_t host);

  size_t size() const { return uploads_.size(); }
  // Bytes copied because they are not contiguous in the client's memory.
  uint64_t bytes_gathered() const { return bytes_gathered_; }

 private:
  using Owners = std::vector<std::shared_ptr<const void>>;
  using Buffer = std::unique_ptr<char[]>;
  struct Slot {
    std::optional<uint32_t> piece;  // the last one; numbers ascend
    Buffer buffer;
  };
  struct Host {
    const Parts* parts = nullptr;         // of the placement
    std::shared_ptr<const BlockMap> map;  // null until it requests
    std::array<Slot, kPullWindow> slots;
    bool gone = false;  // since it requested
    // Buffers of pieces that were requested again: the host may still read
    // them.
    std::vector<Buffer> old;
  };
  struct Upload {
    ClientValues values;
    std::shared_ptr<const ArrayPlacement> placement;
    uint64_t steps = 1;
    std::map<int32_t, Host> hosts;  // those that are not done
    bool ended = false;             // its launches have ended
    uint64_t launch = 0;            // the first one
    int launches = 1;               // that have not ended
  };

  // A piece of an object that a host may request; null if there is none.
  struct Asked {
    Upload* upload = nullptr;
    Host* host = nullptr;
  };
  Asked Ask(uint64_t object, int32_t host, PulledPiece piece);
  // Puts the piece in its slot. Returns false if the host has had a later one.
  static bool Take(Host* host, PulledPiece piece);
  // Drops hosts that never requested the object, and hosts that are gone.
  void End(uint64_t object, Owners* owners);

  std::map<uint64_t, Upload> uploads_;           // by object
  std::multimap<uint64_t, uint64_t> of_launch_;  // objects, by launch
  std::map<uint64_t, absl::Status> failures_;    // the first ones, by launch
  uint64_t bytes_gathered_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_UPLOAD_TABLE_H_
