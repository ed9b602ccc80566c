//===- socket_greeter.h - Handshakes with strangers -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_SOCKET_GREETER_H_
#define RUNTIME_TRANSPORT_SOCKET_SOCKET_GREETER_H_

#include <asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/descriptor.h"
#include "runtime/transport/socket/byte_stream.h"
#include "runtime/transport/socket/socket_handshake.h"
#include "runtime/transport/socket/tls_context.h"

namespace pathways {

// Shakes hands with processes that dialed. Thread-safe; handlers of the context
// run it and keep it alive. Invariants: (1) at most `max_open` guests are
// present at a time, each for at most `timeout`; a newcomer replaces one of
// these (WhoGivesWay), so guests without a key keep nobody out; (2) each guest
// is welcomed or refused exactly once, unless the context stops.
class SocketGreeter : public std::enable_shared_from_this<SocketGreeter> {
 public:
  struct Options {
    size_t max_open = 256;
    absl::Duration timeout = absl::Seconds(5);
    TransportName own;
    const TlsContext* tls = nullptr;  // null: TCP is also plain
    std::function<void(std::unique_ptr<ByteStream>)> welcome;
    // Called with the guest's address, as far as it is known, and the reason.
    std::function<void(absl::string_view who, const absl::Status& why)> refused;
  };

  SocketGreeter(asio::io_context* context, Options options)
      : context_(context), options_(std::move(options)) {}

  void Greet(Descriptor socket, bool is_unix, std::string who);

 private:
  class Guest;

  // Returns the guest that gives way to a newcomer, or null if there is room.
  std::shared_ptr<Guest> FindVictim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Step(const std::shared_ptr<Guest>& guest);
  void Refuse(const std::shared_ptr<Guest>& guest, const absl::Status& why);
  // Removes the guest. Returns its stream to the first caller, then null.
  std::unique_ptr<ByteStream> Remove(const std::shared_ptr<Guest>& guest);

  asio::io_context* const context_;
  const Options options_;
  Mutex mutex_;
  uint64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  // The key ascends, so the oldest comes first.
  std::map<uint64_t, std::shared_ptr<Guest>> guests_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_GREETER_H_
