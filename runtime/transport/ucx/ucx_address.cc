//===- ucx_address.cc - Addresses of UCX listeners ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/transport/descriptor.h"

namespace pathways {
namespace {

constexpr size_t kSecretDigits = 16;

bool IsSameHost(const sockaddr* one, const sockaddr* two) {
  if (one == nullptr || one->sa_family != two->sa_family) return false;
  if (one->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(one)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(two)->sin_addr.s_addr;
  }
  return one->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(one)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(two)->sin6_addr,
                     sizeof(in6_addr)) == 0;
}

}  // namespace

absl::StatusOr<UcxAddress> ResolveUcx(absl::string_view text) {
  UcxAddress address;
  const size_t slash = absl::StartsWith(text, "ucx:")
                           ? std::min(text.find('/'), text.size())
                           : text.size();
  address.shown = std::string(text.substr(0, slash));
  absl::string_view digits = text.substr(slash);
  absl::string_view rest = address.shown;
  const bool ours =
      absl::ConsumePrefix(&rest, "ucx:") &&
      (!absl::ConsumePrefix(&digits, "/") || digits.size() == kSecretDigits) &&
      (digits.empty() || absl::SimpleHexAtoi(digits, &address.secret));
  absl::StatusOr<SocketAddress> host =
      ParseSocketAddress(absl::StrCat("tcp:", rest));
  if (!ours || !host.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address.shown,
                     "' is not an address, expected ucx:HOST:PORT or "
                     "ucx:[HOST]:PORT, and perhaps /SECRET"));
  }
  absl::StatusOr<std::vector<Endpoint>> found = Resolve(*host, address.shown);
  if (!found.ok()) return found.status();
  address.endpoint = found->front();
  return address;
}

std::string WithSecret(absl::string_view shown, uint64_t secret) {
  return absl::StrCat(shown, "/", absl::Hex(secret, absl::kZeroPad16));
}

std::string DescribeUcx(const Endpoint& endpoint) {
  const bool is_v6 = endpoint.storage.ss_family == AF_INET6;
  char host[INET6_ADDRSTRLEN] = "";
  const void* address =
      is_v6
          ? static_cast<const void*>(
                &reinterpret_cast<const sockaddr_in6*>(&endpoint.storage)
                     ->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&endpoint.storage)->sin_addr;
  inet_ntop(endpoint.storage.ss_family, address, host, sizeof host);
  return absl::StrCat("ucx:", is_v6 ? "[" : "", host, is_v6 ? "]:" : ":",
                      endpoint.port());
}

std::string DeviceTowards(const Endpoint& endpoint) {
  // Connecting a datagram socket sends nothing, but chooses a route.
  const Descriptor probe(
      socket(endpoint.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own = {};
  socklen_t bytes = sizeof own;
  Endpoint towards = endpoint;
  // Any port will do, except 0.
  if (endpoint.get()->sa_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&towards.storage)->sin_port = htons(9);
  } else {
    reinterpret_cast<sockaddr_in6*>(&towards.storage)->sin6_port = htons(9);
  }
  if (probe.get() < 0 ||
      connect(probe.get(), towards.get(), towards.bytes) != 0 ||
      getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &bytes) !=
          0) {
    return "";
  }
  ifaddrs* devices = nullptr;
  if (getifaddrs(&devices) != 0) return "";
  std::string name;
  for (const ifaddrs* device = devices; device != nullptr && name.empty();
       device = device->ifa_next) {
    if (IsSameHost(device->ifa_addr, reinterpret_cast<sockaddr*>(&own))) {
      name = device->ifa_name;
    }
  }
  freeifaddrs(devices);
  // Loopback has more addresses than those listed for the device.
  return name.empty() && endpoint.is_local() ? "lo" : name;
}

}  // namespace pathways
