//===- cluster_key.h - Shared key of a cluster ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_CLUSTER_KEY_H_
#define RUNTIME_TRANSPORT_SOCKET_CLUSTER_KEY_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace pathways {

// A secret by which the processes of one cluster recognize each other. Its
// bytes are excluded from core files and wiped at the end. Transports share it.
class ClusterKey {
 public:
  static constexpr size_t kBytes = 32;

  // Reads a key from a file with 64 hexadecimal digits, as `openssl rand -hex
  // 32` makes them, and perhaps a line feed. Returns PermissionDenied if other
  // users may read or change the file, NotFound or Unavailable if the system
  // refuses, and InvalidArgument for any other contents. All errors name the
  // file, and none shows its contents.
  static absl::StatusOr<std::shared_ptr<const ClusterKey>> Read(
      const std::string& path);

  ClusterKey(const ClusterKey&) = delete;
  ClusterKey& operator=(const ClusterKey&) = delete;
  ~ClusterKey();

  absl::Span<const unsigned char> bytes() const { return {page_, kBytes}; }

 private:
  explicit ClusterKey(unsigned char* page) : page_(page) {}

  unsigned char* const page_;  // one page of its own
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_CLUSTER_KEY_H_
