//===- upload_table.h - Values that hosts ask a client for ------*- C++ -*-===//
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

// Values in a client's memory, dense and row-major, or in files, which stay as
// they are while `owner` is held. Both null: only their size counts. `all`:
// they are the contributions that the placement has, one dense array behind the
// other.
struct ClientValues {
  const char* data = nullptr;
  std::shared_ptr<const void> owner;
  const SavedArray* saved = nullptr;
  bool all = false;
};

// The objects of one client that hosts are still to ask for, or ask for now.
// Invariants: (1) the values of an object are held until each host that began
// to ask has said that it reads them no more; (2) a piece that was handed out
// stays as it is until its host asks for another one at that slot. One owner
// calls it.
class UploadTable {
 public:
  // `object` goes to the hosts of `placement`, for `launch`.
  void Add(uint64_t object, uint64_t launch, ClientValues values,
           std::shared_ptr<const ArrayPlacement> placement, uint64_t steps);
  // Another launch needs it, too, if it is here.
  void AddLaunch(uint64_t object, uint64_t launch);
  // What a host asks for; nullopt: there is no such object, or piece. No bytes:
  // it asked long ago, and has it.
  std::optional<Payload> Piece(uint64_t object, int32_t host,
                               PulledPiece piece);
  // Of what is in files: how to read it; nullopt: it is not.
  std::optional<PieceRead> Read(uint64_t object, int32_t host,
                                PulledPiece piece);
  // It was read. As Piece; nullopt also when it was not.
  std::optional<Payload> EndRead(PieceRead read);
  // A host reads no value of the object any more. Returns what kept the values
  // with the last one, to be let go where that may take time.
  std::shared_ptr<const void> Pulled(uint64_t object, int32_t host);
  // The launch is over: hosts that never asked will not, but for another one.
  // As Pulled.
  std::vector<std::shared_ptr<const void>> EndLaunch(uint64_t launch);
  // Why values of the launch were not read from files, if they were not; once.
  absl::Status TakeFailure(uint64_t launch);
  // So are all launches.
  std::vector<std::shared_ptr<const void>> EndAll();
  // A host is gone: of what it has asked for it reads no more than the launches
  // that are over need.
  std::vector<std::shared_ptr<const void>> HostGone(int32_t host);

  size_t size() const { return uploads_.size(); }
  // Bytes copied because they are no neighbours in the client's memory.
  uint64_t bytes_gathered() const { return bytes_gathered_; }

 private:
  using Owners = std::vector<std::shared_ptr<const void>>;
  using Buffer = std::unique_ptr<char[]>;
  struct Slot {
    std::optional<uint32_t> piece;  // the last one; they ascend
    Buffer buffer;
  };
  struct Host {
    const Parts* parts = nullptr;         // of the placement
    std::shared_ptr<const BlockMap> map;  // when it has asked
    std::array<Slot, kPullWindow> slots;
    bool gone = false;  // since it asked
    // Of pieces that were asked for again: one who asked may still read them.
    std::vector<Buffer> old;
  };
  struct Upload {
    ClientValues values;
    std::shared_ptr<const ArrayPlacement> placement;
    uint64_t steps = 1;
    std::map<int32_t, Host> hosts;  // that have not said that they are done
    bool ended = false;             // its launches are over
    uint64_t launch = 0;            // the first one
    int launches = 1;               // that are not over
  };

  // A piece of an object that a host may ask for; nulls: there is none.
  struct Asked {
    Upload* upload = nullptr;
    Host* host = nullptr;
  };
  Asked Ask(uint64_t object, int32_t host, PulledPiece piece);
  // Makes the piece the slot's; false: the host has had a later one.
  static bool Take(Host* host, PulledPiece piece);
  // Forgets the hosts that never asked, and those that are gone.
  void End(uint64_t object, Owners* owners);

  std::map<uint64_t, Upload> uploads_;           // by object
  std::multimap<uint64_t, uint64_t> of_launch_;  // objects, by launch
  std::map<uint64_t, absl::Status> failures_;    // the first ones, by launch
  uint64_t bytes_gathered_ = 0;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_UPLOAD_TABLE_H_
