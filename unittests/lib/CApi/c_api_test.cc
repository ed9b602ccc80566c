//===- c_api_test.cc - The C API does what its header says ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "unittests/lib/CApi/c_api_test_support.h"

namespace pathways::capi_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CApiTest : public ::testing::Test {
protected:
  void SetUp() override {
    ExpectOk(CompileTwice(Into(plan_)));
    ExpectOk(OpenFour(Into(session_)));
    ExpectOk(pw_load(session_.get(), plan_.get(), nullptr, Into(executable_)));
    ASSERT_NE(executable_, nullptr);
  }

  Owned<pw_array> Put() {
    Owned<pw_array> array;
    ExpectOk(pw_put(session_.get(), &eight_.tensor, Into(array)));
    return array;
  }
  Owned<pw_run> Launch(const pw_array *v) {
    Owned<pw_run> run;
    ExpectOk(pw_launch(executable_.get(), &v, 1, 1, nullptr, Into(run)));
    return run;
  }
  static std::vector<float> Values(const pw_array *array) {
    Eight got;
    ExpectOk(pw_array_get(array, &got.tensor));
    return {got.values, got.values + 8};
  }
  static Owned<pw_array> Result(pw_run *run) {
    Owned<pw_array> out;
    ExpectOk(pw_run_take(run, 0, Into(out)));
    return out;
  }

  Eight eight_;
  Owned<pw_array> other_;
  Owned<pw_plan> plan_;
  Owned<pw_session> session_;
  Owned<pw_executable> executable_;
};

TEST_F(CApiTest, RunsAProgram) {
  const Owned<pw_array> v = Put();
  const Owned<pw_run> run = Launch(v.get());
  const Owned<pw_array> out = Result(run.get());
  EXPECT_THAT(Values(out.get()), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
  ExpectOk(pw_run_wait(run.get(), -1));
  ExpectOk(pw_run_wait(run.get(), 0));
  EXPECT_EQ(pw_run_is_ready(run.get()), 1);
  EXPECT_EQ(pw_array_is_ready(out.get()), 1);
  int32_t element, rank;
  const int64_t *shape;
  ExpectOk(pw_array_type(out.get(), &element, &rank, &shape));
  EXPECT_EQ(element, PW_F32);
  ASSERT_EQ(rank, 1);
  EXPECT_EQ(shape[0], 8);
}

TEST_F(CApiTest, RunsInASimulation) {
  Owned<pw_session> session;
  ExpectOk(OpenFour(Into(session), PW_SIMULATION));
  Owned<pw_executable> executable;
  ExpectOk(pw_load(session.get(), plan_.get(), nullptr, Into(executable)));
  Owned<pw_array> v;
  ExpectOk(pw_put(session.get(), &eight_.tensor, Into(v)));
  Owned<pw_run> run;
  const pw_array *arguments[] = {v.get()};
  ExpectOk(pw_launch(executable.get(), arguments, 1, 1, nullptr, Into(run)));
  ExpectOk(pw_run_wait(run.get(), 1));
  EXPECT_EQ(Values(Result(run.get()).get())[7], 16);
}

TEST_F(CApiTest, WaitsWithALimitAndCancels) {
  const Owned<pw_array> v = Put();
  const pw_array *arguments[] = {v.get()};
  Owned<pw_run> run;
  // The run has more steps than the test waits for.
  ExpectOk(
      pw_launch(executable_.get(), arguments, 1, 1 << 30, nullptr, Into(run)));
  EXPECT_EQ(pw_run_is_ready(run.get()), 0);
  EXPECT_THAT(Expect(PW_TIMED_OUT, pw_run_wait(run.get(), 1)),
              HasSubstr("after 1 ns"));
  ExpectOk(pw_run_cancel(run.get()));
  Expect(PW_RUN_FAILED, pw_run_wait(run.get(), -1));
}

TEST_F(CApiTest, WaitsForAnArrayWithALimit) {
  const Owned<pw_array> v = Put();
  ExpectOk(pw_array_wait(v.get(), 0));
  const pw_array *arguments[] = {v.get()};
  Owned<pw_run> run;
  ExpectOk(
      pw_launch(executable_.get(), arguments, 1, 1 << 30, nullptr, Into(run)));
  const Owned<pw_array> out = Result(run.get());
  EXPECT_EQ(pw_array_is_ready(out.get()), 0);
  EXPECT_THAT(Expect(PW_TIMED_OUT, pw_array_wait(out.get(), 1)),
              HasSubstr("after 1 ns"));
  ExpectOk(pw_run_cancel(run.get()));
  Expect(PW_RUN_FAILED, pw_array_wait(out.get(), -1));
  Expect(PW_RUN_FAILED, pw_array_wait(out.get(), 1));
  pw_array_release(v.get());
  Expect(PW_INVALID_ARGUMENT, pw_array_wait(v.get(), 1));
}

// A view shows the same until it is freed.
TEST_F(CApiTest, ViewsArraysWithoutACopy) {
  Owned<pw_array> out;
  {
    const Owned<pw_array> v = Put();
    out = Result(Launch(v.get()).get());
  }
  const void *data, *same;
  size_t bytes;
  Owned<pw_view> view, second;
  ExpectOk(pw_array_view(out.get(), &data, &bytes, Into(view)));
  ASSERT_EQ(bytes, sizeof(float) * 8);
  ExpectOk(pw_array_view(out.get(), &same, &bytes, Into(second)));
  EXPECT_EQ(data, same);
  second.reset();
  pw_array_release(out.get());
  executable_.reset();
  session_.reset();
  out.reset();
  const auto *values = static_cast<const float *>(data);
  EXPECT_THAT(std::vector<float>(values, values + 8),
              ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
}

// More bytes than a host sends at once.
TEST_F(CApiTest, CopiesLargeArrays) {
  constexpr int64_t kCount = 100'003;
  const int64_t shape[] = {kCount};
  std::vector<float> values(kCount), got(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    values[size_t(i)] = float(i);
  const pw_tensor given{sizeof given, PW_F32,        1,
                        shape,        values.data(), kCount * sizeof(float)};
  const pw_tensor into{sizeof into, PW_F32,     1,
                       shape,       got.data(), kCount * sizeof(float)};
  for (const char *sharding :
       {R"({"mesh": [["x", 2]], "dims": [["x"]], "devices":
           ["island0/host0/device3", "island0/host0/device1"]})",
        R"({"mesh": [["x", 2]], "dims": [[]], "devices":
           ["island0/host0/device3", "island0/host0/device1"]})"}) {
    Owned<pw_array> array;
    ExpectOk(pw_put_sharded(session_.get(), &given, sharding, Into(array)));
    std::fill(got.begin(), got.end(), 0);
    ExpectOk(pw_array_get(array.get(), &into));
    EXPECT_EQ(got, values);
  }
}

TEST_F(CApiTest, SaysWhyThereIsNoView) {
  const void *data;
  size_t bytes;
  Owned<pw_view> view;
  Owned<pw_session> session;
  pw_open_options options{};
  options.struct_size = sizeof options;
  options.topology = "1x2x2";
  ExpectOk(pw_open(&options, Into(session)));
  Owned<pw_plan> plan;
  ExpectOk(CompileTwice(Into(plan), nullptr, "1x2x2"));
  Owned<pw_executable> executable;
  ExpectOk(pw_load(session.get(), plan.get(), nullptr, Into(executable)));
  Owned<pw_array> v;
  ExpectOk(pw_put(session.get(), &eight_.tensor, Into(v)));
  ExpectOk(pw_array_view(v.get(), &data, &bytes, Into(view)));
  EXPECT_EQ(static_cast<const float *>(data)[7], 8);
  Owned<pw_run> run;
  const pw_array *arguments[] = {v.get()};
  ExpectOk(pw_launch(executable.get(), arguments, 1, 1, nullptr, Into(run)));
  EXPECT_THAT(Expect(PW_REFUSED, pw_array_view(Result(run.get()).get(), &data,
                                               &bytes, Into(view))),
              HasSubstr("2 hosts are not dense"));
}

// Handles may be freed in any order: what they need lives on.
TEST_F(CApiTest, HandlesOutliveTheirSession) {
  const Owned<pw_array> v = Put();
  const Owned<pw_run> run = Launch(v.get());
  session_.reset();
  plan_.reset();
  executable_.reset();
  Owned<pw_array> copy;
  {
    const Owned<pw_array> out = Result(run.get());
    ExpectOk(pw_array_retain(out.get(), Into(copy)));
  }
  EXPECT_EQ(Values(copy.get())[0], 2);
}

TEST_F(CApiTest, DescribesAPlan) {
  EXPECT_STREQ(pw_plan_program(plan_.get()), "doubling");
  pw_port port{};
  EXPECT_EQ(pw_plan_arguments(plan_.get(), &port, 1), 1u);
  EXPECT_STREQ(port.name, "v");
  EXPECT_EQ(port.element, PW_F32);
  ASSERT_EQ(port.rank, 1);
  EXPECT_EQ(port.shape[0], 8);
  EXPECT_EQ(port.is_stepped, 0);
  EXPECT_EQ(port.carried_from, -1);
  EXPECT_EQ(pw_plan_results(plan_.get(), nullptr, 0), 1u);
  EXPECT_EQ(pw_plan_results(plan_.get(), &port, 1), 1u);
  EXPECT_STREQ(port.name, "out");
}

TEST_F(CApiTest, WritesAndReadsPlans) {
  const std::string path = ::testing::TempDir() + "c_api_test.plan";
  ExpectOk(pw_plan_write(plan_.get(), path.c_str()));
  Owned<pw_plan> read, parsed;
  ExpectOk(pw_plan_read(path.c_str(), Into(read)));
  const void *bytes, *other;
  size_t size, other_size;
  ExpectOk(pw_plan_bytes(plan_.get(), &bytes, &size));
  ExpectOk(pw_plan_parse(bytes, size, Into(parsed)));
  ExpectOk(pw_plan_bytes(read.get(), &other, &other_size));
  ASSERT_EQ(size, other_size);
  EXPECT_EQ(std::memcmp(bytes, other, size), 0);
  std::filesystem::remove(path);
  EXPECT_THAT(Expect(PW_NOT_FOUND, pw_plan_read(path.c_str(), Into(read))),
              HasSubstr(path));
  Expect(PW_INVALID_ARGUMENT, pw_plan_parse(bytes, size / 2, Into(read)));
}

TEST_F(CApiTest, SavesAndRestoresArrays) {
  const std::string folder = ::testing::TempDir() + "c_api_test_array";
  std::filesystem::remove_all(folder);
  const Owned<pw_array> v = Put();
  ExpectOk(pw_array_save(v.get(), folder.c_str()));
  EXPECT_THAT(Expect(PW_ALREADY_EXISTS, pw_array_save(v.get(), folder.c_str())),
              HasSubstr(folder));
  Owned<pw_array> restored;
  ExpectOk(pw_restore(session_.get(), folder.c_str(), Into(restored)));
  EXPECT_EQ(Values(restored.get())[7], 8);
  std::filesystem::remove_all(folder);
}

TEST_F(CApiTest, CallsDoneOfBorrowedMemoryOnce) {
  int calls = 0;
  auto done = [](void *count) { ++*static_cast<int *>(count); };
  Owned<pw_array> array;
  ExpectOk(
      pw_borrow(session_.get(), &eight_.tensor, done, &calls, Into(array)));
  EXPECT_EQ(Values(Result(Launch(array.get()).get()).get())[0], 2);
  array.reset();
  session_.reset();
  executable_.reset();
  EXPECT_EQ(calls, 1);
  Expect(PW_INVALID_ARGUMENT,
         pw_borrow(nullptr, &eight_.tensor, done, &calls, Into(array)));
  EXPECT_EQ(calls, 2);
}

TEST_F(CApiTest, ReportsEndsOfRuns) {
  Owned<pw_events> events;
  ExpectOk(pw_events_create(Into(events)));
  const Owned<pw_array> v = Put();
  ExpectOk(pw_run_notify(Launch(v.get()).get(), events.get(), 17));
  pollfd descriptor{pw_events_descriptor(events.get()), POLLIN, 0};
  EXPECT_EQ(poll(&descriptor, 1, /*timeout=*/-1), 1);
  pw_event event{};
  int found = 0;
  ExpectOk(pw_events_next(events.get(), -1, &event, &found));
  EXPECT_EQ(found, 1);
  EXPECT_EQ(event.tag, 17u);
  EXPECT_EQ(event.error, nullptr);
  ExpectOk(pw_events_next(events.get(), 0, &event, &found));
  EXPECT_EQ(found, 0);
}

TEST_F(CApiTest, MovesAProgram) {
  Owned<pw_session> session;
  pw_open_options options{};
  options.struct_size = sizeof options;
  options.topology = "2x1x4";
  ExpectOk(pw_open(&options, Into(session)));
  Owned<pw_executable> executable;
  ExpectOk(pw_load(session.get(), plan_.get(), nullptr, Into(executable)));
  const char *avoid[] = {"island0"};
  ExpectOk(pw_rebind(executable.get(), avoid, 1));
  avoid[0] = "island7";
  EXPECT_THAT(
      Expect(PW_INVALID_ARGUMENT, pw_rebind(executable.get(), avoid, 1)),
      HasSubstr("island7"));
}

TEST_F(CApiTest, WritesATrace) {
  const std::string path = ::testing::TempDir() + "c_api_test_trace.json";
  const Owned<pw_array> v = Put();
  ExpectOk(pw_run_wait(Launch(v.get()).get(), -1));
  ExpectOk(pw_session_write_trace(session_.get(), path.c_str()));
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("traceEvents"));
  std::filesystem::remove(path);
  EXPECT_THAT(Expect(PW_UNWRITABLE,
                     pw_session_write_trace(session_.get(), "/no/such/file")),
              HasSubstr("/no/such/file"));
  Owned<pw_text> topology;
  ExpectOk(pw_session_topology(session_.get(), Into(topology)));
  size_t size;
  EXPECT_EQ(std::strlen(pw_text_data(topology.get(), &size)), size);
}

TEST_F(CApiTest, CompilesWithRemarksAndErrors) {
  Owned<pw_text> remarks;
  ExpectOk(CompileTwice(Into(plan_), Into(remarks)));
  EXPECT_NE(remarks, nullptr);
  const std::string wrong = "pw.program @f(";
  pw_compile_options options{};
  options.struct_size = sizeof options;
  options.file_name = "wrong.mlir";
  EXPECT_THAT(
      Expect(PW_INVALID_PROGRAM, pw_compile(wrong.data(), wrong.size(),
                                            &options, Into(plan_), nullptr)),
      HasSubstr("wrong.mlir:1:"));
  options.steps_in_flight = -1;
  Expect(PW_INVALID_ARGUMENT, pw_compile(wrong.data(), wrong.size(), &options,
                                         Into(plan_), nullptr));
}

TEST_F(CApiTest, NamesWhatDoesNotFit) {
  const Owned<pw_array> v = Put();
  Eight eight;
  eight.shape[0] = 7;
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT, pw_array_get(v.get(), &eight.tensor)),
              HasSubstr("the array is 8xf32 of 32 bytes, the memory for it is "
                        "7xf32 of 32 bytes"));
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_put(session_.get(), &eight.tensor, Into(other_))),
              HasSubstr("7xf32"));
  eight.tensor.element = 99;
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_put(session_.get(), &eight.tensor, Into(other_))),
              HasSubstr("no element type 99"));
  Owned<pw_run> run;
  const pw_array *arguments[] = {v.get(), nullptr};
  EXPECT_THAT(
      Expect(PW_INVALID_ARGUMENT,
             pw_launch(executable_.get(), arguments, 2, 1, nullptr, Into(run))),
      HasSubstr("argument 1 is null"));
  Expect(PW_INVALID_ARGUMENT,
         pw_launch(executable_.get(), arguments, 0, 1, nullptr, Into(run)));
  run = Launch(v.get());
  Expect(PW_INVALID_ARGUMENT, pw_run_take(run.get(), 1, Into(other_)));
}

// A client of a later version may have more fields, and one of an earlier
// version has fewer.
TEST_F(CApiTest, TakesOptionsOfOtherVersions) {
  struct {
    pw_load_options options;
    int64_t later;
  } larger{};
  larger.options.struct_size = sizeof larger;
  ExpectOk(
      pw_load(session_.get(), plan_.get(), &larger.options, Into(executable_)));
  larger.later = 1;
  EXPECT_THAT(
      Expect(PW_INVALID_ARGUMENT, pw_load(session_.get(), plan_.get(),
                                          &larger.options, Into(executable_))),
      HasSubstr("does not know"));
  pw_load_options smaller{};
  smaller.struct_size = offsetof(pw_load_options, place);
  smaller.place = 99; // beyond the structure
  ExpectOk(pw_load(session_.get(), plan_.get(), &smaller, Into(executable_)));
  smaller.struct_size = 1;
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT, pw_load(session_.get(), plan_.get(),
                                                  &smaller, Into(executable_))),
              HasSubstr("struct_size is 1"));
}

} // namespace
} // namespace pathways::capi_test
