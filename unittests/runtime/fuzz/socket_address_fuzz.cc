//===- socket_address_fuzz.cc - Addresses as others give them -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/transport/socket_address.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

std::string Text(const SocketAddress& address, absl::string_view digits) {
  if (address.is_unix) {
    return absl::StrCat("unix:", address.is_abstract ? "@" : "", address.path);
  }
  const bool bracketed = address.host.find(':') != std::string::npos;
  return absl::StrCat("tcp:", bracketed ? "[" : "", address.host,
                      bracketed ? "]:" : ":", digits);
}

// No name is looked up.
bool IsNumeric(const std::string& host) {
  char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

const fuzz::Budget fuzz::kBudget = {16 << 10, 16};

}  // namespace pathways

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  fuzz::Input input(data, size);
  const std::string text = input.TakeRest();
  const absl::StatusOr<SocketAddress> address = ParseSocketAddress(text);
  if (!address.ok()) {
    FUZZ_CHECK(absl::IsInvalidArgument(address.status()));
    return 0;
  }
  // It says what it was made of, but for zeros before the port and brackets
  // that are not needed.
  const std::string digits = text.substr(text.rfind(':') + 1);
  const std::string again = Text(*address, digits);
  FUZZ_CHECK(again == text ||
             absl::StrCat("tcp:[", address->host, "]:", digits) == text);
  if (address->is_unix || IsNumeric(address->host)) {
    const auto endpoints = Resolve(*address, text);
    FUZZ_CHECK(endpoints.ok() && !endpoints->empty());
    for (const Endpoint& endpoint : *endpoints) {
      FUZZ_CHECK(endpoint.bytes <= sizeof(endpoint.storage));
      FUZZ_CHECK(endpoint.port() == address->port);
      if (address->is_unix) FUZZ_CHECK(endpoint.is_local());
    }
  }
  return 0;
}
