//===- client_table_test.cc - Clients, and what is theirs -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/client_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClientTableTest : public ::testing::Test {
 protected:
  void Connect(uint32_t client, uint64_t request, const std::string& name) {
    table_.Connect({client, request}, name, ClientTerms(), &answers_);
  }
  // "client:request", with the message of an error, since the last call.
  std::vector<std::string> Answers() {
    std::vector<std::string> texts;
    for (const ClientAnswer& answer : std::exchange(answers_, {})) {
      texts.push_back(absl::StrCat(answer.request.client, ":",
                                   answer.request.id,
                                   answer.status.ok() ? "" : " ",
                                   absl::string_view(answer.status.message())));
    }
    return texts;
  }

  ControlPool controls_;
  ClientTable table_;
  std::vector<ClientAnswer> answers_;
};

TEST_F(ClientTableTest, ANameHasOneClient) {
  Connect(0, 1, "ann");
  Connect(1, 1, "ann");
  Connect(2, 1, "bo");
  EXPECT_THAT(
      Answers(),
      ElementsAre("0:1", "1:1 another client has the name 'ann' [PW6110]",
                  "2:1"));
  EXPECT_EQ(*table_.NameOf(0), "ann");
  EXPECT_EQ(table_.NameOf(1), nullptr);
}

// Otherwise the first name would never be free again.
TEST_F(ClientTableTest, AClientConnectsOnce) {
  Connect(0, 1, "ann");
  Connect(0, 2, "bo");
  EXPECT_THAT(
      Answers(),
      ElementsAre(
          "0:1",
          "0:2 a client connects as 'bo', but is already connected as 'ann'"));
  table_.Leave({0, 3}, &answers_);
  Connect(1, 1, "ann");
  Connect(2, 1, "bo");
  EXPECT_THAT(Answers(), ElementsAre("0:3", "1:1", "2:1"));
  EXPECT_EQ(table_.TermsOf(0), nullptr);
  EXPECT_EQ(table_.ProgramsOf(0), 0u);
}

TEST_F(ClientTableTest, TermsAreThoseItAskedForAlsoWhenItWaitedForItsName) {
  Connect(0, 1, "ann");
  table_.AddProgram(0, 7);
  table_.Leave({0, 2}, &answers_);
  table_.Connect({1, 1}, "ann", {2.5, -3, 100}, &answers_);
  table_.RemoveProgram(0, 7, &answers_);
  EXPECT_EQ(table_.TermsOf(1)->weight, 2.5);
  EXPECT_EQ(table_.TermsOf(1)->priority, -3);
  EXPECT_EQ(table_.TermsOf(1)->quota_bytes, 100u);
}

// Whoever they come from.
TEST_F(ClientTableTest, TermsOutOfRangeAreRefused) {
  proto::ConnectRequest request;
  request.set_name("ann");
  EXPECT_EQ(ReadTerms(request)->weight, 1);
  request.set_weight(std::nan(""));
  EXPECT_EQ(ReadTerms(request).status().message(),
            "the weight of client 'ann' is nan, expected 0.001 to 1000");
  request.set_weight(2);
  request.set_priority(101);
  EXPECT_EQ(ReadTerms(request).status().message(),
            "the priority of client 'ann' is 101, expected -100 to 100");
}

TEST_F(ClientTableTest, ANameIsFreeWhenTheLastProgramIsGone) {
  Connect(0, 1, "ann");
  table_.AddProgram(0, 7);
  table_.AddProgram(0, 8);
  Answers();
  EXPECT_THAT(table_.Leave({0, 2}, &answers_), ElementsAre(7, 8));
  EXPECT_TRUE(table_.IsLeaving(0));
  Connect(1, 1, "ann");
  Connect(2, 1, "ann");
  table_.RemoveProgram(0, 7, &answers_);
  EXPECT_THAT(Answers(), IsEmpty());
  table_.RemoveProgram(0, 8, &answers_);
  EXPECT_THAT(Answers(),
              ElementsAre("0:2", "1:1",
                          "2:1 another client has the name 'ann' [PW6110]"));
  EXPECT_EQ(table_.NameOf(0), nullptr);
  EXPECT_EQ(*table_.NameOf(1), "ann");
  EXPECT_EQ(table_.size(), 1u);
}

TEST_F(ClientTableTest, WhoHasNothingGoesAtOnce) {
  Connect(0, 1, "ann");
  table_.AddProgram(0, 7);
  table_.RemoveProgram(0, 7, &answers_);  // unloaded before
  EXPECT_THAT(table_.Leave({0, 2}, &answers_), IsEmpty());
  EXPECT_THAT(table_.Leave({0, 3}, &answers_), IsEmpty());  // is gone
  EXPECT_THAT(Answers(), ElementsAre("0:1", "0:2", "0:3"));
  Connect(0, 4, "ann");
  EXPECT_THAT(Answers(), ElementsAre("0:4"));
}

TEST_F(ClientTableTest, WhoIsNotThereHasNothing) {
  table_.AddProgram(3, 7);
  table_.RemoveProgram(3, 7, &answers_);
  EXPECT_FALSE(table_.IsLeaving(3));
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(ClientTableTest, TheOrderOfANumberGoesOnWithItsNextClient) {
  std::vector<uint64_t> taken;
  auto take = [&](uint64_t sequence) {
    ControlRef control = controls_.New();
    control->set_sequence(sequence);
    table_.Take(0, std::move(control), [&](proto::Control* next) {
      taken.push_back(next->sequence());
    });
  };
  Connect(0, 1, "ann");
  take(2);
  take(1);
  table_.Leave({0, 2}, &answers_);
  Connect(0, 3, "bo");
  take(2);  // a late copy
  take(3);
  EXPECT_THAT(taken, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace pathways
