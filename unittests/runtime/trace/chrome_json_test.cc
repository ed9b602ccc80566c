//===- chrome_json_test.cc - Tracks as trace events -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/chrome_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace pathways::trace {
namespace {

using ::testing::HasSubstr;

std::string Printed(const std::vector<TrackGroup>& groups) {
  std::ostringstream text;
  EventPrinter printer(&text);
  for (const TrackGroup& group : groups) printer.Print(group);
  return text.str();
}

TEST(JsonTest, NamesAreAnyBytes) {
  EXPECT_EQ(Json("a \"b\" \\ \n"), R"("a \"b\" \\ \n")");
  EXPECT_EQ(Json("\xff"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(Json(std::string("\0", 1)), "\"\\u0000\"");
}

TEST(JsonTest, Microseconds) {
  EXPECT_EQ(Us(0), "0.000");
  EXPECT_EQ(Us(7), "0.007");
  EXPECT_EQ(Us(-7), "-0.007");
  EXPECT_EQ(Us(-1050), "-1.050");
  EXPECT_EQ(Us(999), "0.999");
  EXPECT_EQ(Us(1050), "1.050");
  EXPECT_EQ(Us(3600'000'000'001), "3600000000.001");
}

TEST(ArgsTest, MembersInOrder) {
  EXPECT_EQ(Args().text(), "");
  EXPECT_EQ(Args()
                .Add("text", "a\"b")
                .Add("number", UINT64_MAX)
                .AddRaw("list", "[1]")
                .text(),
            R"("text":"a\"b","number":18446744073709551615,"list":[1])");
}

TEST(EventPrinterTest, AGroup) {
  TrackGroup group{"g\"", {{"t", {}}}, {{"c", "bytes", {{5, 7}}}}};
  group.tracks[0].slices = {Span(1000, 1500, "cat", "s", "\"x\":1")};
  EXPECT_EQ(Printed({group}), R"(
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"g\""}},
{"ph":"M","pid":1,"tid":0,"name":"process_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"X","pid":1,"tid":1,"ts":1.000,"dur":0.500,"cat":"cat","name":"s","args":{"x":1}},
{"ph":"C","pid":1,"ts":0.005,"name":"c","args":{"bytes":7}})");
}

TEST(EventPrinterTest, TracksAreNumberedOverAllGroups) {
  const std::string text =
      Printed({{"g", {{"a", {}}, {"b", {}}}, {}}, {"h", {{"c", {}}}, {}}});
  EXPECT_THAT(text, HasSubstr(R"("pid":1,"tid":2,"name":"thread_name",)"
                              R"("args":{"name":"b"})"));
  EXPECT_THAT(text, HasSubstr(R"("pid":2,"tid":0,"name":"process_name",)"
                              R"("args":{"name":"h"})"));
  EXPECT_THAT(text, HasSubstr(R"("pid":2,"tid":3,"name":"thread_name",)"
                              R"("args":{"name":"c"})"));
}

// Viewers nest what comes later into what is still open.
TEST(EventPrinterTest, InOrderOfTimeTheOuterFirst) {
  TrackGroup group{"g", {{"t", {}}}, {}};
  group.tracks[0].slices = {
      Span(20, 30, "", "last"),   Span(10, 12, "", "inner"),
      Span(10, 20, "", "outer"),  Span(5, 6, "", "first"),
      Span(10, 12, "", "inner2"),
  };
  const std::string text = Printed({group});
  size_t at = 0;
  for (const char* name : {"first", "outer", "inner", "inner2", "last"}) {
    const size_t found = text.find("\"name\":\"" + std::string(name) + "\"");
    ASSERT_NE(found, text.npos) << name;
    EXPECT_GT(found, at) << name;
    at = found;
  }
}

TEST(EventPrinterTest, FlowsAreAtTheBeginningOfTheirSlice) {
  TrackGroup group{"g", {{"t", {}}}, {}};
  Slice from = Span(10, 20, "", "a"), to = Span(30, 40, "", "b");
  from.flows = {{3, "arrow", true}};
  to.flows = {{3, "arrow", false}};
  group.tracks[0].slices = {from, to};
  const std::string text = Printed({group});
  EXPECT_THAT(text, HasSubstr(R"({"ph":"s","id":3,"pid":1,"tid":1,"ts":0.010,)"
                              R"("cat":"flow","name":"arrow"})"));
  // "bp": to the slice around it, not to the next.
  EXPECT_THAT(text, HasSubstr(R"({"ph":"f","bp":"e","id":3,"pid":1,"tid":1,)"
                              R"("ts":0.030,"cat":"flow","name":"arrow"})"));
}

TEST(EventPrinterTest, ANote) {
  std::ostringstream text;
  EventPrinter(&text).PrintNote(2001, "trace", "a \"note\"");
  EXPECT_EQ(text.str(),
            "\n{\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":0,\"ts\":2.001,"
            "\"cat\":\"trace\",\"name\":\"a \\\"note\\\"\"}");
}

}  // namespace
}  // namespace pathways::trace
