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

// Calls that get null, or handles that they were not made for, answer with an
// error or do nothing.
class Calls {
public:
  explicit Calls(uint64_t seed) : random_(seed) {
    ExpectOk(CompileTwice(Into(plan_)));
    ExpectOk(OpenFour(Into(session_)));
  }

  void MakeOne() {
    static const std::vector<void (Calls::*)()> kCalls = {
        &Calls::Load, &Calls::Put,     &Calls::Launch, &Calls::Wait,
        &Calls::Take, &Calls::Get,     &Calls::Cancel, &Calls::Notify,
        &Calls::Next, &Calls::Release, &Calls::Drop,   &Calls::Ask};
    (this->*kCalls[Below(kCalls.size())])();
  }

private:
  size_t Below(size_t count) { return random_() % count; }
  // Returns null, too.
  template <typename T> T *Any(const std::vector<Owned<T>> &all) {
    const size_t at = Below(all.size() + 1);
    return at < all.size() ? all[at].get() : nullptr;
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

  void Load() {
    Owned<pw_executable> made;
    pw_load_options options{};
    options.struct_size = Below(4) == 0 ? random_() % 5000 : sizeof options;
    options.place = int32_t(Below(5)) - 1;
    options.wait_ns = -1;
    pw_error *error = pw_load(Below(8) ? session_.get() : nullptr,
                              Below(8) ? plan_.get() : nullptr,
                              Below(2) ? &options : nullptr, Into(made));
    Keep(error, std::move(made), executables_);
  }
  void Put() {
    Owned<pw_array> made;
    Eight eight;
    if (Below(4) == 0)
      eight.tensor.bytes = Below(33);
    if (Below(4) == 0)
      eight.tensor.rank = int32_t(Below(4)) - 2;
    if (Below(4) == 0)
      eight.tensor.element = int32_t(Below(20)) - 2;
    if (Below(8) == 0)
      eight.tensor.shape = nullptr;
    if (Below(8) == 0)
      eight.tensor.data = nullptr;
    pw_error *error = pw_put(Below(8) ? session_.get() : nullptr,
                             Below(8) ? &eight.tensor : nullptr, Into(made));
    Keep(error, std::move(made), arrays_);
  }
  void Launch() {
    Owned<pw_run> made;
    const pw_array *arguments[2] = {Any(arrays_), Any(arrays_)};
    pw_error *error =
        pw_launch(Any(executables_), Below(8) ? arguments : nullptr,
                  Below(8) ? 1 : Below(3), Below(8) ? 1 : int64_t(Below(3)) - 1,
                  nullptr, Into(made));
    Keep(error, std::move(made), runs_);
  }
  void Wait() { pw_error_free(pw_run_wait(Any(runs_), int64_t(Below(3)) - 1)); }
  void Take() {
    Owned<pw_array> made;
    pw_error *error =
        pw_run_take(Any(runs_), Below(8) ? 0 : random_(), Into(made));
    Keep(error, std::move(made), arrays_);
  }
  void Get() {
    Eight eight;
    if (Below(4) == 0)
      eight.tensor.bytes = Below(33);
    pw_error_free(
        pw_array_get(Any(arrays_), Below(8) ? &eight.tensor : nullptr));
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
        pw_events_next(Any(events_), 0, &event, Below(8) ? &found : nullptr));
    pw_error_free(event.error);
  }
  void Release() { pw_array_release(Any(arrays_)); }
  void Drop() {
    if (Below(2) && !runs_.empty())
      runs_.erase(runs_.begin());
    if (Below(2) && !arrays_.empty())
      arrays_.erase(arrays_.begin());
    if (Below(4) == 0)
      executables_.clear();
    if (Below(4) == 0)
      events_.clear();
  }
  void Ask() {
    int32_t element;
    pw_error_free(pw_array_type(Any(arrays_), Below(2) ? &element : nullptr,
                                nullptr, nullptr));
    (void)pw_array_is_ready(Any(arrays_));
    (void)pw_run_is_ready(Any(runs_));
    (void)pw_events_descriptor(Any(events_));
    pw_port port;
    (void)pw_plan_arguments(Below(2) ? plan_.get() : nullptr, &port, Below(2));
  }

  std::mt19937_64 random_;
  Owned<pw_plan> plan_;
  Owned<pw_session> session_;
  std::vector<Owned<pw_executable>> executables_;
  std::vector<Owned<pw_array>> arrays_;
  std::vector<Owned<pw_run>> runs_;
  std::vector<Owned<pw_events>> events_;
};

TEST(CApiCallsTest, MayComeInAnyOrder) {
  const uint64_t seed = TestSeed(std::random_device{}());
  SCOPED_TRACE(::testing::Message() << "PATHWAYS_TEST_SEED=" << seed);
  Calls calls(seed);
  const int64_t count = SampleSize(20000, 200000);
  for (int64_t i = 0; i < count && !::testing::Test::HasFailure(); ++i)
    calls.MakeOne();
}

} // namespace
} // namespace pathways::capi_test
