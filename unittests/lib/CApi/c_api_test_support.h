//===- c_api_test_support.h - Tests of the C API ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CAPI_C_API_TEST_SUPPORT_H
#define UNITTESTS_LIB_CAPI_C_API_TEST_SUPPORT_H

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "pathways/CApi.h"

namespace pathways::capi_test {

// Handles that free themselves.
struct Free {
  void operator()(pw_error *p) const { pw_error_free(p); }
  void operator()(pw_text *p) const { pw_text_free(p); }
  void operator()(pw_plan *p) const { pw_plan_free(p); }
  void operator()(pw_session *p) const { pw_session_free(p); }
  void operator()(pw_executable *p) const { pw_executable_free(p); }
  void operator()(pw_run *p) const { pw_run_free(p); }
  void operator()(pw_array *p) const { pw_array_free(p); }
  void operator()(pw_events *p) const { pw_events_free(p); }
  void operator()(pw_view *p) const { pw_view_free(p); }
  void operator()(pw_slice *p) const { pw_slice_free(p); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

// Takes what a call of the API writes to its last output.
template <typename T> class Into {
public:
  explicit Into(Owned<T> &owner) : owner_(owner) {}
  ~Into() { owner_.reset(made_); }
  operator T **() { return &made_; }

private:
  Owned<T> &owner_;
  T *made_ = nullptr;
};

// Compares the code of an error, which is freed, and returns its message.
inline std::string Expect(pw_code code, pw_error *error) {
  const Owned<pw_error> owned(error);
  if (!error) {
    ADD_FAILURE() << "no error, expected one with code " << code;
    return "";
  }
  EXPECT_EQ(pw_error_code(error), code) << pw_error_message(error);
  return pw_error_message(error);
}

inline void ExpectOk(pw_error *error) {
  const Owned<pw_error> owned(error);
  EXPECT_EQ(error, nullptr) << pw_error_message(error);
}

// out = 2 v, on as many devices as the axis has.
inline constexpr char kTwice[] = R"(
pw.slice @s mesh <"x" = 4>
func.func private @twice(%v: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.addf %v, %v : tensor<8xf32>
  return %r : tensor<8xf32>
}
pw.program @doubling(%v: !pw.array<8xf32, @s, [{"x"}]>)
    -> (!pw.array<8xf32, @s, [{"x"}]> {pw.name = "out"}) {
  %r = pw.call @twice(%v) : (!pw.array<8xf32, @s, [{"x"}]>)
      -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %r : !pw.array<8xf32, @s, [{"x"}]>
}
)";

inline pw_error *CompileTwice(pw_plan **plan, pw_text **remarks = nullptr,
                              const char *topology = "1x1x4") {
  pw_compile_options options{};
  options.struct_size = sizeof options;
  options.topology = topology;
  return pw_compile(kTwice, sizeof kTwice - 1, &options, plan, remarks);
}

#ifdef PATHWAYS_TEST_PLAN
// Reads the plan of write_test_plan.cc.
inline pw_error *ReadTestPlan(pw_plan **plan) {
  return pw_plan_read(PATHWAYS_TEST_PLAN, plan);
}
#endif

inline pw_error *OpenFour(pw_session **session, pw_world world = PW_THREADS) {
  pw_open_options options{};
  options.struct_size = sizeof options;
  options.topology = "1x1x4";
  options.world = world;
  options.trace_events = 1024;
  return pw_open(&options, session);
}

// Eight numbers in the memory of the test.
struct Eight {
  float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t shape[1] = {8};
  pw_tensor tensor{sizeof(pw_tensor), PW_F32, 1, shape, values, sizeof values};
};

} // namespace pathways::capi_test

#endif // UNITTESTS_LIB_CAPI_C_API_TEST_SUPPORT_H
