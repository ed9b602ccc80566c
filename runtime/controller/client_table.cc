//===- client_table.cc - Clients, their names and programs ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/client_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pathways/Options.h"
#include "runtime/base/error_codes.h"

namespace pathways {

absl::StatusOr<ClientTerms> ReadTerms(const proto::ConnectRequest& request) {
  const double weight = request.weight() == 0 ? 1 : request.weight();
  // NaN fails this test, too.
  if (!(weight >= kMinWeight && weight <= kMaxWeight)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the weight of client '", request.name(), "' is ", weight,
                     ", expected ", kMinWeight, " to ", kMaxWeight));
  }
  if (request.priority() < -kMaxPriority || request.priority() > kMaxPriority) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the priority of client '", request.name(), "' is ", request.priority(),
        ", expected ", -kMaxPriority, " to ", kMaxPriority));
  }
  return ClientTerms{weight, request.priority(), request.quota_bytes()};
}

void ClientTable::Connect(ClientRequest request, const std::string& name,
                          const ClientTerms& terms,
                          std::vector<ClientAnswer>* answers) {
  if (const std::string* own = NameOf(request.client)) {
    answers->push_back(
        {request, absl::FailedPreconditionError(absl::StrCat(
                      "a client connects as '", name,
                      "', but is already connected as '", *own, "'"))});
    return;
  }
  auto holder = names_.find(name);
  if (holder != names_.end() && IsLeaving(holder->second)) {
    waiting_[name].push_back({request, terms});
    return;
  }
  if (holder != names_.end()) {
    answers->push_back({request, absl::AlreadyExistsError(absl::StrCat(
                                     "another client has the name '", name, "'",
                                     Tag(ErrorId::kNameTaken)))});
    return;
  }
  names_[name] = request.client;
  clients_[request.client].name = name;
  clients_[request.client].terms = terms;
  answers->push_back({request, absl::OkStatus()});
}

const ClientTerms* ClientTable::TermsOf(uint32_t client) const {
  auto found = clients_.find(client);
  return found == clients_.end() ? nullptr : &found->second.terms;
}

size_t ClientTable::ProgramsOf(uint32_t client) const {
  auto found = clients_.find(client);
  return found == clients_.end() ? 0 : found->second.programs.size();
}

const std::string* ClientTable::NameOf(uint32_t client) const {
  auto found = clients_.find(client);
  return found == clients_.end() ? nullptr : &found->second.name;
}

std::string ClientTable::LabelOf(uint32_t client) const {
  const std::string* name = NameOf(client);
  return name == nullptr ? absl::StrCat("number ", client) : *name;
}

bool ClientTable::IsLeaving(uint32_t client) const {
  auto found = clients_.find(client);
  return found != clients_.end() && found->second.leaving;
}

std::vector<uint32_t> ClientTable::Numbers() const {
  std::vector<uint32_t> numbers;
  for (const auto& [number, client] : clients_) numbers.push_back(number);
  return numbers;
}

void ClientTable::AddProgram(uint32_t client, uint64_t program) {
  auto found = clients_.find(client);
  if (found != clients_.end()) found->second.programs.insert(program);
}

void ClientTable::RemoveProgram(uint32_t client, uint64_t program,
                                std::vector<ClientAnswer>* answers) {
  auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.programs.erase(program);
  Forget(client, answers);
}

std::vector<uint64_t> ClientTable::Leave(ClientRequest request,
                                         std::vector<ClientAnswer>* answers) {
  auto found = clients_.find(request.client);
  if (found == clients_.end() || found->second.leaving) {
    answers->push_back({request, absl::OkStatus()});
    return {};
  }
  Client& client = found->second;
  client.leaving = true;
  client.request = request;
  const std::vector<uint64_t> programs(client.programs.begin(),
                                       client.programs.end());
  Forget(request.client, answers);
  return programs;
}

void ClientTable::Forsake(uint32_t client) {
  order_.erase(client);
  for (auto& [name, requests] : waiting_) {
    std::erase_if(requests, [&](const Coming& coming) {
      return coming.request.client == client;
    });
  }
}

void ClientTable::Forget(uint32_t number, std::vector<ClientAnswer>* answers) {
  const Client& client = clients_[number];
  if (!client.leaving || !client.programs.empty()) return;
  answers->push_back({client.request, absl::OkStatus()});
  const std::string name = client.name;
  clients_.erase(number);
  names_.erase(name);
  auto waiting = waiting_.find(name);
  if (waiting == waiting_.end()) return;
  for (const Coming& next : std::exchange(waiting->second, {})) {
    Connect(next.request, name, next.terms, answers);
  }
  waiting_.erase(name);
}

}  // namespace pathways
