//===- control_check.h - Checks of control messages -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All actors check control messages here before they handle them; messages that
// violate the protocol are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_CONTROL_CHECK_H_
#define RUNTIME_PROTOCOL_CONTROL_CHECK_H_

#include <string_view>

#include "runtime/proto/control.pb.h"
#include "runtime/protocol/directory.h"

namespace pathways {

// Returns true if the actor `from` may send this message to the actor `to`.
// Returns false, so that the message must be dropped, if: (1) actors of the
// sender's role do not send this kind to actors of the receiver's role; (2) the
// sender claims to be another host, island, process or client, or is of another
// island; (3) a client sends it without a sequence number, or another sender
// with one; (4) it names a host that is not in the cluster. kNoActor, a thread
// of this process, may speak for any client. The receiver must check the
// programs, launches and objects that the message names.
bool CheckControl(const Directory& directory, ActorId from, ActorId to,
                  const proto::Control& control);
// Parses bytes into `control`. Returns false if they are no message or
// CheckControl returns false.
bool ReadControl(const Directory& directory, ActorId from, ActorId to,
                 std::string_view bytes, proto::Control* control);

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_CHECK_H_
