//===- ucx_address_fuzz.cc - Addresses of UCX as others give them ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/transport/ucx/ucx_address.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

// Returns true if a name would have to be looked up.
bool HasName(absl::string_view text) {
  if (!absl::StartsWith(text, "ucx:")) return false;
  const auto address = ParseSocketAddress(
      absl::StrCat("tcp:", text.substr(4, text.find('/') - 4)));
  char bytes[sizeof(in6_addr)];
  return address.ok() &&
         inet_pton(AF_INET, address->host.c_str(), bytes) != 1 &&
         inet_pton(AF_INET6, address->host.c_str(), bytes) != 1;
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {16 << 10, 16};

}  // namespace pathways

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const std::string text = input.TakeRest();
  if (HasName(text)) return 0;
  const absl::StatusOr<UcxAddress> address = ResolveUcx(text);
  if (!address.ok()) {
    FUZZ_CHECK(absl::IsInvalidArgument(address.status()));
    return 0;
  }
  // Whatever stands behind a slash is for nobody to see.
  FUZZ_CHECK(address->shown == text.substr(0, text.find('/')));
  const auto whole = ResolveUcx(WithSecret(address->shown, address->secret));
  FUZZ_CHECK(whole.ok() && whole->secret == address->secret &&
             whole->shown == address->shown);
  // In numbers it is the same place.
  const auto numbers = ResolveUcx(DescribeUcx(address->endpoint));
  FUZZ_CHECK(numbers.ok() && numbers->secret == 0 &&
             numbers->endpoint.port() == address->endpoint.port() &&
             numbers->endpoint.is_local() == address->endpoint.is_local() &&
             DescribeUcx(numbers->endpoint) == DescribeUcx(address->endpoint));
  return 0;
}
