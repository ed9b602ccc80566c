//===- http_text_server.h - HTTP server of one page of text -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_HTTP_TEXT_SERVER_H_
#define RUNTIME_TRANSPORT_SOCKET_HTTP_TEXT_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace pathways {

// Serves one page of text to any process that asks, for programs that collect
// metrics. The page is read-only, so there is no key: the address on which it
// listens determines who can read it. Invariants: (1) a connection has
// kMaxRequestBytes and kPatience for its request, gets one answer and is
// closed; (2) there are at most kMaxConnections at a time. A newcomer replaces
// the oldest connection that has not asked yet, so silent connections keep
// nobody out.
class TextPage {
 public:
  static constexpr int kMaxConnections = 8;
  static constexpr size_t kMaxRequestBytes = 4096;

  // Serves at "HOST:PORT", where port 0 means any free port. `text` makes the
  // page on a thread of the server; while it runs, other requests wait. Returns
  // InvalidArgument if it is no address, and Unavailable if the server cannot
  // listen on it.
  static absl::StatusOr<std::unique_ptr<TextPage>> Serve(
      const std::string& address, const std::string& path,
      std::function<std::string()> text);
  // Ends all connections.
  virtual ~TextPage() = default;

  // Returns the address on which the server listens, as "HOST:PORT".
  virtual std::string address() const = 0;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_HTTP_TEXT_SERVER_H_
