//===- ucx_transport.h - Between processes by UCX ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_UCX_UCX_TRANSPORT_H_
#define RUNTIME_TRANSPORT_UCX_UCX_TRANSPORT_H_

#include <memory>

#include "runtime/transport/transport.h"
#include "runtime/transport/ucx_options.h"

namespace pathways {

// Addresses are "ucx:HOST:PORT", where port 0 is one that is free, and an IPv6
// address is in brackets; all that are listened on or dialed are reached over
// the network device of the first. Who listens adds "/SECRET", which is random
// and the transport's: only who was given that address can dial it. It goes
// over the network as it is, UCX neither encrypts nor authenticates; so it says
// who belongs together, and keeps nobody out who reads the network. One thread
// at a time uses UCX: a critical message is sent by its own thread when no
// other is at it, else by that one. While nobody polls the transport's own
// thread sleeps until something comes. What goes over a connection is in
// ucx.md. UCX 1.13 ends the process when a stranger sends it certain garbage:
// Transport's third invariant holds for what comes from who speaks UCX only, so
// this is for links among workers, on a network that is trusted. `events`
// outlives Stop.
std::unique_ptr<Transport> MakeUcxTransport(const UcxOptions& options,
                                            TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_TRANSPORT_H_
