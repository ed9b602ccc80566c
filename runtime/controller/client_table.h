//===- client_table.h - Clients, and what is theirs -------------*- C++ -*-===//
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

// A request that is over, and how.
struct ClientAnswer {
  ClientRequest request;
  absl::Status status;
};

// A client's place among others, as in ClientOptions.
struct ClientTerms {
  double weight = 1;
  int32_t priority = 0;
  uint64_t quota_bytes = 0;
};
// What it asks for. InvalidArgument names what is out of range, and the range.
absl::StatusOr<ClientTerms> ReadTerms(const proto::ConnectRequest& request);

// The clients from their connection to their end. A client that leaves keeps
// its name until its last program is gone; who wants the name waits for that.
// Invariants: (1) a name has one client; (2) what a client sends is taken in
// its order, each once, whoever has the number; (3) each connection and each
// leave is answered once. One owner calls it; it sends nothing.
class ClientTable {
 public:
  // Calls `handle` for what `client` sent, in order: its threads and its actor
  // send at their own times.
  void Take(uint32_t client, ControlRef control,
            absl::FunctionRef<void(proto::Control*)> handle) {
    const uint64_t sequence = control->sequence();
    order_[client].Take(sequence, std::move(control),
                        [&](const ControlRef& next) { handle(&*next); });
  }

  // A client has come. Adds the answer: OK, or AlreadyExists naming the name;
  // none yet when the name's client is leaving.
  void Connect(ClientRequest request, const std::string& name,
               const ClientTerms& terms, std::vector<ClientAnswer>* answers);
  // Returns the client's terms, or null if it is not connected.
  const ClientTerms* TermsOf(uint32_t client) const;
  // Its name; null: it is not connected.
  const std::string* NameOf(uint32_t client) const;
  bool IsLeaving(uint32_t client) const;

  void AddProgram(uint32_t client, uint64_t program);
  // It is gone.
  void RemoveProgram(uint32_t client, uint64_t program,
                     std::vector<ClientAnswer>* answers);
  // The client goes when its programs, which are returned, are gone.
  std::vector<uint64_t> Leave(ClientRequest request,
                              std::vector<ClientAnswer>* answers);
  // Whoever had this place is gone with all that it sent: a next one begins
  // anew. Nobody waits for a name in its stead.
  void Forsake(uint32_t client);
  size_t size() const { return clients_.size(); }
  // By number.
  std::vector<uint32_t> Numbers() const;
  // Returns the number of its programs; 0 if it is not connected.
  size_t ProgramsOf(uint32_t client) const;

 private:
  struct Client {
    std::string name;
    ClientTerms terms;
    std::set<uint64_t> programs;  // handles, also of those that load
    bool leaving = false;
    ClientRequest request;  // of the leave
  };

  // Frees the name of a client that leaves, if it has no program any more.
  void Forget(uint32_t client, std::vector<ClientAnswer>* answers);

  std::map<uint32_t, ControlSequence> order_;
  std::map<uint32_t, Client> clients_;
  std::map<std::string, uint32_t> names_;
  struct Coming {
    ClientRequest request;
    ClientTerms terms;
  };
  std::map<std::string, std::deque<Coming>> waiting_;  // for a name
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_CLIENT_TABLE_H_
