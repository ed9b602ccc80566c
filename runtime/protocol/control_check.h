//===- control_check.h - Who may say what to whom ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before a control message is handled: what is not of the protocol is dropped
// here, in one place for all actors.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTOCOL_CONTROL_CHECK_H_
#define RUNTIME_PROTOCOL_CONTROL_CHECK_H_

#include <string_view>

#include "runtime/proto/control.pb.h"
#include "runtime/protocol/directory.h"

namespace pathways {

// Whether the actor `to` may be told this by `from`. False, so it is to be
// dropped: actors of the sender's role do not send this kind to
// actors of the receiver's; the sender gives itself out for another host,
// island, process or client, or is of another island; a client does not number
// it, or another one does; or a host that the message names is not of the
// cluster. kNoActor, a thread of this process, may speak for any client. What
// else a message says, of programs, launches and objects, its receiver must
// look up.
bool CheckControl(const Directory& directory, ActorId from, ActorId to,
                  const proto::Control& control);
// Reads bytes into `control`. False: they are no message, or CheckControl says
// so.
bool ReadControl(const Directory& directory, ActorId from, ActorId to,
                 std::string_view bytes, proto::Control* control);

}  // namespace pathways

#endif  // RUNTIME_PROTOCOL_CONTROL_CHECK_H_
