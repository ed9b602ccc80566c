//===- c_api_session_test.cc - Sessions, slices and recovered runs --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <vector>

#include "unittests/lib/CApi/c_api_test_support.h"

namespace pathways::capi_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CApiSessionTest : public ::testing::Test {
protected:
  void Open(const char *topology) {
    pw_open_options options{};
    options.struct_size = sizeof options;
    options.topology = topology;
    ExpectOk(pw_open(&options, Into(session_)));
    ASSERT_NE(session_, nullptr);
    ExpectOk(CompileTwice(Into(plan_), nullptr, topology));
    ASSERT_NE(plan_, nullptr);
  }
  void Load(pw_session *session, const pw_load_options *options = nullptr) {
    ExpectOk(pw_load(session, plan_.get(), options, Into(executable_)));
    ASSERT_NE(executable_, nullptr);
  }
  Owned<pw_array> Put(pw_session *session) {
    Owned<pw_array> array;
    ExpectOk(pw_put(session, &eight_.tensor, Into(array)));
    return array;
  }
  static std::vector<float> Values(const pw_array *array) {
    Eight got;
    ExpectOk(pw_array_get(array, &got.tensor));
    return {got.values, got.values + 8};
  }
  Owned<pw_array> RunOnce(const pw_array *v) {
    Owned<pw_run> run;
    ExpectOk(pw_launch(executable_.get(), &v, 1, 1, nullptr, Into(run)));
    Owned<pw_array> out;
    ExpectOk(pw_run_take(run.get(), 0, Into(out)));
    return out;
  }
  Eight eight_;
  Owned<pw_plan> plan_;
  Owned<pw_session> session_;
  Owned<pw_executable> executable_;
};

TEST_F(CApiSessionTest, OnlyCostsOnThousandsOfDevices) {
  const std::string text = [] {
    std::string all = kTwice;
    for (size_t at; (at = all.find("8xf32")) != std::string::npos;)
      all.replace(at, 5, "4096xf32");
    all.replace(all.find("\"x\" = 4"), 7, "\"x\" = 256");
    return all;
  }();
  pw_compile_options compile{};
  compile.struct_size = sizeof compile;
  compile.topology = "16x32x8";
  ExpectOk(
      pw_compile(text.data(), text.size(), &compile, Into(plan_), nullptr));
  pw_open_options options{};
  options.struct_size = sizeof options;
  options.topology = "16x32x8";
  options.costs_only = 1;
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT, pw_open(&options, Into(session_))),
              HasSubstr("need a simulation"));
  options.world = PW_SIMULATION;
  ExpectOk(pw_open(&options, Into(session_)));
  ASSERT_NE(session_, nullptr);
  Load(session_.get());
  const int64_t shape[] = {4096};
  const pw_tensor nothing{sizeof nothing, PW_F32, 1, shape, nullptr, 0};
  Owned<pw_array> v;
  ExpectOk(pw_put(session_.get(), &nothing, Into(v)));
  const Owned<pw_array> out = RunOnce(v.get());
  ExpectOk(pw_array_wait(out.get(), -1));
  std::vector<float> values(4096);
  const pw_tensor into{sizeof into, PW_F32,        1,
                       shape,       values.data(), 4096 * sizeof(float)};
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT, pw_array_get(out.get(), &into)),
              HasSubstr("no values"));
  Owned<pw_text> machines;
  ExpectOk(pw_session_machines(session_.get(), Into(machines)));
  const json all = json::parse(pw_text_data(machines.get(), nullptr));
  EXPECT_EQ(all["devices"].size(), 4096u);
  EXPECT_EQ(all["hosts"].size(), 512u);
}

TEST_F(CApiSessionTest, SharesACluster) {
  Open("1x1x4");
  pw_client_options options{};
  options.struct_size = sizeof options;
  options.weight = 2;
  Owned<pw_session> other;
  ExpectOk(pw_session_another(session_.get(), "other", &options, Into(other)));
  Owned<pw_session> third;
  EXPECT_THAT(
      Expect(PW_ALREADY_EXISTS, pw_session_another(session_.get(), "other",
                                                   &options, Into(third))),
      HasSubstr("other"));
  options.weight = -1;
  Expect(PW_INVALID_ARGUMENT,
         pw_session_another(session_.get(), "third", &options, Into(third)));
  Load(other.get());
  const Owned<pw_array> v = Put(other.get());
  EXPECT_EQ(Values(RunOnce(v.get()).get())[7], 16);
  // An array of another session.
  const Owned<pw_array> mine = Put(session_.get());
  const pw_array *arguments[] = {mine.get()};
  Owned<pw_run> run;
  Expect(PW_INVALID_ARGUMENT,
         pw_launch(executable_.get(), arguments, 1, 1, nullptr, Into(run)));
  Owned<pw_text> text;
  ExpectOk(pw_session_statistics(other.get(), Into(text)));
  const json statistics = json::parse(pw_text_data(text.get(), nullptr));
  EXPECT_EQ(statistics["programs"], 1);
  EXPECT_EQ(statistics["steps_done"], 1);
  EXPECT_EQ(statistics["devices"].size(), 4u);
}

TEST_F(CApiSessionTest, PutsAndFetchesShards) {
  Open("1x1x4");
  const char *sharding = R"({
      "mesh": [["x", 2]], "dims": [["x"]],
      "devices": ["island0/host0/device1", "island0/host0/device3"]})";
  Owned<pw_array> array;
  ExpectOk(
      pw_put_sharded(session_.get(), &eight_.tensor, sharding, Into(array)));
  EXPECT_EQ(Values(array.get())[7], 8);
  Owned<pw_text> text;
  ExpectOk(pw_array_placement(array.get(), Into(text)));
  const json placement = json::parse(pw_text_data(text.get(), nullptr));
  EXPECT_EQ(placement["sharding"]["devices"][1], "island0/host0/device3");
  EXPECT_EQ(placement["sharding"]["reduction"], "none");
  EXPECT_EQ(placement["shards"][1]["offset"], json({4}));
  EXPECT_EQ(placement["shards"][1]["shape"], json({4}));

  float values[4];
  const int64_t shape[] = {4};
  pw_tensor shard{sizeof shard, PW_F32, 1, shape, values, sizeof values};
  ExpectOk(pw_array_get_shard(array.get(), 1, &shard));
  EXPECT_THAT(values, ElementsAre(5, 6, 7, 8));
  Expect(PW_INVALID_ARGUMENT, pw_array_get_shard(array.get(), 2, &shard));

  const pw_tensor shards[] = {shard, shard};
  const int64_t whole[] = {8};
  ExpectOk(pw_put_shards(session_.get(), 1, whole, shards, 2, sharding,
                         Into(array)));
  EXPECT_THAT(Values(array.get()), ElementsAre(5, 6, 7, 8, 5, 6, 7, 8));
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_put_shards(session_.get(), 1, whole, shards, 1,
                                   sharding, Into(array))),
              HasSubstr("1 shards, expected 2"));
}

TEST_F(CApiSessionTest, NamesWhatIsNoSharding) {
  Open("1x1x4");
  const std::string deep(1 << 20, '[');
  for (const auto &[text, what] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "is no JSON object"},
           {"[]", "is no JSON object"},
           {R"({"meshes": []})", "unknown member \"meshes\""},
           {R"({"mesh": [["x"]]})", "has the axis [\"x\"]"},
           {R"({"mesh": [["x", 1.5]]})", "has the axis [\"x\",1.5]"},
           {R"({"dims": [1]})", "has the dimension 1"},
           {R"({"devices": [1]})", "\"devices\" that are no list"},
           {R"({"reduction": "plus"})", "has the reduction \"plus\""},
           {R"({"mesh": )" + deep, "is nested too deeply"},
           {R"({"devices": ["island0/host0/device9"]})", "device9"}}) {
    Owned<pw_array> array;
    EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                       pw_put_sharded(session_.get(), &eight_.tensor,
                                      text.c_str(), Into(array))),
                HasSubstr(what));
  }
}

TEST_F(CApiSessionTest, SavesAndRestoresSeveralArrays) {
  Open("1x1x4");
  const std::string folder = ::testing::TempDir() + "c_api_session_test";
  std::filesystem::remove_all(folder);
  const Owned<pw_array> a = Put(session_.get()), b = Put(session_.get());
  const pw_array *arrays[] = {a.get(), b.get()};
  const char *names[] = {"a", "b"};
  const char *same[] = {"a", "a"};
  Expect(PW_INVALID_ARGUMENT,
         pw_save(session_.get(), arrays, same, 2, folder.c_str()));
  ExpectOk(pw_save(session_.get(), arrays, names, 2, folder.c_str()));
  Owned<pw_text> text;
  ExpectOk(pw_saved_names(folder.c_str(), Into(text)));
  EXPECT_STREQ(pw_text_data(text.get(), nullptr), "a\nb\n");
  Owned<pw_array> restored;
  ExpectOk(pw_restore(session_.get(), (folder + "/b").c_str(), Into(restored)));
  EXPECT_EQ(Values(restored.get())[7], 8);
  Expect(PW_NOT_FOUND, pw_saved_names("/no/such/folder", Into(text)));
  std::filesystem::remove_all(folder);
}

TEST_F(CApiSessionTest, ReservesSlicesAndLoadsOnThem) {
  Open("2x1x4");
  const int64_t shape[] = {4};
  pw_slice_options options{};
  options.struct_size = sizeof options;
  options.name = "mine";
  options.shape = shape;
  options.rank = 1;
  Owned<pw_slice> slice, apart;
  ExpectOk(pw_reserve(session_.get(), &options, nullptr, 0, Into(slice)));
  const pw_slice *others[] = {slice.get()};
  ExpectOk(pw_reserve(session_.get(), &options, others, 1, Into(apart)));
  Owned<pw_text> mine, theirs;
  ExpectOk(pw_slice_devices(slice.get(), Into(mine)));
  ExpectOk(pw_slice_devices(apart.get(), Into(theirs)));
  EXPECT_NE(std::string(pw_text_data(mine.get(), nullptr)),
            pw_text_data(theirs.get(), nullptr));
  pw_load_options load{};
  load.struct_size = sizeof load;
  load.slice = apart.get();
  Load(session_.get(), &load);
  Owned<pw_text> text;
  ExpectOk(pw_executable_describe(executable_.get(), Into(text)));
  const json program = json::parse(pw_text_data(text.get(), nullptr));
  EXPECT_EQ(program["memory"].size(), 4u);
  EXPECT_THAT(pw_text_data(theirs.get(), nullptr),
              HasSubstr(program["memory"][0]["device"].get<std::string>()));
  EXPECT_EQ(program["results"][0]["sharding"]["devices"].size(), 4u);
  const Owned<pw_array> v = Put(session_.get());
  EXPECT_EQ(Values(RunOnce(v.get()).get())[0], 2);
  const pw_plan *plans[] = {plan_.get()};
  pw_executable *made[1];
  Expect(PW_INVALID_ARGUMENT,
         pw_load_several(session_.get(), plans, 1, &load, made));
}

TEST_F(CApiSessionTest, LoadsSeveralPlansTogether) {
  Open("1x1x4");
  const pw_plan *plans[] = {plan_.get(), plan_.get()};
  pw_executable *made[2];
  ExpectOk(pw_load_several(session_.get(), plans, 2, nullptr, made));
  pw_executable_free(made[0]);
  executable_.reset(made[1]);
  const Owned<pw_array> v = Put(session_.get());
  EXPECT_EQ(Values(RunOnce(v.get()).get())[0], 2);
  plans[1] = nullptr;
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_load_several(session_.get(), plans, 2, nullptr, made)),
              HasSubstr("plan 1 is null"));
}

TEST_F(CApiSessionTest, SuspendsDrainsAndResumes) {
  Open("2x1x4");
  Load(session_.get());
  const Owned<pw_array> v = Put(session_.get());
  const Owned<pw_array> out = RunOnce(v.get());
  ExpectOk(pw_session_suspend(session_.get(), nullptr));
  Expect(PW_INVALID_ARGUMENT, pw_session_suspend(session_.get(), nullptr));
  const char *names[] = {"island0"};
  ExpectOk(pw_session_drain(session_.get(), names, 1, -1));
  ExpectOk(pw_session_resume(session_.get()));
  EXPECT_EQ(Values(RunOnce(out.get()).get())[0], 4);
  const char *nowhere[] = {"island9"};
  Expect(PW_INVALID_ARGUMENT, pw_session_drain(session_.get(), nowhere, 1, -1));
  names[0] = "island1";
  Expect(PW_REFUSED, pw_session_drain(session_.get(), names, 1, 0));
  ExpectOk(pw_session_undrain(session_.get(), names, 1));
}

TEST_F(CApiSessionTest, RunsToTheEnd) {
  Open("1x1x4");
  Load(session_.get());
  const Owned<pw_array> v = Put(session_.get());
  const pw_array *arguments[] = {v.get()};
  pw_recovery_options recovery{};
  recovery.struct_size = sizeof recovery;
  recovery.mode = PW_REBIND;
  recovery.checkpoint_every = 2;
  pw_recovery_report report{};
  report.struct_size = sizeof report;
  pw_array *results[1];
  ExpectOk(pw_run_to_end(executable_.get(), arguments, 1, 5, &recovery, nullptr,
                         results, 1, &report));
  const Owned<pw_array> out(results[0]);
  EXPECT_EQ(Values(out.get())[7], 16);
  EXPECT_EQ(report.losses, 0);
  EXPECT_GT(report.run_ns, 0);
  EXPECT_THAT(Expect(PW_INVALID_ARGUMENT,
                     pw_run_to_end(executable_.get(), arguments, 1, 5,
                                   &recovery, nullptr, results, 0, nullptr)),
              HasSubstr("room for 0 results"));
  recovery.mode = 9;
  Expect(PW_INVALID_ARGUMENT,
         pw_run_to_end(executable_.get(), arguments, 1, 5, &recovery, nullptr,
                       results, 1, nullptr));
}

} // namespace
} // namespace pathways::capi_test
