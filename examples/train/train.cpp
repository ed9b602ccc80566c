//===- train.cpp - Training whose parameters stay on the devices ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of this folder through the C++ API, in launches of a few steps.
// Parameters are sent to the devices once; then each launch takes what the last
// one left there, without waiting for it, and only loss and accuracy come back.
//
//   train-api OUTPUT_FOLDER [TOPOLOGY [threads|sim]]
//
// writes the bytes of all results, in the order of the steps, for comparison.
//
//===----------------------------------------------------------------------===//

#include "pathways/Pathways.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace pathways;

namespace {

constexpr int64_t kSteps = 56, kStepsOfALaunch = 7;

[[noreturn]] void die(const std::string &message) {
  std::fprintf(stderr, "train-api: error: %s\n", message.c_str());
  std::exit(1);
}

template <typename T> T take(Result<T> result) {
  if (!result)
    die(result.error().message);
  return *std::move(result);
}

/// The elements of an .npy file of version 1.
ArrayBytes readArray(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  ArrayBytes bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.size() < 10)
    die("cannot read '" + path + "'");
  const size_t header = 10 + static_cast<unsigned char>(bytes[8]) +
                        256 * static_cast<unsigned char>(bytes[9]);
  bytes.erase(bytes.begin(), bytes.begin() + std::min(header, bytes.size()));
  return bytes;
}

/// Steps of a stepped argument, of which each has `shape`.
HostArray slice(const ArrayBytes &all, int64_t first,
                std::vector<int64_t> shape) {
  const size_t bytes = all.size() / kSteps;
  HostArray array{ElementType::kI8, std::move(shape), {}};
  array.shape.insert(array.shape.begin(), kStepsOfALaunch);
  array.data.assign(all.begin() + first * bytes,
                    all.begin() + (first + kStepsOfALaunch) * bytes);
  return array;
}

void append(ArrayBytes &to, const HostArray &array) {
  to.insert(to.end(), array.data.begin(), array.data.end());
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4)
    die("usage: train-api OUTPUT_FOLDER [TOPOLOGY [threads|sim]]");
  const std::string folder = argv[1], here = TRAIN_FOLDER;
  const std::string topology = argc > 2 ? argv[2] : "2x1x4";
  const std::string world = argc > 3 ? argv[3] : "threads";

  auto compiled = take(compile(take(readProgram(here + "/program.mlir")),
                               {.topology = topology, .oversubscribe = true}));
  const auto kind = world == "sim" ? RunOptions::kSim : RunOptions::kThreads;
  auto session =
      take(Session::open({.topology = topology, .run = {.world = kind}}));
  auto executable = take(session.load(compiled.plan));

  const ArrayBytes images = readArray(here + "/data/images.npy");
  const ArrayBytes labels = readArray(here + "/data/labels.npy");
  auto zeros = [](int64_t n) {
    return HostArray{ElementType::kF32, {n}, ArrayBytes(4 * n, 0)};
  };
  std::map<std::string, Argument> arguments;
  arguments["w0"] = take(session.put(HostArray{
      ElementType::kF32, {64, 64}, readArray(here + "/data/w0.npy")}));
  arguments["b0"] = take(session.put(zeros(64)));
  arguments["w1"] = take(session.put(HostArray{
      ElementType::kF32, {64, 10}, readArray(here + "/data/w1.npy")}));
  arguments["b1"] = take(session.put(zeros(10)));

  std::vector<Run> runs;
  for (int64_t step = 0; step < kSteps; step += kStepsOfALaunch) {
    arguments["images"] = slice(images, step, {32, 64});
    arguments["labels"] = slice(labels, step, {32, 10});
    runs.push_back(take(executable.launch(arguments, kStepsOfALaunch)));
    for (const char *parameter : {"w0", "b0", "w1", "b1"})
      arguments[parameter] = take(runs.back().take(parameter));
  }

  std::map<std::string, ArrayBytes> results;
  for (Run &run : runs) {
    append(results["loss"], take(run.fetch("loss")));
    append(results["accuracy"], take(run.fetch("accuracy")));
  }
  for (const char *parameter : {"w0", "b0", "w1", "b1"})
    append(results[parameter],
           take(std::get<Array>(arguments[parameter]).get()));
  for (const auto &[name, bytes] : results) {
    std::ofstream out(folder + "/" + name + ".bin", std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))
             .flush())
      die("cannot write '" + folder + "/" + name + ".bin'");
  }
  std::printf("%lld steps in %zu launches\n", static_cast<long long>(kSteps),
              runs.size());
}
