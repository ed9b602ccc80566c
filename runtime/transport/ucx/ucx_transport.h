//===- ucx_transport.h - Transport over UCX ---------------------*- C++ -*-===//
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

// Makes a transport over UCX. Addresses are "ucx:HOST:PORT", where port 0 means
// any free port and an IPv6 address is in brackets. All addresses are reached
// over the network device of the first one that is listened on or dialed. A
// listener adds "/SECRET", a random number of the transport: only processes
// that were given that address can dial it. UCX neither encrypts nor
// authenticates, and the secret crosses the network in clear text; so it tells
// which processes belong together, but keeps out nobody who reads the network.
//
// One thread at a time uses UCX: a critical message is sent by its own thread
// if no other is inside, else by that one. While no thread polls, the
// transport's own thread sleeps until something arrives. ucx.md describes the
// packets.
//
// Certain garbage from a stranger makes UCX 1.13 end the process. So the third
// invariant of Transport holds only for peers that speak UCX, and this
// transport is for links between workers on a trusted network. `events` must
// outlive Stop.
std::unique_ptr<Transport> MakeUcxTransport(const UcxOptions& options,
                                            TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_TRANSPORT_H_
