//===- values_bench.cc - Cost of arguments and results --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// values_bench first_step [LAUNCHES]   the first step of a program that was
//                                      just loaded, over its later ones
// values_bench roundtrip [MIB]         an array put, launched through an
//                                      identity and fetched, over four copies
// values_bench launch [LAUNCHES]       another client's launches while an array
//                                      goes to devices or comes back, over
//                                      those without it: 99th percentiles, and
//                                      the worse of the two
// values_bench spill [MIB]             bytes a second of arrays that leave a
//                                      host's memory for files in the folder
//                                      for temporary ones, and come back, over
//                                      a plain write and read of the same bytes
//                                      there; arrays of 4 MiB, and of 4 KiB
//
// There are two workers, each bound to a core, and kernels that copy. Values
// are checked.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/bench.h"
#include "benchmarks/session.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"
#include "runtime/store/spill_disk.h"
#include "runtime/store/spiller.h"

namespace pathways::bench {
namespace {

constexpr int64_t kFloats = int64_t{1} << 20;  // numbers per shard

int32_t Copy(void* const* buffers, const int32_t*, void*, uint64_t) {
  std::memcpy(buffers[1], buffers[0], kFloats * sizeof(float));
  return 0;
}

class Kernels final : public KernelResolver {
 public:
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel&,
                                         absl::Span<const uint8_t>,
                                         const proto::Target&) override {
    return ResolvedKernel{{Copy}, nullptr};
  }
};

// Returns an argument of 4 MiB per device on two devices, copied by `gangs`
// gangs one after the other; the result is one number of the last copy.
proto::Plan CopyChain(int gangs) {
  PlanBuilder b("copies", 1);
  const uint32_t slice = b.AddSlice("s", {{"x", 2}}, 0);
  layout::Layout rows;
  rows.shape = {2 * kFloats};
  rows.dims = {{"x"}};
  uint32_t last = b.AddBuffer("b0", slice, rows, 1);
  b.AddFeed("v", last);
  proto::Kernel* kernel = b.plan().add_kernels();
  kernel->set_name("copy");
  kernel->set_hash("ab");
  proto::Segment* segment = kernel->add_segments();
  segment->set_symbol("copy");
  for (bool written : {false, true}) {
    proto::KernelOperand* operand = segment->add_operands();
    operand->set_element(proto::F32);
    operand->set_written(written);
    operand->add_shape(kFloats);
  }
  for (int i = 1; i <= gangs; ++i) {
    const uint32_t next = b.AddBuffer(absl::StrCat("b", i), slice, rows, 1);
    const uint32_t gang =
        b.AddGang(absl::StrCat("g", i), slice, {last}, {next});
    proto::Action* action = b.plan().mutable_actions(gang);
    action->set_kernel(0);
    proto::GangStep::Run* run = action->add_steps()->mutable_run();
    run->add_buffers(last);
    run->add_buffers(next);
    last = next;
  }
  b.AddFetch("out", last);
  return b.Finish();
}

void FirstStep(int launches) {
  Kernels kernels;
  ClusterOptions options;
  options.workers = 2;
  options.bind_workers = true;
  options.kernels = &kernels;
  Session runtime("1x1x2", options);
  HostArray values;
  values.element = ElementType::kF32;
  values.shape = {2 * kFloats};
  values.data.resize(2 * kFloats * sizeof(float), 1);
  const ArrayHandle array = Must(runtime->Put(values));
  auto load = [&] {
    return Must(runtime->Load(MakePlanData(CopyChain(8), {})));
  };
  auto launch = [&](ProgramHandle program) {
    const double start = Seconds();
    const RunHandle run = Must(runtime->Launch(program, {array}));
    Must(runtime->Await(run));
    const double seconds = Seconds() - start;
    if (Must(runtime->Fetch(run, 0)).data != values.data) Die("other values");
    Must(runtime->ReleaseRun(run));
    return seconds;
  };
  launch(load());  // brings the array to the devices
  std::vector<double> first, later;
  for (int i = 0; i < launches; ++i) {
    const ProgramHandle program = load();
    first.push_back(launch(program));
    for (int k = 0; k < 3; ++k) later.push_back(launch(program));
    Must(runtime->Unload(program));
  }
  auto median = [](std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  };
  Figure("values.first_step", median(first) / median(later), "x");
  Figure("values.later_step.us", median(later) * 1e6, "us");
}

// Returns a row of the array on each of two hosts, passed on without a kernel.
proto::Plan Identity(int64_t floats, int64_t first_device) {
  PlanBuilder b("identity", 1);
  const uint32_t slice =
      b.AddSlice("s", {{"x", 2}}, /*island=*/0, first_device);
  layout::Layout rows;
  rows.shape = {floats};
  rows.dims = {{"x"}};
  const uint32_t buffer = b.AddBuffer("b", slice, rows, 1);
  b.AddFeed("v", buffer);
  b.AddFetch("out", buffer);
  return b.Finish();
}

HostArray Ramp(int64_t floats) {
  HostArray values;
  values.element = ElementType::kF32;
  values.shape = {floats};
  values.data.resize(floats * sizeof(float));
  for (int64_t i = 0; i < floats; ++i) {
    const float value = static_cast<float>(i % 1000003);
    std::memcpy(&values.data[i * sizeof(float)], &value, sizeof(float));
  }
  return values;
}

// Returns the seconds of four copies of as many bytes, by two threads, each
// time into fresh memory.
double FourCopies(const HostArray& values) {
  const size_t bytes = values.data.size();
  const double start = Seconds();
  const char* from = values.data.data();
  std::vector<ArrayBytes> copies(4);
  for (ArrayBytes& copy : copies) {
    copy.resize(bytes);
    std::thread half([&] { std::memcpy(copy.data(), from, bytes / 2); });
    std::memcpy(copy.data() + bytes / 2, from + bytes / 2, bytes - bytes / 2);
    half.join();
    from = copy.data();
  }
  const double seconds = Seconds() - start;
  if (copies.back() != values.data) Die("other copies");
  return seconds;
}

void Roundtrip(int64_t mebibytes) {
  const int64_t floats = mebibytes << 18;
  const HostArray values = Ramp(floats);
  ClusterOptions options;
  options.workers = 2;
  options.bind_workers = true;
  Session session("1x2x1", options);
  const ProgramHandle program =
      Must(session->Load(MakePlanData(Identity(floats, 0), {})));
  std::vector<double> ratios;
  for (int i = 0; i < 5; ++i) {
    HostArray given = values;
    const double start = Seconds();
    const ArrayHandle array = Must(session->Put(std::move(given)));
    const RunHandle run = Must(session->Launch(program, {array}));
    const HostArray fetched = Must(session->Fetch(run, 0));
    const double seconds = Seconds() - start;
    if (fetched.data != values.data) Die("other values");
    Must(session->ReleaseRun(run));
    Must(session->Release(array));
    ratios.push_back(seconds / FourCopies(values));
  }
  std::sort(ratios.begin(), ratios.end());
  Figure(absl::StrCat("values.roundtrip", mebibytes == 1024 ? "1G" : "",
                      ".vs_memcpy"),
         ratios[ratios.size() / 2], "x");
}

// Returns the seconds of consecutive launches on two devices, until `enough`
// returns true.
std::vector<double> LaunchUntil(
    Client& client, ProgramHandle program, ArrayHandle array,
    absl::FunctionRef<bool(size_t launches)> enough) {
  std::vector<double> seconds;
  while (!enough(seconds.size())) {
    const double start = Seconds();
    const RunHandle run = Must(client.Launch(program, {array}));
    Must(client.Await(run));
    seconds.push_back(Seconds() - start);
    Must(client.ReleaseRun(run));
  }
  return seconds;
}

double Tail(std::vector<double> seconds) {
  if (seconds.empty()) Die("no launch beside a transfer");
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() * 99 / 100];
}

void LaunchBeside(size_t launches) {
  constexpr int64_t kManyFloats = int64_t{1} << 26, kFewFloats = 1 << 10;
  ClusterOptions options;
  options.workers = 2;
  options.bind_workers = true;
  auto cluster = Must(Cluster::Create(Must(ReadTopology("1x2x2")), options));
  const std::unique_ptr<Client> other = Must(cluster->Connect("other"));
  const std::unique_ptr<Client> client = Must(cluster->Connect("client"));
  const ProgramHandle small =
      Must(client->Load(MakePlanData(Identity(kFewFloats, 1), {})));
  const ArrayHandle few = Must(client->Put(Ramp(kFewFloats)));
  auto alone = [&](size_t enough) {
    return LaunchUntil(*client, small, few,
                       [&](size_t done) { return done >= enough; });
  };
  alone(1000);
  const double idle = Tail(alone(launches));
  // Adds to `seconds` the launches that run while `transfer` does.
  auto beside = [&](std::vector<double>* seconds, auto transfer) {
    std::atomic<bool> over{false};
    std::thread thread([&] {
      transfer();
      over = true;
    });
    const std::vector<double> more =
        LaunchUntil(*client, small, few, [&](size_t) { return over.load(); });
    thread.join();
    seconds->insert(seconds->end(), more.begin(), more.end());
  };
  // Values go to devices 0 and 1 and back, repeatedly.
  const HostArray values = Ramp(kManyFloats);
  const ProgramHandle large =
      Must(other->Load(MakePlanData(Identity(kManyFloats, 0), {})));
  std::vector<double> puts, fetches;
  for (int i = 0; i < 5; ++i) {
    const ArrayHandle many = Must(other->Put(HostArray(values)));
    RunHandle run;
    beside(&puts, [&] {
      run = Must(other->Launch(large, {many}));
      Must(other->Await(run));
    });
    HostArray fetched;
    beside(&fetches, [&] { fetched = Must(other->Fetch(run, 0)); });
    if (fetched.data != values.data) Die("other values");
    Must(other->ReleaseRun(run));
    Must(other->Release(many));
  }
  const double put = Tail(puts) / idle, fetch = Tail(fetches) / idle;
  Figure("values.launch_p99.us", idle * 1e6, "us");
  Figure("values.launch_p99_ratio.put", put, "x");
  Figure("values.launch_p99_ratio.fetch", fetch, "x");
  Figure("values.launch_p99_ratio", std::max(put, fetch), "x");
}

// Returns the seconds of one write of all bytes to a file of the disk, and of a
// read.
std::pair<double, double> PlainSeconds(SpillDisk* disk,
                                       const std::string& bytes) {
  const double start = Seconds();
  Must(disk->Write(UINT64_MAX, {{bytes.data(), bytes.size()}}));
  const double written = Seconds();
  const absl::StatusOr<Mapping> back =
      Mapping::Create(bytes.size(), Mapping::kUntouched);
  if (!back.ok()) Die(back.status().ToString());
  Must(disk->Read(UINT64_MAX, 0, bytes.size(), back->data()));
  const double read = Seconds();
  if (std::memcmp(back->data(), bytes.data(), bytes.size()) != 0) {
    Die("other bytes");
  }
  disk->Remove(UINT64_MAX);
  return {written - start, read - written};
}

// Returns the same for objects of `each` bytes.
std::pair<double, double> SpillSeconds(std::unique_ptr<SpillDisk> disk,
                                       const std::string& bytes,
                                       uint64_t each) {
  Arena arena("memory", 2 * bytes.size(), /*backed=*/true);
  HostStore store(&arena);
  std::function<void()> work;
  Spiller spiller(
      &store, &arena, std::move(disk), {.folder = "here"},
      [&](uint64_t, std::function<void()> job) { work = std::move(job); });
  const uint64_t count = bytes.size() / each;
  for (uint64_t id = 1; id <= count; ++id) {
    const HostStore::Ref object = store.Create(id, each, "an array");
    std::memcpy(object->data(), bytes.data() + (id - 1) * each, each);
  }
  const double start = Seconds();
  while (spiller.Spill() == Spiller::Step::kBegun) {
    work();
    spiller.Finish();
  }
  const double spilled = Seconds();
  if (arena.used() != 0) Die("not all has left");
  for (uint64_t id = 1; id <= count; ++id) {
    spiller.Bring({store.Use(id)});
    work();
    spiller.Finish();
  }
  const double back = Seconds();
  for (uint64_t id = 1; id <= count; ++id) {
    const HostStore::Ref object = store.Find(id);
    if (std::memcmp(object->data(), bytes.data() + (id - 1) * each, each) !=
        0) {
      Die("other bytes came back");
    }
  }
  return {spilled - start, back - spilled};
}

void Spill(int64_t mebibytes) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "spill_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) Die("no temporary folder");
  const ArrayBytes values = Ramp(mebibytes << 18).data;
  const std::string bytes(values.data(), values.size());
  auto open = [&] { return Must(FolderDisk::Open(folder, "bench", "host")); };
  for (const auto& [name, each] :
       {std::pair("large", uint64_t{4} << 20), {"small", uint64_t{4} << 10}}) {
    std::vector<double> out, in;
    double rate = 0;
    for (int i = 0; i < 3; ++i) {
      const auto plain = PlainSeconds(open().get(), bytes);
      const auto spilled = SpillSeconds(open(), bytes, each);
      out.push_back(plain.first / spilled.first);
      in.push_back(plain.second / spilled.second);
      rate = std::max(rate, double(bytes.size()) / spilled.first);
    }
    std::sort(out.begin(), out.end());
    std::sort(in.begin(), in.end());
    Figure(absl::StrCat("values.spill.", name, ".out"), out[1], "x");
    Figure(absl::StrCat("values.spill.", name, ".back"), in[1], "x");
    Figure(absl::StrCat("values.spill.", name, ".out.gbs"), rate / 1e9, "GB/s");
  }
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) {
  using namespace pathways::bench;
  const std::string mode = argc > 1 ? argv[1] : "";
  auto number = [&](int otherwise) {
    return argc > 2 ? std::atoi(argv[2]) : otherwise;
  };
  if (mode == "first_step") {
    FirstStep(number(15));
  } else if (mode == "roundtrip") {
    Roundtrip(number(1024));
  } else if (mode == "launch") {
    LaunchBeside(number(3000));
  } else if (mode == "spill") {
    Spill(number(512));
  } else {
    Die("usage: values_bench first_step [LAUNCHES] | roundtrip [MIB] | launch "
        "[LAUNCHES] | spill [MIB]");
  }
}
