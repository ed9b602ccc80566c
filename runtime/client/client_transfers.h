//===- client_transfers.h - Values between a client and hosts ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLIENT_TRANSFERS_H_
#define RUNTIME_CLIENT_CLIENT_TRANSFERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/base/mutex.h"
#include "runtime/client/fetch_assembly.h"
#include "runtime/client/file_reader.h"
#include "runtime/client/upload_table.h"
#include "runtime/device/counters.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {

// A fetch of an array from hosts to a client.
struct ArrayFetch {
  // Joins the pieces.
  explicit ArrayFetch(FetchAssembly parts) : assembly(std::move(parts)) {}
  // This fetch only learns that the host has the object, which the client then
  // reads in place.
  ArrayFetch() = default;

  // Takes a piece, unless Close was called, and returns what Accept returns.
  bool Accept(int32_t host, PulledPiece piece, Payload payload);
  // No piece is written to the array any more once this has returned.
  void Close() {
    MutexLock lock(&mutex);
    closed = true;
  }

  std::optional<FetchAssembly> assembly;
  Mutex mutex;  // held while a piece is written
  bool closed ABSL_GUARDED_BY(mutex) = false;
  // Called once, on the worker of the client's actor: OK when all pieces have
  // come, or an error.
  std::function<void(const absl::Status&)> on_end;
};

// Transfers of one client's address. They outlive the client, since hosts may
// read what they were sent until they say that they are done. Any thread may
// begin or end a transfer; messages come on the worker of the address.
class ClientTransfers {
 public:
  // Sends to a host. The payload must stay valid until the host says that it
  // has all.
  using Send =
      absl::FunctionRef<void(int32_t host, const WireMessage&, Payload)>;

  // Adds an object that the hosts of `launch` will ask for. Both numbers are
  // the client's own; hosts use ids (client_id.h).
  void AddUpload(uint64_t object, uint64_t launch, ClientValues values,
                 std::shared_ptr<const ArrayPlacement> placement,
                 uint64_t steps);
  // Adds a launch whose hosts need the object, too, if it is still here.
  void AddLaunch(uint64_t object, uint64_t launch);
  // EndLaunch returns why values of the launch could not be read from their
  // files, or OK. EndLaunches ends all launches of a client that is gone.
  absl::Status EndLaunch(uint64_t launch);
  void EndLaunches();
  // Records that a host is gone, which reads nothing any more.
  void HostGone(int32_t host);
  void AddFetch(uint64_t request, std::shared_ptr<ArrayFetch> fetch);
  // Ends a fetch that nobody waits for: pieces that still come are ignored.
  void EndFetch(uint64_t request);

  void OnWire(int32_t host, const WireMessage& message, Payload payload,
              Send send);

  // Sets the reader of arrays in files that hosts ask for. It notifies the
  // actor, which calls OnRead. It is used until StopReading returns or another
  // reader is set. Without a reader, files are read at once, while a handler
  // waits.
  void ReadWith(FileReader* reader);
  void StopReading(FileReader* reader);
  void OnRead(Send send);

  // Bytes copied here: gathered from arrays whose blocks are not contiguous,
  // and fetched into arrays.
  uint64_t bytes_gathered() const;
  uint64_t bytes_fetched() const { return bytes_fetched_.get(); }
  // Number of uploads and fetches in progress.
  size_t size() const;

 private:
  void OnPull(int32_t host, const WireMessage& message, Send send);
  // Sends a piece, or that there is none if `payload` is nullopt; sends nothing
  // if it has no bytes.
  static void Answer(uint64_t id, int32_t host, PulledPiece piece,
                     const std::optional<Payload>& payload, Send send);
  void OnBlock(int32_t host, const WireMessage& message, Payload payload,
               Send send);

  mutable Mutex mutex_;
  FileReader* reader_ ABSL_GUARDED_BY(mutex_) = nullptr;
  UploadTable uploads_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::shared_ptr<ArrayFetch>> fetches_
      ABSL_GUARDED_BY(mutex_);
  Counter bytes_fetched_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLIENT_TRANSFERS_H_
