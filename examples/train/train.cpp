//===- train.cpp - Training whose parameters stay on the devices ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the program of this folder through the C++ API, in launches of a few
// steps. Parameters are sent to the devices once; then each launch takes what
// the previous one left there, without waiting for it, and only loss and
// accuracy come back.
//
//   train-api OUTPUT_FOLDER [TOPOLOGY [threads|sim|processes
//   [TOPOLOGY|NAME,...]]]
//
// writes the bytes of all results, in the order of the steps, for comparison.
// With a second topology the parameters are saved halfway, in the folder
// "checkpoint", and the rest of the training takes them from there, on that.
// With names of islands, hosts or devices the program leaves these after a
// quarter of the steps and comes back after three quarters.
//
//===----------------------------------------------------------------------===//

#include "pathways/Pathways.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
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

/// Returns the parts between commas.
std::vector<std::string> split(const std::string &names) {
  std::vector<std::string> parts;
  std::istringstream in(names);
  for (std::string part; std::getline(in, part, ',');)
    parts.push_back(part);
  return parts;
}

/// Returns the elements of an .npy file of version 1.
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

/// Returns the rows of a stepped argument for some steps, each of which has
/// `shape`.
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

/// The program, on a cluster of its own.
struct Trainer {
  Session session;
  Executable executable;

  Trainer(const std::string &topology, const RunOptions &run)
      : session(take(Session::open({.topology = topology, .run = run}))),
        executable(take(session.load(compileFor(topology)))) {}

  static Plan compileFor(const std::string &topology) {
    const std::string program = std::string(TRAIN_FOLDER) + "/program.mlir";
    return take(compile(take(readProgram(program)),
                        {.topology = topology, .oversubscribe = true}))
        .plan;
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 5)
    die("usage: train-api OUTPUT_FOLDER "
        "[TOPOLOGY [threads|sim|processes [TOPOLOGY|NAME,...]]]");
  const std::string folder = argv[1], here = TRAIN_FOLDER;
  const std::string topology = argc > 2 ? argv[2] : "2x1x4";
  RunOptions world;
  const std::string kind = argc > 3 ? argv[3] : "threads";
  if (kind == "sim")
    world.world = RunOptions::kSim;
  else if (kind == "processes")
    world.processes = -1; // one for each host
  else if (kind != "threads")
    die("expected threads, sim or processes, got '" + kind + "'");
  Trainer trainer(topology, world);
  // Topologies begin with a digit, names do not.
  const std::string other = argc > 4 ? argv[4] : "";
  const bool leaves = !other.empty() && (other[0] < '0' || other[0] > '9');

  const ArrayBytes images = readArray(here + "/data/images.npy");
  const ArrayBytes labels = readArray(here + "/data/labels.npy");
  auto zeros = [](int64_t n) {
    return HostArray{ElementType::kF32, {n}, ArrayBytes(4 * n, 0)};
  };
  std::map<std::string, Array> parameters;
  parameters["w0"] = take(trainer.session.put(HostArray{
      ElementType::kF32, {64, 64}, readArray(here + "/data/w0.npy")}));
  parameters["b0"] = take(trainer.session.put(zeros(64)));
  parameters["w1"] = take(trainer.session.put(HostArray{
      ElementType::kF32, {64, 10}, readArray(here + "/data/w1.npy")}));
  parameters["b1"] = take(trainer.session.put(zeros(10)));

  std::vector<Run> runs;
  for (int64_t step = 0; step < kSteps; step += kStepsOfALaunch) {
    if (leaves && (step == kSteps / 4 || step == 3 * kSteps / 4)) {
      RebindOptions options;
      if (step == kSteps / 4)
        options = {.avoid = split(other), .oversubscribe = true};
      if (Status moved = trainer.executable.rebind(options); !moved)
        die(moved.error().message);
    }
    if (!other.empty() && !leaves && step == kSteps / 2) {
      const std::string checkpoint = folder + "/checkpoint";
      if (Status saved = trainer.session.save(parameters, checkpoint); !saved)
        die(saved.error().message);
      trainer = Trainer(other, world);
      parameters = take(trainer.session.loadArrays(checkpoint));
    }
    std::map<std::string, Argument> arguments(parameters.begin(),
                                              parameters.end());
    arguments["images"] = slice(images, step, {32, 64});
    arguments["labels"] = slice(labels, step, {32, 10});
    runs.push_back(take(trainer.executable.launch(arguments, kStepsOfALaunch)));
    for (auto &[name, parameter] : parameters)
      parameter = take(runs.back().take(name));
  }

  std::map<std::string, ArrayBytes> results;
  for (Run &run : runs) {
    append(results["loss"], take(run.fetch("loss")));
    append(results["accuracy"], take(run.fetch("accuracy")));
  }
  for (const auto &[name, parameter] : parameters)
    append(results[name], take(parameter.fetch()));
  for (const auto &[name, bytes] : results) {
    std::ofstream out(folder + "/" + name + ".bin", std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))
             .flush())
      die("cannot write '" + folder + "/" + name + ".bin'");
  }
  std::printf("%lld steps in %zu launches\n", static_cast<long long>(kSteps),
              runs.size());
}
