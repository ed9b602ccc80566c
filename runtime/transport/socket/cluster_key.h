//===- cluster_key.h - What processes of a cluster share --------*- C++ -*-===//
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

// A secret by which processes of one cluster know each other. Its bytes are in
// no core file, and wiped at the end. Shared by transports.
class ClusterKey {
 public:
  static constexpr size_t kBytes = 32;

  // The file has 64 hexadecimal digits, as of `openssl rand -hex 32`, and
  // perhaps a line feed. PermissionDenied: others than this user may read or
  // change it; NotFound, Unavailable: the system says no; InvalidArgument: it
  // holds something else. All name the file, and none what it holds.
  static absl::StatusOr<std::shared_ptr<const ClusterKey>> Read(
      const std::string& path);

  ClusterKey(const ClusterKey&) = delete;
  ClusterKey& operator=(const ClusterKey&) = delete;
  ~ClusterKey();

  absl::Span<const unsigned char> bytes() const { return {page_, kBytes}; }

 private:
  explicit ClusterKey(unsigned char* page) : page_(page) {}

  unsigned char* const page_;  // of its own
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_CLUSTER_KEY_H_
