//===- socket_address.cc - Addresses of sockets -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

constexpr size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status NotAnAddress(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not an address, ", why, Tag(ErrorId::kAddress)));
}

}  // namespace

absl::StatusOr<SocketAddress> ParseSocketAddress(absl::string_view text) {
  SocketAddress address;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    address.is_abstract = absl::ConsumePrefix(&rest, "@");
    if (rest.empty() || (rest[0] != '/' && !address.is_abstract) ||
        rest.find('\0') != absl::string_view::npos) {
      return NotAnAddress(text, "expected unix:/PATH or unix:@NAME");
    }
    if (rest.size() > kLongestPath) {
      return NotAnAddress(
          text, absl::StrCat("it has ", rest.size(),
                             " bytes, expected at most ", kLongestPath));
    }
    address.is_unix = true;
    address.path = std::string(rest);
    return address;
  }
  if (!absl::ConsumePrefix(&rest, "tcp:")) {
    return NotAnAddress(text,
                        "expected unix:/PATH, unix:@NAME or tcp:HOST:PORT");
  }
  const size_t colon = rest.rfind(':');
  absl::string_view host = rest.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[");
  if (colon == absl::string_view::npos ||
      (bracketed && !absl::ConsumeSuffix(&host, "]")) || host.empty() ||
      host.find_first_of(bracketed ? "[]" : ":[]") != absl::string_view::npos ||
      host.find('\0') != absl::string_view::npos) {
    return NotAnAddress(text, "expected tcp:HOST:PORT or tcp:[HOST]:PORT");
  }
  const absl::string_view digits = rest.substr(colon + 1);
  uint32_t port = 0;
  if (digits.find_first_not_of("0123456789") != absl::string_view::npos ||
      !absl::SimpleAtoi(digits, &port) || port > 65535) {
    return NotAnAddress(
        text, absl::StrCat("its port is '", digits, "', expected 0 to 65535"));
  }
  address.host = std::string(host);
  address.port = port;
  return address;
}

bool Endpoint::is_local() const {
  if (storage.ss_family == AF_UNIX) return true;
  if (storage.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
    return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* in = reinterpret_cast<const sockaddr_in6*>(&storage);
  return IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
}

uint16_t Endpoint::port() const {
  if (storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }
  if (storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  }
  return 0;
}

absl::StatusOr<std::vector<Endpoint>> Resolve(const SocketAddress& address,
                                              absl::string_view text) {
  std::vector<Endpoint> endpoints;
  if (address.is_unix) {
    Endpoint& endpoint = endpoints.emplace_back();
    auto* un = reinterpret_cast<sockaddr_un*>(&endpoint.storage);
    un->sun_family = AF_UNIX;
    // A first byte of zero marks an abstract name, which has no final zero.
    std::memcpy(un->sun_path + address.is_abstract, address.path.data(),
                address.path.size());
    endpoint.bytes = offsetof(sockaddr_un, sun_path) + address.path.size() + 1;
    return endpoints;
  }
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(
      address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot find the host of '", text, "': ",
        error == EAI_SYSTEM ? std::generic_category().message(errno)
                            : gai_strerror(error),
        Tag(ErrorId::kCannotReach)));
  }
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    Endpoint& endpoint = endpoints.emplace_back();
    std::memcpy(&endpoint.storage, info->ai_addr, info->ai_addrlen);
    endpoint.bytes = info->ai_addrlen;
  }
  freeaddrinfo(found);
  return endpoints;
}

absl::Status SystemError(absl::string_view what, absl::string_view text,
                         int error) {
  const std::string message =
      absl::StrCat("cannot ", what, " '", text,
                   "': ", std::generic_category().message(error),
                   Tag(ErrorId::kCannotReach));
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case EADDRINUSE:
      return absl::AlreadyExistsError(message);
    case ETIMEDOUT:
      return absl::DeadlineExceededError(message);
    default:
      return absl::UnavailableError(message);
  }
}

}  // namespace pathways
