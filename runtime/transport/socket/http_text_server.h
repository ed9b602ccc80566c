//===- http_text_server.h - One page of text, over HTTP ---------*- C++ -*-===//
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

// Serves one page of text to whoever asks for it, for programs that collect
// figures. It tells and takes no orders, so it knows no keys: where it listens
// says who may read it. Invariants: (1) a connection has kMaxRequestBytes and
// kPatience for its request, has one answer and is closed; (2) there are at
// most kMaxConnections at a time. A newcomer takes the place of the oldest that
// has not asked yet, so those that say nothing keep nobody out.
class TextPage {
 public:
  static constexpr int kMaxConnections = 8;
  static constexpr size_t kMaxRequestBytes = 4096;

  // At "HOST:PORT", where port 0 is any. `text` makes the page, on a thread of
  // its own; what it takes, others wait. InvalidArgument, Unavailable: the
  // address is none, or cannot be listened at.
  static absl::StatusOr<std::unique_ptr<TextPage>> Serve(
      const std::string& address, const std::string& path,
      std::function<std::string()> text);
  // Ends all connections.
  virtual ~TextPage() = default;

  // Where it listens, "HOST:PORT".
  virtual std::string address() const = 0;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_HTTP_TEXT_SERVER_H_
