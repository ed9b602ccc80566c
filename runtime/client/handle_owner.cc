//===- handle_owner.cc - Owner of the handles of a client -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/handle_owner.h"

#include <atomic>

namespace pathways {
namespace {

uint64_t NextOwner() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

HandleOwner::HandleOwner(std::string client)
    : client_(std::move(client)), number_(NextOwner()) {}

}  // namespace pathways
