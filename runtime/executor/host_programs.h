//===- host_programs.h - Programs that are loaded on a host -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_PROGRAMS_H_
#define RUNTIME_EXECUTOR_HOST_PROGRAMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/program/host_program.h"

namespace pathways {

// The programs of one host, from load to end, by number. Invariants: (1) a
// number has at most one incarnation at a time; (2) a refused incarnation stays
// refused, and so do earlier ones of its number. Not thread-safe.
class HostPrograms {
 public:
  // Numbers of programs are dense, so this many are never loaded.
  static constexpr uint32_t kMaxPrograms = 1 << 20;

  // Returns a program that is loaded and not stopping, or null.
  HostProgram* Find(uint32_t program, uint32_t incarnation) const {
    HostProgram* const found = FindAny(program, incarnation);
    return found == nullptr || found->stopping ? nullptr : found;
  }
  // Returns a program that has not been removed, or null.
  HostProgram* FindAny(uint32_t program, uint32_t incarnation) const {
    HostProgram* const found = At(program);
    return found == nullptr || found->incarnation != incarnation ? nullptr
                                                                 : found;
  }
  // Returns the program of a number, whatever its incarnation, or null.
  HostProgram* At(uint32_t program) const {
    return program < programs_.size() ? programs_[program].get() : nullptr;
  }
  // All programs, by number. Null: there is none of that number.
  const std::vector<std::unique_ptr<HostProgram>>& all() const {
    return programs_;
  }

  // Adds a program whose number is below kMaxPrograms and not in use.
  HostProgram* Add(std::unique_ptr<HostProgram> program);
  std::unique_ptr<HostProgram> Remove(const HostProgram& program);

  // Refuses this and earlier incarnations from now on, so that duplicates of a
  // load that has ended have no effect.
  void Refuse(uint32_t program, uint32_t incarnation);
  bool Refuses(uint32_t program, uint32_t incarnation) const {
    return program < refused_.size() && incarnation <= refused_[program];
  }

 private:
  std::vector<std::unique_ptr<HostProgram>> programs_;
  // Last incarnation that is refused, by program.
  std::vector<uint32_t> refused_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_PROGRAMS_H_
