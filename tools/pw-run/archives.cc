//===- archives.cc - Values from archives of arrays -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/archives.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/error_codes.h"
#include "tools/pw-run/files.h"

namespace pathways::pw_run {
namespace {

const char* WhatOf(PortKind kind) {
  return kind == PortKind::kInput ? "input" : "result";
}

// Returns the position that a key stands for, or nullopt if it is a name.
std::optional<uint64_t> PositionOf(absl::string_view key, PortKind kind) {
  if (!absl::ConsumePrefix(&key, "arr_")) {
    absl::ConsumePrefix(&key, kind == PortKind::kInput ? "arg" : "result");
  }
  uint64_t position = 0;
  if (key.empty() || !absl::ascii_isdigit(key[0]) ||
      !absl::SimpleAtoi(key, &position)) {
    return std::nullopt;
  }
  return position;
}

absl::Status InFile(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

// Returns the port of a key.
absl::StatusOr<size_t> PortOfKey(const std::vector<Port>& ports,
                                 const std::string& key, PortKind kind) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == key) return i;
  }
  const std::optional<uint64_t> position = PositionOf(key, kind);
  if (!position.has_value()) {
    const absl::Status unknown = FindPort(ports, key, WhatOf(kind)).status();
    return absl::InvalidArgumentError(
        absl::StrCat(unknown.message(), Tag(ErrorId::kArchive)));
  }
  if (*position < ports.size()) return *position;
  return absl::InvalidArgumentError(absl::StrCat(
      "the program has no ", WhatOf(kind), " ", *position, ", as key '", key,
      "' says; it has ", ports.size(), Tag(ErrorId::kArchive)));
}

}  // namespace

absl::Status Archives::FindPorts(size_t file, PortKind kind) {
  const std::vector<std::string>& keys = files_[file]->reader->keys();
  for (size_t i = 0; i < keys.size(); ++i) {
    absl::StatusOr<size_t> port = PortOfKey(ports_, keys[i], kind);
    if (!port.ok()) return InFile(files_[file]->path, port.status());
    std::optional<Place>& place = places_[*port];
    if (place.has_value()) {
      const File& other = *files_[place->file];
      return absl::InvalidArgumentError(absl::StrCat(
          WhatOf(kind), " '", ports_[*port].name, "' has two values: '",
          other.reader->keys()[place->key], "' in ", other.path, " and '",
          keys[i], "' in ", files_[file]->path, Tag(ErrorId::kArchive)));
    }
    place = Place{file, i};
  }
  return absl::OkStatus();
}

absl::StatusOr<Archives> Archives::Open(const std::vector<std::string>& paths,
                                        const std::vector<Port>& ports,
                                        PortKind kind) {
  Archives archives;
  archives.ports_ = ports;
  archives.kind_ = kind;
  archives.places_.resize(ports.size());
  for (const std::string& path : paths) {
    absl::StatusOr<std::string> bytes = ReadFileOrStream(path, kMaxFileBytes);
    if (!bytes.ok()) return bytes.status();
    archives.files_.push_back(
        std::make_unique<File>(File{path, *std::move(bytes), std::nullopt}));
    File& file = *archives.files_.back();
    absl::StatusOr<NpzReader> reader = NpzReader::Open(file.bytes);
    if (!reader.ok()) return InFile(path, reader.status());
    file.reader = *std::move(reader);
    absl::Status found = archives.FindPorts(archives.files_.size() - 1, kind);
    if (!found.ok()) return found;
  }
  return archives;
}

absl::StatusOr<HostArray> Archives::ReadUnnamed(const Port& port,
                                                const Place& place,
                                                int64_t steps) const {
  const NpzReader& reader = *files_[place.file]->reader;
  // The type is checked first, so that nothing too large is inflated.
  absl::StatusOr<NpyHeader> header = reader.ReadHeader(place.key);
  if (!header.ok()) return header.status();
  if (header->element != port.element ||
      header->shape != port.ShapeOver(steps)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", reader.keys()[place.key], "': expected ", port.TypeOver(steps),
        ", got ", shapeString(header->element, header->shape),
        Tag(ErrorId::kWrongType)));
  }
  return reader.Read(place.key);
}

absl::StatusOr<HostArray> Archives::Read(size_t index, int64_t steps) const {
  const Place& place = *places_[index];
  absl::StatusOr<HostArray> array = ReadUnnamed(ports_[index], place, steps);
  if (array.ok()) return array;
  return absl::Status(
      array.status().code(),
      absl::StrCat(
          kind_ == PortKind::kInput ? "input" : "expected value of result",
          " '", ports_[index].name, "': ", files_[place.file]->path, ": ",
          array.status().message()));
}

std::vector<std::string> TakeArchives(std::vector<std::string>* values) {
  std::vector<std::string> archives, others;
  for (std::string& value : *values) {
    absl::string_view path = value;
    if (absl::ConsumePrefix(&path, "@") && absl::EndsWith(path, ".npz")) {
      archives.emplace_back(path);
    } else {
      others.push_back(std::move(value));
    }
  }
  *values = std::move(others);
  return archives;
}

}  // namespace pathways::pw_run
