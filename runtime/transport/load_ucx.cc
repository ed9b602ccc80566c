//===- load_ucx.cc - Loader of the UCX transport --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/load_ucx.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using Make = Transport*(const UcxOptions&, TransportEvents*);

absl::StatusOr<Make*> Load() {
  std::error_code unknown;
  const std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() /
      PATHWAYS_UCX_LIBRARY;
  void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    library = dlopen(PATHWAYS_UCX_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("UCX cannot be used here: ", dlerror()));
  }
  auto* make =
      reinterpret_cast<Make*>(dlsym(library, PATHWAYS_UCX_FUNCTION_NAME));
  if (make != nullptr) return make;
  return absl::FailedPreconditionError(
      absl::StrCat("UCX cannot be used here: " PATHWAYS_UCX_LIBRARY
                   " is of another version: ",
                   dlerror()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> LoadUcxTransport(
    const UcxOptions& options, TransportEvents* events) {
  static const absl::StatusOr<Make*> make = Load();
  if (!make.ok()) return make.status();
  return std::unique_ptr<Transport>((*make)(options, events));
}

}  // namespace pathways
