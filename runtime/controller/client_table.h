//===- client_table.h - Clients, their names and programs -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_CLIENT_TABLE_H_
#define RUNTIME_CONTROLLER_CLIENT_TABLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/proto/control.pb.h"
#include "runtime/protocol/control_sequence.h"
#include "runtime/resources/client_requests.h"

namespace pathways {

// A request that has ended, with its status.
struct ClientAnswer {
  ClientRequest request;
  absl::Status status;
};

// The claims of a client beside others, as in ClientOptions.
struct ClientTerms {
  double weight = 1;
  int32_t priority = 0;
  uint64_t quota_bytes = 0;
};
// Reads the terms from a request. Returns InvalidArgument, which names the
// value and its range, if one is out of range.
absl::StatusOr<ClientTerms> ReadTerms(const proto::ConnectRequest& request);

// The clients from connection to end. A client that leaves keeps its name until
// its last program is gone; a client that wants the name waits for that.
// Invariants: (1) a name belongs to one client; (2) a client's messages are
// taken in order, each once, even if the client's number is reused; (3) each
// connection and each leave is answered once. One owner calls it; it sends
// nothing.
class ClientTable {
 public:
  // Calls `handle` for the messages of `client` in their order. They may arrive
  // out of order, since a client's threads and its actor send independently.
  void Take(uint32_t client, ControlRef control,
            absl::FunctionRef<void(proto::Control*)> handle) {
    const uint64_t sequence = control->sequence();
    order_[client].Take(sequence, std::move(control),
                        [&](const ControlRef& next) { handle(&*next); });
  }

  // Connects a client. Appends its answer: OK, or AlreadyExists, which names
  // the name. Appends none yet if the name's client is leaving.
  void Connect(ClientRequest request, const std::string& name,
               const ClientTerms& terms, std::vector<ClientAnswer>* answers);
  // Returns the client's terms, or null if it is not connected.
  const ClientTerms* TermsOf(uint32_t client) const;
  // Returns the client's name, or null if it is not connected.
  const std::string* NameOf(uint32_t client) const;
  // Returns the client's name, or "number N" if it is not connected.
  std::string LabelOf(uint32_t client) const;
  bool IsLeaving(uint32_t client) const;

  void AddProgram(uint32_t client, uint64_t program);
  // Records that the program is gone.
  void RemoveProgram(uint32_t client, uint64_t program,
                     std::vector<ClientAnswer>* answers);
  // Starts the leave of a client and returns its programs. The client is gone
  // when they are.
  std::vector<uint64_t> Leave(ClientRequest request,
                              std::vector<ClientAnswer>* answers);
  // Forgets the message order and the waiting connections of a client whose
  // process is gone, so that the next client with this number starts anew.
  void Forsake(uint32_t client);
  size_t size() const { return clients_.size(); }
  // Returns the connected clients, ascending.
  std::vector<uint32_t> Numbers() const;
  // Returns the number of its programs; 0 if it is not connected.
  size_t ProgramsOf(uint32_t client) const;

 private:
  struct Client {
    std::string name;
    ClientTerms terms;
    // Handles, including those of programs that are loading.
    std::set<uint64_t> programs;
    bool leaving = false;
    ClientRequest request;  // the leave
  };

  // Removes a leaving client, and frees its name, if it has no program left.
  void Forget(uint32_t client, std::vector<ClientAnswer>* answers);

  std::map<uint32_t, ControlSequence> order_;
  std::map<uint32_t, Client> clients_;
  std::map<std::string, uint32_t> names_;
  struct Coming {
    ClientRequest request;
    ClientTerms terms;
  };
  std::map<std::string, std::deque<Coming>> waiting_;  // connections, by name
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_CLIENT_TABLE_H_
