//===- one_file_main.cc - The tests of one source of a program ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: PROGRAM [--file=NAME] [flags of GoogleTest]
//
// Runs the tests of the source NAME, but for those that --gtest_filter=-PATTERN
// leaves out; without a name all. So many sources are one program, which is
// built much faster than one for each, and are still tests by themselves.
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kFileFlag = "--file=";

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// A filter of GoogleTest by the full names of the tests of `file`; empty when
// it has none.
std::string FilterOf(std::string_view file) {
  std::string filter;
  const ::testing::UnitTest &all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite &suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const ::testing::TestInfo &test = *suite.GetTestInfo(t);
      if (BaseName(test.file()) != file)
        continue;
      filter.append(filter.empty() ? "" : ":");
      filter.append(suite.name()).append(".").append(test.name());
    }
  }
  return filter;
}

} // namespace

int main(int argc, char **argv) {
  // InitGoogleTest also removes its own flags.
  ::testing::InitGoogleTest(&argc, argv);
  if (argc == 1)
    return RUN_ALL_TESTS();
  const std::string_view flag = argv[1];
  if (argc > 2 || flag.substr(0, kFileFlag.size()) != kFileFlag) {
    std::fprintf(stderr, "error: unknown argument '%s', expected --file=NAME\n",
                 argv[argc - 1]);
    return 2;
  }
  std::string filter = FilterOf(flag.substr(kFileFlag.size()));
  if (filter.empty()) {
    std::fprintf(stderr, "error: no tests of a source '%s'\n",
                 argv[1] + kFileFlag.size());
    return 2;
  }
  const std::string given = GTEST_FLAG_GET(filter);
  if (given != "*") {
    if (given.rfind('-', 0) != 0) {
      std::fprintf(stderr,
                   "error: --gtest_filter=%s beside --file, expected what to "
                   "leave out: -PATTERN\n",
                   given.c_str());
      return 2;
    }
    filter += given;
  }
  GTEST_FLAG_SET(filter, filter);
  return RUN_ALL_TESTS();
}
