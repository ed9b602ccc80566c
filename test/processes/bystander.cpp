//===- bystander.cpp - A client that sees how long a cluster pauses -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bystander ADDRESS KEY
//
// launches a program on the second island of a running cluster, over and over,
// and looks at each result. For each line of its input, and at the end, it says
// how many launches ended since the last line, and how long the longest took,
// from the call to the result: "launches 812 longest_us 734". Ends with 1 and
// the error as soon as there is one.
//
//===----------------------------------------------------------------------===//

#include "pathways/Pathways.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

using namespace pathways;

namespace {

/// All devices of the island take part in each step, and wait for each other.
constexpr const char *kProgram = R"(
pw.slice @s mesh <"x" = 4>
pw.bind @s to island 1 devices base 0 strides [1]
func.func private @add_all(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {pw.local_view} {
  %sum = pw.all_reduce %x add over ["x"] : tensor<2xf32>
  %y = arith.addf %x, %sum : tensor<2xf32>
  return %y : tensor<2xf32>
}
!a = !pw.array<8xf32, @s, [{"x"}]>
pw.program @bystander(%x: !a) -> (!a {pw.name = "y"}) {
  %y = pw.call @add_all(%x) : (!a) -> !a
  pw.return %y : !a
}
)";

[[noreturn]] void die(const std::string &message) {
  std::fprintf(stderr, "bystander: error: %s\n", message.c_str());
  std::_Exit(1);
}

template <typename T> T take(Result<T> result) {
  if (!result)
    die(result.error().message);
  return *std::move(result);
}

/// What was seen since the last line.
class Seen {
public:
  void add(int64_t us) {
    std::lock_guard lock(mutex);
    ++launches;
    longest = std::max(longest, us);
  }
  void tell() {
    std::lock_guard lock(mutex);
    std::printf("launches %lld longest_us %lld\n",
                static_cast<long long>(launches),
                static_cast<long long>(longest));
    std::fflush(stdout);
    launches = longest = 0;
  }

private:
  std::mutex mutex;
  int64_t launches = 0, longest = 0;
};

int64_t nowUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    die("usage: bystander ADDRESS KEY");
  auto session =
      take(Session::connect(argv[1], {.name = "bystander", .key = argv[2]}));
  auto compiled = take(compile({kProgram}, {.topology = session.topology()}));
  auto executable = take(session.load(compiled.plan));

  HostArray numbers{ElementType::kF32, {8}, {}};
  for (int i = 0; i < 8; ++i) {
    const float value = 1.0f / static_cast<float>(i + 3);
    const char *bytes = reinterpret_cast<const char *>(&value);
    numbers.data.insert(numbers.data.end(), bytes, bytes + sizeof value);
  }
  const Array argument = take(session.put(numbers));
  Seen seen;
  std::atomic<bool> over{false};
  std::thread listener([&] {
    for (std::string line; std::getline(std::cin, line);)
      seen.tell();
    over = true;
  });
  ArrayBytes expected;
  while (!over) {
    const int64_t begin = nowUs();
    Run run = take(executable.launch({{"x", argument}}));
    const ArrayBytes got = take(run.fetch("y")).data;
    if (expected.empty())
      expected = got;
    if (got != expected)
      die("other bits than those of the first launch");
    seen.add(nowUs() - begin);
  }
  listener.join();
  seen.tell();
}
