//===- archives.h - Values from archives of arrays --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_ARCHIVES_H_
#define TOOLS_PW_RUN_ARCHIVES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pathways/HostArray.h"
#include "runtime/checkpoint/npz.h"
#include "tools/pw-run/signature.h"

namespace pathways::pw_run {

// Kinds of ports, for names and messages.
enum class PortKind { kInput, kResult };

// The .npz files that one option names. Each array belongs to the argument or
// result with its key as name, or else with its key as position: "0", as
// "arr_0" that numpy.savez writes, or as "arg0" or "result0".
class Archives {
 public:
  // Reads the files into memory, and finds the port of each key. Returns
  // InvalidArgument, with the file, if it cannot be read, is no archive, or has
  // a key of no port, or if two keys belong to one port; ResourceExhausted if
  // there is no memory.
  static absl::StatusOr<Archives> Open(const std::vector<std::string>& paths,
                                       const std::vector<Port>& ports,
                                       PortKind kind);

  // Returns true if there is a value of port `index`.
  bool Has(size_t index) const { return places_[index].has_value(); }
  // Returns the value of port `index`, which must have one, over `steps` steps.
  // Returns InvalidArgument, with the port and the file, if the array is
  // damaged or of another type; ResourceExhausted if there is no memory.
  absl::StatusOr<HostArray> Read(size_t index, int64_t steps) const;

 private:
  struct File {
    std::string path;
    std::string bytes;
    std::optional<NpzReader> reader;
  };
  // A key of a file.
  struct Place {
    size_t file, key;
  };
  absl::Status FindPorts(size_t file, PortKind kind);
  absl::StatusOr<HostArray> ReadUnnamed(const Port& port, const Place& place,
                                        int64_t steps) const;

  std::vector<Port> ports_;
  PortKind kind_ = PortKind::kInput;
  std::vector<std::unique_ptr<File>> files_;  // readers point into them
  std::vector<std::optional<Place>> places_;  // index: port
};

// Removes from `values` of an option those that are "@FILE.npz", and returns
// the files, in order.
std::vector<std::string> TakeArchives(std::vector<std::string>* values);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_ARCHIVES_H_
