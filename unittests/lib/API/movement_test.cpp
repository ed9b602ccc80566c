//===- movement_test.cpp - Changes of the layout of arrays ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles and runs random changes of layout. The values stay the same, and the
// moved bytes equal the number that the compiler estimated when it chose the
// route, both by the tables of the plan and by the messages that hosts of a run
// sent each other. Placement and link speeds, configured or measured, change
// the route and no bit. PATHWAYS_TEST_SEED and PATHWAYS_TEST_RESHARDS choose
// other changes and their number.
//
//===----------------------------------------------------------------------===//

#include "pathways/Pathways.h"
#include "runtime/binding/plan_cost.h"
#include "runtime/client/client.h"
#include "runtime/cluster/cluster.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/profile.h"
#include "runtime/topology/topology.h"
#include "unittests/random_cases.h"
#include "gtest/gtest.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>

namespace pathways {
namespace {

template <typename T> T take(Result<T> result) {
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}
template <typename T> T take(absl::StatusOr<T> result) {
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

struct Links {
  const char *name, *ici, *dcn;
};
/// The default links, and links so slow on either side that only their bytes
/// count.
const Links kLinks[] = {
    {"usual", "", ""},
    {"slow-ici", "ici { bytes_per_second: 1e6 latency_seconds: 1e-9 }",
     "dcn { bytes_per_second: 1e9 latency_seconds: 1e-9 }"},
    {"slow-dcn", "ici { bytes_per_second: 1e9 latency_seconds: 1e-9 }",
     "dcn { bytes_per_second: 1e6 latency_seconds: 1e-9 }"},
};
/// Hosts per island and devices per host, in each of two islands.
const std::pair<int, int> kHosts[] = {{1, 12}, {2, 6}, {3, 4}, {6, 2}, {12, 1}};

/// A file that describes two such islands and exists as long as the object.
class TopologyFile {
public:
  TopologyFile(std::pair<int, int> hosts, const Links &links)
      : path(testing::TempDir() + "movement_test_" + std::to_string(getpid()) +
             "_" + std::to_string(hosts.first) + "x" +
             std::to_string(hosts.second) + "_" + links.name + ".textproto") {
    std::string island = "islands {\n";
    for (int host = 0; host < hosts.first; ++host) {
      island += "  hosts {";
      for (int device = 0; device < hosts.second; ++device)
        island += " devices {}";
      island += " }\n";
    }
    island += std::string("  ") + links.ici + "\n}\n";
    std::ofstream(path) << island << island << links.dcn << "\n";
  }
  ~TopologyFile() { std::remove(path.c_str()); }

  const std::string path;
};

struct Outcome {
  HostArray result;
  uint64_t hostBytes = 0; // bytes sent from host to host
};

Outcome run(const Plan &plan, const std::string &topology, HostArray input,
            uint64_t seed) {
  ClusterOptions options;
  options.world = ClusterOptions::kSim;
  options.seed = seed;
  auto cluster = take(Cluster::Create(take(ReadTopology(topology)), options));
  auto client = take(cluster->Connect("test"));
  auto program = take(client->Load(take(ParsePlan(plan.bytes()))));
  LaunchArguments arguments;
  arguments.emplace_back(std::move(input));
  auto launch = take(client->Launch(program, std::move(arguments), 1));
  EXPECT_TRUE(client->Await(launch).ok());
  Outcome outcome;
  outcome.result = take(client->Fetch(launch, int64_t{0}));
  for (const ClusterStats::Host &host : take(client->Stats()).hosts)
    outcome.hostBytes += host.bytes_sent;
  return outcome;
}

//===----------------------------------------------------------------------===//
// Random changes
//===----------------------------------------------------------------------===//

struct Mesh {
  std::vector<const char *> axes;
  std::vector<int> sizes;
  int shards() const {
    int product = 1;
    for (int size : sizes)
      product *= size;
    return product;
  }
  std::string text() const {
    std::string text;
    for (size_t axis = 0; axis < axes.size(); ++axis)
      text += std::string(axis ? ", \"" : "\"") + axes[axis] +
              "\" = " + std::to_string(sizes[axis]);
    return "<" + text + ">";
  }
};
const Mesh kMeshes[] = {{{"x"}, {2}},
                        {{"x"}, {3}},
                        {{"x"}, {4}},
                        {{"x", "y"}, {2, 2}},
                        {{"x", "y"}, {2, 3}},
                        {{"x", "y"}, {3, 2}},
                        {{"x", "y", "z"}, {2, 1, 3}}};

/// A program with one change of layout of one array, or of its contributions.
class RandomReshard {
public:
  explicit RandomReshard(uint64_t seed)
      : random(seed), mesh(pickMesh()), target(pickMesh()) {
    const bool isOneSlice = random() % 2 == 0, isFar = random() % 2 == 0;
    if (isOneSlice)
      target = mesh;
    const int rank = 1 + random() % 3;
    for (int dim = 0; dim < rank; ++dim)
      shape.push_back(random() % 3 ? 12 * (1 + random() % (rank == 1 ? 900 : 9))
                                   : random() % 14);
    isPartial = random() % 4 == 0;
    const auto [dims, partial] = draw(mesh, isPartial);
    isPartial = !partial.empty();
    const std::string from = "[" + join(dims) + "]";
    const std::string goal = "[" + join(draw(target, false).first) + "]";
    const std::string slice = isOneSlice ? "@a" : "@b";
    // There are only two islands, so nothing is apart from a slice that spans
    // both.
    const bool isWide = seed % 3 == 0 && mesh.shards() % 2 == 0;
    const bool isTargetWide = seed % 3 == 0 && target.shards() % 2 == 0;
    const char *spans = " spans 2 islands";
    text = "pw.slice @a mesh " + mesh.text() + (isWide ? spans : "") + "\n";
    if (!isOneSlice)
      text += "pw.slice @b mesh " + target.text() +
              (isTargetWide ? spans : "") +
              (isWide != isTargetWide   ? "\n"
               : isFar && !isTargetWide ? " apart_from [@a]\n"
                                        : " with [@a]\n");
    const std::string result = array(shape, slice, goal);
    if (!isPartial) {
      const std::string given = array(shape, "@a", from);
      text += "pw.program @f(%x: " + given + ") -> (" + result +
              ") {\n  %0 = pw.reshard %x : " + given + " -> " + result +
              "\n  pw.return %0 : " + result + "\n}\n";
      return;
    }
    addPartial(dims, partial, result);
  }

  std::mt19937_64 random;
  Mesh mesh, target;
  std::vector<int64_t> shape, given; // shapes of the array and of the argument
  bool isPartial = false;
  std::string text;

private:
  const Mesh &pickMesh() { return kMeshes[random() % std::size(kMeshes)]; }

  /// Returns the axes that cut each dimension, and the partial axes.
  std::pair<std::vector<std::vector<std::string>>, std::vector<std::string>>
  draw(const Mesh &on, bool withPartial) {
    std::vector<std::vector<std::string>> dims(shape.size());
    std::vector<std::string> partial;
    std::vector<const char *> axes = on.axes;
    std::shuffle(axes.begin(), axes.end(), random);
    for (const char *axis : axes) {
      const size_t place = random() % (shape.size() + 2);
      if (place < shape.size())
        dims[place].push_back(axis);
      else if (withPartial)
        partial.push_back(axis);
    }
    return {dims, partial};
  }

  static std::string names(const std::vector<std::string> &axes) {
    std::string text;
    for (const std::string &axis : axes)
      text += (text.empty() ? "\"" : ", \"") + axis + "\"";
    return text;
  }
  static std::string join(const std::vector<std::vector<std::string>> &dims) {
    std::string text;
    for (const std::vector<std::string> &axes : dims)
      text += (text.empty() ? "{" : ", {") + names(axes) + "}";
    return text;
  }
  static std::string array(const std::vector<int64_t> &shape,
                           const std::string &slice,
                           const std::string &sharding) {
    return "!pw.array<" + shapeString(ElementType::kI32, shape) + ", " + slice +
           ", " + sharding + ">";
  }

  int sizeOf(const std::string &axis) const {
    for (size_t i = 0; i < mesh.axes.size(); ++i)
      if (mesh.axes[i] == axis)
        return mesh.sizes[i];
    return 0;
  }

  /// Contributions have one more dimension, that of their ranks.
  void addPartial(const std::vector<std::vector<std::string>> &dims,
                  const std::vector<std::string> &partial,
                  const std::string &result) {
    std::vector<int64_t> shard, one = {1};
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t blocks = 1;
      for (const std::string &axis : dims[dim])
        blocks *= sizeOf(axis);
      shard.push_back((shape[dim] + blocks - 1) / blocks);
      one.push_back(shard.back());
    }
    given = {1};
    for (const std::string &axis : partial)
      given[0] *= sizeOf(axis);
    given.insert(given.end(), shape.begin(), shape.end());
    auto tensor = [](const std::vector<int64_t> &of) {
      return "tensor<" + shapeString(ElementType::kI32, of) + ">";
    };
    std::string groups = "[[0, 1]";
    for (size_t dim = 1; dim < shape.size(); ++dim)
      groups += ", [" + std::to_string(dim + 1) + "]";
    const std::string cut = join(dims);
    const std::string values =
        array(given, "@a", "[{" + names(partial) + "}, " + cut + "]");
    const std::string sum = array(
        shape, "@a", "[" + cut + "] partial add {" + names(partial) + "}");
    text += "func.func private @contribute(%v: " + tensor(one) + ") -> " +
            tensor(shard) + " attributes {pw.local_view, pw.pointwise} {\n" +
            "  %0 = tensor.collapse_shape %v " + groups + "] : " + tensor(one) +
            " into " + tensor(shard) + "\n  return %0 : " + tensor(shard) +
            "\n}\npw.program @f(%v: " + values + ") -> (" + result +
            ") {\n  %p = pw.call @contribute(%v) : (" + values + ") -> " + sum +
            "\n  %0 = pw.reshard %p : " + sum + " -> " + result +
            "\n  pw.return %0 : " + result + "\n}\n";
  }
};

HostArray fill(const std::vector<int64_t> &shape, std::mt19937_64 &random) {
  HostArray array{ElementType::kI32, shape, {}};
  array.data.resize(array.numElements() * 4);
  for (int64_t i = 0; i < array.numElements(); ++i) {
    const int32_t value = static_cast<int32_t>(random());
    std::memcpy(array.data.data() + 4 * i, &value, 4);
  }
  return array;
}

/// Returns the sum over the first dimension of `values`.
HostArray addUp(const HostArray &values) {
  HostArray sum{
      ElementType::kI32, {values.shape.begin() + 1, values.shape.end()}, {}};
  sum.data.resize(sum.numElements() * 4);
  for (int64_t i = 0; i < sum.numElements(); ++i) {
    uint32_t total = 0, value = 0;
    for (int64_t rank = 0; rank < values.shape[0]; ++rank) {
      std::memcpy(&value,
                  values.data.data() + 4 * (rank * sum.numElements() + i), 4);
      total += value;
    }
    std::memcpy(sum.data.data() + 4 * i, &total, 4);
  }
  return sum;
}

TEST(MovementTest, RandomReshardsMoveWhatWasSaid) {
  const uint64_t seed = TestSeed(20261124);
  const uint64_t count =
      FromEnvironment("PATHWAYS_TEST_RESHARDS", SampleSize(500, 2000));
  std::printf("seeds %llu to %llu\n", (unsigned long long)seed,
              (unsigned long long)(seed + count - 1));
  uint64_t planned = 0, moved = 0;
  for (uint64_t i = seed; i < seed + count; ++i) {
    RandomReshard reshard(i);
    const auto hosts = kHosts[i % std::size(kHosts)];
    const Links &links = kLinks[i / std::size(kHosts) % std::size(kLinks)];
    const TopologyFile file(hosts, links);
    const std::string &topology = file.path;
    SCOPED_TRACE("seed " + std::to_string(i) + ", " + topology + "\n" +
                 reshard.text);
    auto compiled = compile({reshard.text},
                            {.topology = topology, .explain_reshards = true});
    ASSERT_TRUE(compiled) << compiled.error().message;
    ReshardRoute said;
    if (!compiled->reshards.empty())
      said = compiled->reshards[0].routes.at(0);
    ASSERT_TRUE(said.is_counted);
    planned += said.num_steps > 1 + int(reshard.isPartial);

    // Count the bytes in the tables.
    const PlanData plan = take(ParsePlan(compiled->plan.bytes()));
    const Topology machines =
        take(Topology::Create(take(ReadTopology(topology))));
    const PlanCost cost = CostOf(plan.tables, machines);
    uint64_t ici = 0, dcn = 0;
    for (const auto &[island, bytes] : cost.ici_bytes)
      ici += bytes;
    for (const auto &[link, bytes] : cost.dcn_bytes)
      dcn += bytes;
    ASSERT_EQ(said.ici_bytes, int64_t(ici)) << said.steps;
    ASSERT_EQ(said.dcn_bytes, int64_t(dcn)) << said.steps;
    moved += ici + dcn;

    // Count the bytes in a run.
    HostArray given =
        fill(reshard.isPartial ? reshard.given : reshard.shape, reshard.random);
    const HostArray expected = reshard.isPartial ? addUp(given) : given;
    const Outcome outcome = run(compiled->plan, topology, std::move(given), i);
    ASSERT_TRUE(outcome.result.data == expected.data) << said.steps;
    ASSERT_EQ(uint64_t(said.host_bytes), outcome.hostBytes) << said.steps;
  }
  std::printf("%llu of %llu in several moves, %llu bytes in all\n",
              (unsigned long long)planned, (unsigned long long)count,
              (unsigned long long)moved);
  EXPECT_GT(planned, count / 50);
}

//===----------------------------------------------------------------------===//
// Changes in bodies
//===----------------------------------------------------------------------===//

struct BodyCase {
  const char *mesh, *shape, *from, *to;
  /// Op names that the plan must have, and must not have.
  const char *has, *hasNot;
};
/// The arrays are large enough that several steps pay off.
const BodyCase kBodies[] = {
    // Two axes are swapped in one dimension; another dimension can help.
    {R"("x" = 2, "y" = 3)", "360x240", R"({"x", "y"}, {})", R"({"y", "x"}, {})",
     "all_to_all", "all_gather"},
    // No other dimension can help; permutes work if the axes have equal sizes.
    {R"("x" = 2, "y" = 2)", "131072", R"({"x", "y"})", R"({"y", "x"})",
     "permute", "all_gather"},
    {R"("x" = 3, "y" = 3)", "147456", R"({"x", "y"})", R"({"y", "x"})",
     "permute", "all_gather"},
    {R"("z" = 2, "x" = 2, "y" = 2)", "262144", R"({"x", "z", "y"})",
     R"({"y", "z", "x"})", "permute", "all_gather"},
    {R"("x" = 2, "y" = 3)", "90720", R"({"x", "y"})", R"({"y", "x"})",
     "all_gather", "permute"},
    // An axis replaces another one.
    {R"("x" = 4, "y" = 4)", "512x1024", R"({"x"}, {})", R"({"y"}, {})",
     "plan.collective", "permute"},
    {R"("x" = 2, "y" = 2)", "512x1024", R"({"x"}, {"y"})", R"({"y"}, {"x"})",
     "plan.collective", "all_gather"},
    {R"("x" = 2, "y" = 2, "z" = 2)", "64x128x32", R"({"x"}, {"y"}, {"z"})",
     R"({"z"}, {"x"}, {"y"})", "plan.collective", "reduce"},
    {R"("x" = 2, "y" = 2, "z" = 2)", "64x128x32", R"({"x", "y", "z"}, {}, {})",
     R"({}, {"z", "x"}, {})", "plan.collective", "permute"},
    // There are more layouts than the search visits.
    {R"("a" = 2, "b" = 2, "c" = 2, "d" = 2, "e" = 2, "f" = 2)", "64x64x32x32",
     R"({"a", "b", "c"}, {"d"}, {"e"}, {"f"})",
     R"({"f", "e"}, {"c", "b", "a"}, {}, {"d"})", "all_to_all", "all_gather"},
};

TEST(MovementTest, LargeArraysInBodiesDoNotComeTogether) {
  std::mt19937_64 random(3);
  for (const BodyCase &c : kBodies) {
    const std::string shape = c.shape, tensor = "tensor<" + shape + "xi32>";
    auto array = [&](const char *cut) {
      return "!pw.array<" + shape + "xi32, @s, [" + cut + "]>";
    };
    const std::string text =
        std::string("pw.slice @s mesh <") + c.mesh +
        ">\nfunc.func private @same(%x: " + tensor + ") -> " + tensor +
        " { return %x : " + tensor + " }\npw.program @f(%x: " + array(c.from) +
        ") -> (" + array(c.to) + ") {\n  %0 = pw.call @same(%x) : (" +
        array(c.from) + ") -> " + array(c.to) +
        "\n  pw.return %0 : " + array(c.to) + "\n}\n";
    HostArray values{ElementType::kI32, {}, {}};
    for (size_t at = 0; at < shape.size(); ++at) {
      size_t length = 0;
      values.shape.push_back(std::stoll(shape.substr(at), &length));
      at += length;
    }
    values = fill(values.shape, random);
    for (const char *topology : {"1x1x64", "1x8x8"}) {
      SCOPED_TRACE(text + topology);
      auto compiled = take(compile({text}, {.topology = topology}));
      const std::string plan = take(printPlan(compiled.plan));
      EXPECT_NE(plan.find(c.has), std::string::npos);
      EXPECT_EQ(plan.find(c.hasNot), std::string::npos);
      const Outcome outcome = run(compiled.plan, topology, values, 1);
      ASSERT_TRUE(outcome.result.data == values.data);
    }
  }
}

//===----------------------------------------------------------------------===//
// Bits of sums
//===----------------------------------------------------------------------===//

/// Sums that depend on their order, resharded to layouts on both slices.
const char kSums[] = R"(
pw.slice @a mesh <"m" = 3, "n" = 4>
pw.slice @b mesh <"d" = 4> apart_from [@a]
func.func private @contribute(%v: tensor<1x96x96xf32>) -> tensor<96x96xf32>
    attributes {pw.local_view, pw.pointwise} {
  %0 = tensor.collapse_shape %v [[0, 1], [2]] : tensor<1x96x96xf32> into tensor<96x96xf32>
  return %0 : tensor<96x96xf32>
}
pw.program @f(%v: !pw.array<12x96x96xf32, @a, [{"m", "n"}, {}, {}]>)
    -> (!pw.array<96x96xf32, @a, [{}, {}]>, !pw.array<96x96xf32, @a, [{"n", "m"}, {}]>,
        !pw.array<96x96xf32, @a, [{"n"}, {"m"}]>, !pw.array<96x96xf32, @a, [{}, {"m"}]>,
        !pw.array<96x96xf32, @b, [{"d"}, {}]>, !pw.array<96x96xf32, @b, [{}, {}]>) {
  %p = pw.call @contribute(%v) : (!pw.array<12x96x96xf32, @a, [{"m", "n"}, {}, {}]>)
      -> !pw.array<96x96xf32, @a, [{}, {}] partial add {"m", "n"}>
  %0 = pw.reshard %p : !pw.array<96x96xf32, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<96x96xf32, @a, [{}, {}]>
  %1 = pw.reshard %p : !pw.array<96x96xf32, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<96x96xf32, @a, [{"n", "m"}, {}]>
  %2 = pw.reshard %p : !pw.array<96x96xf32, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<96x96xf32, @a, [{"n"}, {"m"}]>
  %3 = pw.reshard %p : !pw.array<96x96xf32, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<96x96xf32, @a, [{}, {"m"}]>
  %4 = pw.reshard %p : !pw.array<96x96xf32, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<96x96xf32, @b, [{"d"}, {}]>
  %5 = pw.reshard %p : !pw.array<96x96xf32, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<96x96xf32, @b, [{}, {}]>
  pw.return %0, %1, %2, %3, %4, %5 : !pw.array<96x96xf32, @a, [{}, {}]>, !pw.array<96x96xf32, @a, [{"n", "m"}, {}]>,
      !pw.array<96x96xf32, @a, [{"n"}, {"m"}]>, !pw.array<96x96xf32, @a, [{}, {"m"}]>,
      !pw.array<96x96xf32, @b, [{"d"}, {}]>, !pw.array<96x96xf32, @b, [{}, {}]>
}
)";

/// A profile of kSums with the given measured links and with costs of
/// everything.
class ProfileFile {
public:
  explicit ProfileFile(const Links &links)
      : path(testing::TempDir() + "movement_test_" + std::to_string(getpid()) +
             "_" + links.name + ".profile") {
    const TopologyFile machines({12, 1}, kLinks[0]);
    const PlanData plan = take(ParsePlan(
        take(compile({kSums}, {.topology = machines.path})).plan.bytes()));
    std::ofstream file(path);
    file << "version: 1 program: \"f\" fingerprint: \""
         << plan.tables.header().fingerprint() << "\"\n"
         << links.ici << " " << links.dcn << "\n";
    for (const char *kind : {"FEED", "FETCH", "SEND", "RECV"})
      file << "movements { kind: " << kind << " bytes: 4 ns: 100000 }\n";
    std::set<Computation> seen;
    for (const proto::Action &action : plan.tables.actions())
      if (std::optional<Computation> made = ComputationOf(plan.tables, action))
        if (seen.insert(*made).second)
          file << "computations { name: \"" << made->name << "\" signature: \""
               << made->signature << "\" ns: " << 1000000 / seen.size()
               << " }\n";
  }
  ~ProfileFile() { std::remove(path.c_str()); }

  const std::string path;
};

TEST(MovementTest, LinksPlacesAndProfilesChangeTheWayAndNoBit) {
  HostArray values{ElementType::kF32, {12, 96, 96}, {}};
  values.data.resize(values.numElements() * 4);
  std::minstd_rand random(7);
  for (int64_t i = 0; i < values.numElements(); ++i) {
    const float value = std::ldexp(static_cast<float>(random() % 4096) - 2048,
                                   -static_cast<int>(random() % 24));
    std::memcpy(values.data.data() + 4 * i, &value, 4);
  }
  std::set<std::string> ways;
  HostArray first;
  const ProfileFile slowIci(kLinks[1]), slowDcn(kLinks[2]);
  for (const auto &hosts : kHosts) {
    // Choose the route by the links that apply, configured or measured.
    std::map<std::string, std::string> wayBy;
    for (const auto &[links, profile] :
         {std::pair(&kLinks[0], ""), std::pair(&kLinks[1], ""),
          std::pair(&kLinks[2], ""),
          std::pair(&kLinks[0], slowIci.path.c_str()),
          std::pair(&kLinks[2], slowIci.path.c_str()),
          std::pair(&kLinks[0], slowDcn.path.c_str())}) {
      const TopologyFile file(hosts, *links);
      const std::string &topology = file.path;
      SCOPED_TRACE(topology + " " + profile);
      auto compiled = take(compile({kSums}, {.topology = topology,
                                             .profile = profile,
                                             .explain_reshards = true}));
      std::string way;
      for (const ReshardChoice &choice : compiled.reshards)
        way += choice.routes[0].steps + "\n";
      ways.insert(way);
      const std::string measured = profile == slowIci.path   ? "slow-ici"
                                   : profile == slowDcn.path ? "slow-dcn"
                                                             : links->name;
      EXPECT_EQ(wayBy.try_emplace(measured, way).first->second, way);
      auto session = take(Session::open(
          {.topology = topology, .run = {.world = RunOptions::kSim}}));
      auto executable = take(session.load(compiled.plan));
      auto launched = take(executable.launch({{"v", values}}));
      for (int result = 0; result < 6; ++result) {
        const HostArray got =
            take(launched.fetch("result" + std::to_string(result)));
        if (first.data.empty())
          first = got;
        ASSERT_TRUE(got.data == first.data) << "result " << result;
      }
    }
  }
  // With only one or two routes, nothing would have been compared.
  EXPECT_GT(ways.size(), 2u);
}

} // namespace
} // namespace pathways
