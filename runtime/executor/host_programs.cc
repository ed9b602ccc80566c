//===- host_programs.cc - Programs that are loaded on a host --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_programs.h"

#include <algorithm>
#include <utility>

namespace pathways {

HostProgram* HostPrograms::Add(std::unique_ptr<HostProgram> program) {
  const uint32_t id = program->program;
  if (id >= programs_.size()) programs_.resize(id + 1);
  programs_[id] = std::move(program);
  return programs_[id].get();
}

std::unique_ptr<HostProgram> HostPrograms::Remove(const HostProgram& program) {
  return std::move(programs_[program.program]);
}

void HostPrograms::Refuse(uint32_t program, uint32_t incarnation) {
  if (program >= kMaxPrograms) return;
  if (program >= refused_.size()) refused_.resize(program + 1);
  refused_[program] = std::max(refused_[program], incarnation);
}

}  // namespace pathways
