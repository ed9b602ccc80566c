//===- wire_format_test.cc - The structs are as wire.md says --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/protocol/link_frame.h"
#include "runtime/protocol/wire_kind.h"
#include "runtime/protocol/wire_message.h"

namespace pathways {
namespace {

using ::testing::ElementsAreArray;

static_assert(std::endian::native == std::endian::little,
              "the structs are sent as they are in memory");

// Cells of the table rows under a heading, without the table's head.
using Rows = std::vector<std::vector<std::string>>;
Rows TableOf(const std::string& heading, size_t table = 0) {
  std::ifstream file(PATHWAYS_WIRE_MD);
  EXPECT_TRUE(file.good()) << PATHWAYS_WIRE_MD;
  Rows rows;
  bool here = false, inside = false;
  size_t tables = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) here = line == "## " + heading;
    if (!here) continue;
    const bool is_row = line.rfind("| ", 0) == 0;
    if (inside && !is_row) ++tables;
    inside = is_row;
    if (!is_row || tables != table) continue;
    std::vector<std::string> cells;
    std::istringstream text(line.substr(1));
    for (std::string cell; std::getline(text, cell, '|');) {
      const size_t begin = cell.find_first_not_of(' ');
      const size_t end = cell.find_last_not_of(' ');
      cells.push_back(begin == std::string::npos
                          ? ""
                          : cell.substr(begin, end - begin + 1));
    }
    rows.push_back(std::move(cells));
  }
  EXPECT_GT(rows.size(), 2u) << heading;
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

struct Field {
  size_t offset, bytes;
  std::string name;
};

#define FIELD(type, name) \
  Field { offsetof(type, name), sizeof(type::name), #name }

// Every byte of the struct is in the table, once.
void ExpectTable(const std::string& heading, size_t bytes,
                 const std::vector<Field>& fields) {
  std::vector<std::string> want, got;
  size_t end = 0;
  for (const Field& field : fields) {
    EXPECT_EQ(field.offset, end) << field.name;
    end = field.offset + field.bytes;
    want.push_back(std::to_string(field.offset) + " " +
                   std::to_string(field.bytes) + " " + field.name);
  }
  EXPECT_EQ(end, bytes);
  for (const auto& row : TableOf(heading)) {
    got.push_back(row[0] + " " + row[1] + " " + row[2]);
  }
  EXPECT_THAT(got, ElementsAreArray(want)) << heading;
}

TEST(WireFormatTest, FramesAreAsWritten) {
  ExpectTable("WireFrame", sizeof(WireFrame),
              {FIELD(WireFrame, to), FIELD(WireFrame, from),
               FIELD(WireFrame, message), FIELD(WireFrame, payload_bytes)});
}

TEST(WireFormatTest, LinkFramesAreAsWritten) {
  ExpectTable(
      "LinkFrame", sizeof(LinkFrame),
      {FIELD(LinkFrame, kind), FIELD(LinkFrame, zero), FIELD(LinkFrame, wire)});
}

TEST(WireFormatTest, MessagesAreAsWritten) {
  ExpectTable("WireMessage", sizeof(WireMessage),
              {FIELD(WireMessage, kind), FIELD(WireMessage, flags),
               FIELD(WireMessage, program), FIELD(WireMessage, incarnation),
               FIELD(WireMessage, target), FIELD(WireMessage, shard),
               FIELD(WireMessage, item), FIELD(WireMessage, from_epoch),
               FIELD(WireMessage, to_epoch), FIELD(WireMessage, step),
               FIELD(WireMessage, sequence)});
}

TEST(WireFormatTest, KindsAreAsWritten) {
  std::vector<std::string> want, got;
  for (int kind = 1; kind < kNumWireKinds; ++kind) {
    want.push_back(std::to_string(kind) + " " + WireKindName(kind));
  }
  for (const auto& row : TableOf("WireMessage", 1)) {
    got.push_back(row[0] + " " + row[1]);
  }
  EXPECT_THAT(got, ElementsAreArray(want));
}

}  // namespace
}  // namespace pathways
