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

// An array on its way from hosts to a client.
struct ArrayFetch {
  explicit ArrayFetch(FetchAssembly parts) : assembly(std::move(parts)) {}

  FetchAssembly assembly;
  // Told once, on the worker of the client's actor: all has come, or why not.
  std::function<void(const absl::Status&)> on_end;
};

// The transfers of one client's address: they outlive the client, since hosts
// may read what they were sent until they say otherwise. Any thread may begin
// or end one; messages come on the worker of the address.
class ClientTransfers {
 public:
  // Sends to a host; the payload is read until it says that it has all.
  using Send =
      absl::FunctionRef<void(int32_t host, const WireMessage&, Payload)>;

  // Hosts that are sent `launch` will ask for the object. Both are the client's
  // own numbers; hosts use ids (client_id.h).
  void AddUpload(uint64_t object, uint64_t launch, ClientValues values,
                 std::shared_ptr<const ArrayPlacement> placement,
                 uint64_t steps);
  // Those of another launch need it, too, if it is here.
  void AddLaunch(uint64_t object, uint64_t launch);
  // The launch has ended; all have, since the client is gone. Returns why
  // values of it were not read from their files, if they were not.
  absl::Status EndLaunch(uint64_t launch);
  void EndLaunches();
  // A host is gone: it reads nothing any more.
  void HostGone(int32_t host);
  void AddFetch(uint64_t request, std::shared_ptr<ArrayFetch> fetch);
  // Nobody waits for it: what still comes is not read.
  void EndFetch(uint64_t request);

  void OnWire(int32_t host, const WireMessage& message, Payload payload,
              Send send);

  // From now on `reader` reads what hosts ask for of arrays in files, and tells
  // the actor, which calls OnRead; until StopReading has returned, or another
  // one does. Without one they are read at once, while a handler waits.
  void ReadWith(FileReader* reader);
  void StopReading(FileReader* reader);
  void OnRead(Send send);

  // Bytes that were copied here: out of arrays whose blocks are no neighbours,
  // and into arrays that were fetched.
  uint64_t bytes_gathered() const;
  uint64_t bytes_fetched() const { return bytes_fetched_.get(); }
  // Uploads and fetches that are not over.
  size_t size() const;

 private:
  void OnPull(int32_t host, const WireMessage& message, Send send);
  // Sends a piece, or that there is none.
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
