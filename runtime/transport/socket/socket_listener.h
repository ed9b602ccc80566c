//===- socket_listener.h - Acceptor of connections --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_SOCKET_LISTENER_H_
#define RUNTIME_TRANSPORT_SOCKET_SOCKET_LISTENER_H_

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/transport/socket/socket_bind.h"
#include "runtime/transport/socket/socket_greeter.h"

namespace pathways {

// Accepts connections to an address and hands them to the greeter. Thread-safe.
// Handlers of the context keep it alive; the address is free after Close.
class SocketListener : public std::enable_shared_from_this<SocketListener> {
 public:
  SocketListener(asio::io_context* context, BoundSocket socket, bool is_unix,
                 std::shared_ptr<SocketGreeter> greeter);
  ~SocketListener();

  // Returns false if the system has no resources to wait for connections.
  bool Start();
  void Close();

 private:
  void Wait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Accept();

  const bool is_unix_;
  const std::shared_ptr<SocketGreeter> greeter_;
  Mutex mutex_;
  std::optional<BoundSocket> socket_ ABSL_GUARDED_BY(mutex_);
  asio::posix::stream_descriptor watch_ ABSL_GUARDED_BY(mutex_);
  asio::steady_timer pause_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_SOCKET_LISTENER_H_
