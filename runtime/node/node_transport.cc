//===- node_transport.cc - Transports between processes of a cluster ------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/node_transport.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/protocol/link_frame.h"
#include "runtime/transport/descriptor.h"
#include "runtime/transport/load_ucx.h"
#include "runtime/transport/socket/socket_transport.h"
#include "runtime/transport/socket_address.h"
#include "runtime/transport/testing/chaos_options.h"
#include "runtime/transport/testing/chaos_transport.h"
#include "runtime/transport/transport_mux.h"

namespace pathways {
namespace {

constexpr char kUcxPrefix[] = "ucx:";
constexpr char kSharedMemory[] = "shm";
constexpr char kTcp[] = "tcp";

using MakeTransport = ChaosTransport::MakeInner;

bool IsMembership(absl::Span<const char> header) {
  LinkFrame frame;
  if (header.size() != sizeof(frame)) return false;
  std::memcpy(&frame, header.data(), sizeof(frame));
  return frame.kind == LinkFrame::kMembership;
}

absl::StatusOr<MakeTransport> MakeGoodLinks(const LinkOptions& options) {
  SocketOptions sockets;
  sockets.trust_loopback = options.trust_loopback;
  sockets.refused = options.refused;
  if (!options.key_file.empty()) {
    absl::StatusOr<std::shared_ptr<const ClusterKey>> key =
        ClusterKey::Read(options.key_file);
    if (!key.ok()) return key.status();
    sockets.key = *std::move(key);
  }
  auto make_sockets = [sockets](TransportEvents* events) {
    return MakeSocketTransport(sockets, events);
  };
  if (options.ucx.empty()) return make_sockets;
  if (options.ucx != kSharedMemory && options.ucx != kTcp) {
    return absl::InvalidArgumentError(
        absl::StrCat("the UCX transport is '", options.ucx, "', expected ",
                     kSharedMemory, " or ", kTcp));
  }
  UcxOptions ucx;
  ucx.way = options.ucx == kTcp ? UcxWay::kTcp : UcxWay::kSharedMemory;
  return [make_sockets, ucx](TransportEvents* events) {
    return std::make_unique<TransportMux>(
        kUcxPrefix,
        [ucx](TransportEvents* inner) { return LoadUcxTransport(ucx, inner); },
        make_sockets, events);
  };
}

}  // namespace

absl::StatusOr<TransportFactory> MakeLinks(const LinkOptions& options) {
  absl::StatusOr<MakeTransport> make = MakeGoodLinks(options);
  if (!make.ok()) return make.status();
  if (options.chaos.empty()) return *std::move(make);
  absl::StatusOr<ChaosOptions> chaos = ParseChaosOptions(options.chaos);
  if (!chaos.ok()) return chaos.status();
  // Membership messages depend on their order.
  chaos->keeps_order = IsMembership;
  return [chaos = *std::move(chaos),
          make = *std::move(make)](TransportEvents* events) {
    return std::make_unique<ChaosTransport>(chaos, events, make);
  };
}

std::string MakeNodeAddress(absl::string_view text) {
  const bool is_whole = text.empty() || absl::StartsWith(text, "tcp:") ||
                        IsUcxAddress(text) || absl::StartsWith(text, "unix:");
  return is_whole ? std::string(text) : absl::StrCat("tcp:", text);
}

absl::Status NobodyThere(absl::string_view address, absl::Status status) {
  if (!absl::IsUnavailable(status)) return status;
  const absl::string_view tag = TagOf(status.message());
  return Coded(ErrorId::kCannotReach,
               absl::UnavailableError(
                   absl::StrCat(WithoutTag(status.message()),
                                "; start a cluster with 'pw-node controller "
                                "--topology=FILE --listen=",
                                address, "'", tag)));
}

absl::StatusOr<std::string> AddressTowards(const std::string& controller) {
  absl::StatusOr<SocketAddress> address = ParseSocketAddress(controller);
  if (!address.ok()) return address.status();
  if (address->is_unix) {
    absl::BitGen random;
    return absl::StrCat(controller, ".", absl::Hex(random(), absl::kZeroPad16));
  }
  absl::StatusOr<std::vector<Endpoint>> endpoints =
      Resolve(*address, controller);
  if (!endpoints.ok()) return endpoints.status();
  // Connecting a datagram socket sends nothing, and selects the source address.
  int error = 0;
  for (const Endpoint& endpoint : *endpoints) {
    const Descriptor probe(
        socket(endpoint.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own = {};
    socklen_t bytes = sizeof(own);
    char host[NI_MAXHOST];
    if (probe.get() < 0 ||
        connect(probe.get(), endpoint.get(), endpoint.bytes) != 0 ||
        getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &bytes) !=
            0) {
      error = errno;
      continue;
    }
    if (getnameinfo(reinterpret_cast<const sockaddr*>(&own), bytes, host,
                    sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0) {
      continue;
    }
    return own.ss_family == AF_INET6 ? absl::StrCat("tcp:[", host, "]:0")
                                     : absl::StrCat("tcp:", host, ":0");
  }
  return SystemError("find an address of this machine towards", controller,
                     error);
}

bool IsUcxAddress(absl::string_view address) {
  return absl::StartsWith(address, kUcxPrefix);
}

std::vector<std::string> WorkerLinkArguments(RunOptions::WorkerLinks links,
                                             absl::string_view own_socket) {
  if (links == RunOptions::kSockets) {
    return {absl::StrCat("--listen=", own_socket)};
  }
  return {
      "--listen=ucx:127.0.0.1:0",
      absl::StrCat("--ucx=", links == RunOptions::kTcp ? kTcp : kSharedMemory)};
}

}  // namespace pathways
