//===- c_api_calls_test.cc - Calls of the C API in any order --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "unittests/lib/CApi/c_api_test_support.h"
#include "unittests/random_cases.h"

namespace pathways::capi_test {
namespace {

// Calls that get null, wrong sizes, or handles that they were not made for,
// answer with an error or do nothing.
class Calls {
public:
  explicit Calls(uint64_t seed) : random_(seed) {
    ExpectOk(ReadTestPlan(Into(plan_)));
    ExpectOk(OpenFour(Into(session_), Below(2) ? PW_THREADS : PW_SIMULATION));
  }

  void MakeOne() {
    static const std::vector<void (Calls::*)()> kCalls = {
        &Calls::Load,   &Calls::LoadAll, &Calls::Put,      &Calls::PutSharded,
        &Calls::Launch, &Calls::Launch,  &Calls::RunToEnd, &Calls::Wait,
        &Calls::Take,   &Calls::Get,     &Calls::View,     &Calls::Place,
        &Calls::Cancel, &Calls::Notify,  &Calls::Next,     &Calls::Release,
        &Calls::Drop,   &Calls::Ask,     &Calls::Describe, &Calls::Cost,
        &Calls::Share,  &Calls::Reserve, &Calls::Open};
    (this->*kCalls[Below(kCalls.size())])();
  }

private:
  size_t Below(size_t count) { return random_() % count; }
  bool Rarely() { return Below(8) == 0; }
  // Returns null, too.
  template <typename T> T *Any(const std::vector<Owned<T>> &all) {
    const size_t at = Below(all.size() + 1);
    return at < all.size() ? all[at].get() : nullptr;
  }
  pw_session *Session() { return Rarely() ? nullptr : session_.get(); }
  const pw_plan *Plan() { return Rarely() ? nullptr : plan_.get(); }
  // Returns the right size, or one that is too small or large for any options,
  // or one of a later version, whose fields are zero.
  size_t SizeOf(size_t right) {
    switch (Below(8)) {
    case 0:
      return Below(sizeof(size_t));
    case 1:
      return 4097 + Below(900);
    case 2:
      return right + Below(4097 - right);
    default:
      return right;
    }
  }
  template <typename T>
  void Keep(pw_error *error, Owned<T> made, std::vector<Owned<T>> &all) {
    const Owned<pw_error> owned(error);
    EXPECT_EQ(error == nullptr, made != nullptr);
    if (made)
      all.push_back(std::move(made));
    if (all.size() > 4)
      all.erase(all.begin() + long(Below(all.size())));
    if (error)
      EXPECT_NE(pw_error_message(error)[0], '\0');
  }

  // `room` is as large as any size that a call takes.
  template <typename Options> struct Sized {
    Options options{};
    char room[5000] = {};
  };
  Sized<pw_load_options> LoadOptions() {
    Sized<pw_load_options> sized;
    sized.options.struct_size = SizeOf(sizeof sized.options);
    sized.options.place = int32_t(Below(5)) - 1;
    sized.options.wait_ns = -1;
    sized.options.slice = Below(4) ? nullptr : Any(slices_);
    return sized;
  }
  void Load() {
    Owned<pw_executable> made;
    const Sized<pw_load_options> sized = LoadOptions();
    pw_error *error = pw_load(Session(), Plan(), &sized.options, Into(made));
    Keep(error, std::move(made), executables_);
  }
  void LoadAll() {
    const pw_plan *plans[] = {plan_.get(), Plan()};
    pw_executable *made[2] = {};
    const Sized<pw_load_options> sized = LoadOptions();
    Owned<pw_error> error(pw_load_several(Session(), Rarely() ? nullptr : plans,
                                          Below(3), &sized.options,
                                          Rarely() ? nullptr : made));
    for (pw_executable *one : made)
      pw_executable_free(one);
  }
  // Makes a tensor with something wrong now and then.
  Eight &Tensor(Eight &eight) {
    eight.tensor.struct_size = Rarely() ? Below(9) : sizeof eight.tensor;
    if (Rarely())
      eight.tensor.bytes = Below(33);
    if (Rarely())
      eight.tensor.rank = int32_t(Below(4)) - 2;
    if (Rarely())
      eight.tensor.element = int32_t(Below(20)) - 2;
    if (Rarely())
      eight.tensor.shape = nullptr;
    if (Rarely())
      eight.tensor.data = nullptr;
    return eight;
  }
  void Put() {
    Owned<pw_array> made;
    Eight eight;
    const pw_tensor *tensor = Rarely() ? nullptr : &Tensor(eight).tensor;
    pw_error *error = pw_put(Session(), tensor, Into(made));
    Keep(error, std::move(made), arrays_);
  }
  const char *Sharding() {
    static constexpr const char *kTexts[] = {
        R"({"mesh": [["x", 2]], "dims": [["x"]], "devices":
            ["island0/host0/device1", "island0/host0/device3"]})",
        R"({"mesh": [["x", 2]], "dims": [["x"]], "devices": []})",
        R"({"mesh": [["x", 0]], "dims": [["x"]], "devices": ["island0/host0/device0"]})",
        R"({"mesh": [["x", -9223372036854775808]], "dims": [["x", "x"]]})",
        R"({"dims": [["y"]], "devices": ["island0/host0/device0"]})",
        R"({"partial": ["x"], "reduction": "and"})",
        "{}",
        "[[[[[[[[[[",
        "",
        "\xff\xfe"};
    return Rarely() ? nullptr : kTexts[Below(std::size(kTexts))];
  }
  void PutSharded() {
    Owned<pw_array> made;
    Eight eight;
    const pw_tensor *tensor = Rarely() ? nullptr : &Tensor(eight).tensor;
    pw_error *error =
        Below(2) ? pw_put_sharded(Session(), tensor, Sharding(), Into(made))
                 : pw_put_shards(Session(), int32_t(Below(3)) - 1,
                                 Rarely() ? nullptr : eight.shape, tensor,
                                 Below(2), Sharding(), Into(made));
    Keep(error, std::move(made), arrays_);
  }
  void Launch() {
    Owned<pw_run> made;
    const pw_array *arguments[2] = {Any(arrays_), Any(arrays_)};
    Sized<pw_launch_options> sized;
    sized.options.struct_size = SizeOf(sizeof sized.options);
    sized.options.first_step = int64_t(Below(3)) - 1;
    sized.options.has_priority = Rarely();
    sized.options.priority = int32_t(random_());
    pw_error *error =
        pw_launch(Any(executables_), Rarely() ? nullptr : arguments,
                  Rarely() ? Below(3) : 1, Rarely() ? int64_t(Below(3)) - 1 : 1,
                  Below(4) ? nullptr : &sized.options, Into(made));
    Keep(error, std::move(made), runs_);
  }
  void RunToEnd() {
    const pw_array *arguments[2] = {Any(arrays_), Any(arrays_)};
    Sized<pw_recovery_options> sized;
    sized.options.struct_size = SizeOf(sizeof sized.options);
    sized.options.mode = int32_t(Below(5)) - 1;
    sized.options.checkpoint_every = int64_t(Below(3)) - 1;
    sized.options.checkpoints_on_hosts = Rarely();
    sized.options.resume = Rarely();
    Sized<pw_recovery_report> report;
    report.options.struct_size = SizeOf(sizeof report.options);
    pw_array *made[2] = {};
    pw_error_free(pw_run_to_end(
        Any(executables_), Rarely() ? nullptr : arguments,
        Rarely() ? Below(3) : 1, int64_t(Below(4)) - 1,
        Below(2) ? nullptr : &sized.options, nullptr, Rarely() ? nullptr : made,
        Rarely() ? 0 : 2, Below(2) ? nullptr : &report.options));
    for (pw_array *one : made)
      pw_array_free(one);
  }
  void Wait() {
    pw_error_free(pw_run_wait(Any(runs_), int64_t(Below(3)) - 1));
    pw_error_free(pw_array_wait(Any(arrays_), int64_t(Below(3)) - 1));
  }
  void Take() {
    Owned<pw_array> made;
    pw_error *error =
        pw_run_take(Any(runs_), Rarely() ? random_() : 0, Into(made));
    Keep(error, std::move(made), arrays_);
  }
  void Get() {
    Eight eight;
    pw_error_free(
        pw_array_get(Any(arrays_), Rarely() ? nullptr : &Tensor(eight).tensor));
  }
  void View() {
    Owned<pw_view> made;
    const void *data = nullptr;
    size_t bytes = 0;
    pw_error *error = pw_array_view(Any(arrays_), Rarely() ? nullptr : &data,
                                    &bytes, Into(made));
    Keep(error, std::move(made), views_);
  }
  void Place() {
    Owned<pw_text> text;
    pw_error_free(pw_array_placement(Any(arrays_), Into(text)));
    Eight eight;
    pw_error_free(
        pw_array_get_shard(Any(arrays_), Rarely() ? random_() : Below(4),
                           Rarely() ? nullptr : &Tensor(eight).tensor));
  }
  void Cancel() { pw_error_free(pw_run_cancel(Any(runs_))); }
  void Notify() {
    if (events_.empty()) {
      events_.emplace_back();
      ExpectOk(pw_events_create(Into(events_.back())));
    }
    pw_error_free(pw_run_notify(Any(runs_), Any(events_), random_()));
  }
  void Next() {
    pw_event event{};
    int found = 0;
    pw_error_free(
        pw_events_next(Any(events_), 0, &event, Rarely() ? nullptr : &found));
    pw_error_free(event.error);
  }
  void Release() { pw_array_release(Any(arrays_)); }
  void Drop() {
    if (Below(2) && !runs_.empty())
      runs_.erase(runs_.begin());
    if (Below(2) && !arrays_.empty())
      arrays_.erase(arrays_.begin());
    if (Below(2))
      views_.clear();
    if (Below(4) == 0)
      executables_.clear();
    if (Below(4) == 0)
      events_.clear();
    if (Below(2))
      slices_.clear();
  }
  void Ask() {
    int32_t element;
    pw_error_free(pw_array_type(Any(arrays_), Below(2) ? &element : nullptr,
                                nullptr, nullptr));
    (void)pw_array_is_ready(Any(arrays_));
    (void)pw_run_is_ready(Any(runs_));
    (void)pw_events_descriptor(Any(events_));
    pw_port port;
    (void)pw_plan_arguments(Plan(), &port, Below(2));
    (void)pw_plan_results(Plan(), Rarely() ? nullptr : &port, Below(3));
  }
  void Describe() {
    Owned<pw_text> text;
    pw_error_free(pw_plan_describe(Plan(), Into(text)));
    pw_error_free(pw_plan_report(Plan(), Into(text)));
    pw_error_free(pw_executable_describe(Any(executables_), Into(text)));
    pw_error_free(pw_session_machines(Session(), Into(text)));
    pw_error_free(pw_session_statistics(Session(), Into(text)));
    pw_error_free(pw_slice_devices(Any(slices_), Into(text)));
    pw_error_free(pw_saved_names(Rarely() ? nullptr : "/no/such", Into(text)));
  }
  void Cost() {
    static constexpr const char *kTopologies[] = {
        nullptr, "1x1x4", "1x1x3", "2x2x2", "0x1x1", "1x1x999999999", "x", ""};
    Sized<pw_costs> sized;
    sized.options.struct_size = SizeOf(sizeof sized.options);
    Owned<pw_text> text;
    pw_error_free(
        pw_plan_costs(Plan(), kTopologies[Below(std::size(kTopologies))],
                      int64_t(Below(4)) - 1,
                      Rarely() ? nullptr : &sized.options, Into(text)));
  }
  void Share() {
    Owned<pw_session> made;
    Sized<pw_client_options> sized;
    sized.options.struct_size = SizeOf(sizeof sized.options);
    sized.options.weight = double(Below(4)) - 1;
    sized.options.run_ahead = int32_t(Below(4)) - 1;
    pw_error_free(pw_session_another(Session(), Rarely() ? nullptr : "other",
                                     Below(2) ? &sized.options : nullptr,
                                     Into(made)));
    const char *names[] = {"island0/host0/device3", Rarely() ? nullptr : "?"};
    pw_error_free(pw_session_drain(Session(), names, Below(3), 0));
    pw_error_free(pw_session_undrain(Session(), names, 1));
  }
  void Reserve() {
    Owned<pw_slice> made;
    Sized<pw_slice_options> sized;
    const int64_t shape[] = {int64_t(Below(4)) - 1, 2};
    sized.options.struct_size = SizeOf(sizeof sized.options);
    sized.options.shape = Rarely() ? nullptr : shape;
    sized.options.rank = int32_t(Below(4)) - 1;
    sized.options.islands = int32_t(Below(4)) - 1;
    sized.options.device_bytes = Below(2) * 1024;
    sized.options.wait_ns = -1;
    const pw_slice *others[] = {Any(slices_)};
    pw_error *error =
        pw_reserve(Session(), &sized.options, Rarely() ? nullptr : others,
                   Rarely() ? 1 : 0, Into(made));
    Keep(error, std::move(made), slices_);
  }
  void Open() {
    Owned<pw_session> made;
    Sized<pw_open_options> sized;
    sized.options.struct_size = Below(2) ? 0 : 5000;
    pw_error_free(pw_open(&sized.options, Into(made)));
    pw_connect_options options{};
    options.struct_size = Below(9);
    pw_error_free(pw_connect(Rarely() ? nullptr : "unix:/no/such/socket",
                             &options, Into(made)));
    EXPECT_EQ(made, nullptr);
  }

  std::mt19937_64 random_;
  Owned<pw_plan> plan_;
  Owned<pw_session> session_;
  std::vector<Owned<pw_executable>> executables_;
  std::vector<Owned<pw_array>> arrays_;
  std::vector<Owned<pw_run>> runs_;
  std::vector<Owned<pw_events>> events_;
  std::vector<Owned<pw_view>> views_;
  std::vector<Owned<pw_slice>> slices_;
};

TEST(CApiCallsTest, MayComeInAnyOrder) {
  const uint64_t seed = TestSeed(std::random_device{}());
  SCOPED_TRACE(::testing::Message() << "PATHWAYS_TEST_SEED=" << seed);
  const uint64_t count = SampleSize(200, 20000);
  for (uint64_t i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    Calls calls(seed + i);
    for (int call = 0; call < 60; ++call)
      calls.MakeOne();
  }
}

} // namespace
} // namespace pathways::capi_test
