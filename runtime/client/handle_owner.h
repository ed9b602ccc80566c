//===- handle_owner.h - Owner of the handles of a client --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_HANDLE_OWNER_H_
#define RUNTIME_CLIENT_HANDLE_OWNER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {

// Makes the handles of one client, and tells them from those of other clients.
// Immutable; any thread may use it.
class HandleOwner {
 public:
  // `client`: name of the client. The number is one that no client of this
  // process had before, so a handle of a destroyed client fits no other one.
  explicit HandleOwner(std::string client);

  const std::string& client() const { return client_; }
  // Number of the client in its handles.
  uint64_t number() const { return number_; }

  template <typename Handle>
  Handle Make(uint64_t id) const {
    return {id, number_};
  }
  // Returns InvalidArgument if the handle belongs to another client. `what`
  // names its kind.
  template <typename Handle>
  absl::Status Check(Handle handle, const char* what) const {
    if (handle.owner == number_) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", handle.id, " is not of client '", client_, "'",
                     Tag(ErrorId::kNotOfClient)));
  }

 private:
  const std::string client_;
  const uint64_t number_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_HANDLE_OWNER_H_
