//===- movement_planner_test.cpp - Routes between layouts -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows routes element by element with an oracle that shares nothing with the
// planner: each shard ends with the elements of its block, and the moved bytes
// equal the estimate. PATHWAYS_TEST_SEED and PATHWAYS_TEST_MOVEMENTS choose
// other pairs of layouts of small arrays and their number; "all" takes all
// pairs.
//
//===----------------------------------------------------------------------===//

#include "movement_oracle.h"
#include "pathways/Analysis/BodyReshard.h"
#include "pathways/Analysis/MovementCost.h"
#include "unittests/random_cases.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <random>

namespace mlir::pathways {
namespace {

using oracle::Array;
using oracle::Moved;

/// Random costs of steps, so that any route may be the cheapest.
class AnyCosts : public MovementCosts {
public:
  explicit AnyCosts(uint64_t seed) : seed(seed) {}
  MovementCost getCost(const MovementStep &step) const override {
    std::seed_seq sequence{
        seed,
        uint64_t(step.kind),
        uint64_t(step.dim),
        uint64_t(step.split),
        uint64_t(step.axes.size()),
        uint64_t(step.to.getDims().size() ? step.to.getDims()[0].size() : 0)};
    MovementCost cost;
    cost.ns = 1 + std::mt19937(sequence)() % 1000;
    return cost;
  }

private:
  uint64_t seed;
};

/// Places a slice on devices of its own, all of one host.
PlacedMesh place(MeshAttr mesh, int64_t island, int64_t firstDevice) {
  PlacedMesh placed;
  placed.mesh = mesh;
  placed.island = island;
  for (int64_t shard = 0; shard < mesh.getNumShards(); ++shard) {
    placed.devices.push_back(firstDevice + shard);
    placed.hosts.push_back(island);
  }
  return placed;
}

enum class Goal { InBody, OneSlice, OneIsland, OtherIsland };

struct MovementPlannerTest : public ::testing::Test {
  MovementPlannerTest() { context.loadDialect<PathwaysDialect>(); }

  MeshAttr makeMesh(ArrayRef<int64_t> sizes) {
    static constexpr const char *kNames[] = {"x", "y", "z"};
    SmallVector<StringAttr> names;
    for (size_t axis = 0; axis < sizes.size(); ++axis)
      names.push_back(StringAttr::get(&context, kNames[axis]));
    return MeshAttr::get(&context, names, sizes);
  }

  ShardingAttr makeSharding(ArrayRef<SmallVector<Attribute>> dims,
                            ArrayRef<Attribute> partial = {}) {
    SmallVector<ArrayAttr> axes;
    for (const SmallVector<Attribute> &dim : dims)
      axes.push_back(ArrayAttr::get(&context, dim));
    SmallVector<StringAttr> names;
    for (Attribute axis : partial)
      names.push_back(cast<StringAttr>(axis));
    auto add = ReductionKindAttr::get(&context, ReductionKind::Add);
    return ShardingAttr::get(&context, axes, partial.empty() ? nullptr : add,
                             names);
  }
  /// Returns a sharding from the names of its axes, with spaces between those
  /// of one dimension.
  ShardingAttr cut(const std::vector<std::string> &dims,
                   StringRef partial = "") {
    auto toAxes = [&](StringRef names) {
      SmallVector<Attribute> axes;
      for (StringRef name : llvm::split(names, ' '))
        if (!name.empty())
          axes.push_back(StringAttr::get(&context, name));
      return axes;
    };
    std::vector<SmallVector<Attribute>> axes;
    for (const std::string &names : dims)
      axes.push_back(toAxes(names));
    return makeSharding(axes, toAxes(partial));
  }

  /// Lists all layouts of `rank` dimensions, with each axis in any place or in
  /// none.
  std::vector<ShardingAttr> listLayouts(MeshAttr mesh, size_t rank,
                                        bool withPartial) {
    std::vector<std::vector<SmallVector<Attribute>>> lists = {
        std::vector<SmallVector<Attribute>>(rank + 1)};
    for (StringAttr axis : mesh.getNames())
      for (size_t i = 0, end = lists.size(); i != end; ++i)
        for (size_t place = 0; place < rank + withPartial; ++place)
          for (size_t at = 0, e = lists[i][place].size(); at <= e; ++at) {
            auto list = lists[i];
            list[place].insert(list[place].begin() + at, axis);
            lists.push_back(list);
          }
    std::vector<ShardingAttr> layouts;
    for (auto &list : lists)
      layouts.push_back(makeSharding(ArrayRef(list).drop_back(), list.back()));
    return layouts;
  }

  RankedTensorType typeOf(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }

  static bool isEven(MeshAttr mesh, ArrayRef<int64_t> shape,
                     ShardingAttr sharding) {
    for (auto [size, axes] : llvm::zip_equal(shape, sharding.getDims()))
      if (size % getNumBlocks(mesh, axes) != 0)
        return false;
    return true;
  }

  struct Case {
    MeshAttr mesh, target;
    SmallVector<int64_t> shape;
    ShardingAttr from, to;
    Goal goal;
  };

  static std::string print(const Case &c, const MovementRoute &route) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << c.mesh << " -> " << c.target << ", ";
    llvm::interleave(c.shape, os, "x");
    os << ", " << c.from << " -> " << c.to << ", goal " << int(c.goal) << ":";
    for (const MovementStep &step : route.steps)
      os << "\n  " << describe(step) << " -> " << step.to;
    return text;
  }

  /// Follows `route`. `costs`, unless it is null, estimates the bytes of each
  /// step.
  void follow(const Case &c, const MovementRoute &route,
              const LinkedCosts *costs) {
    uint64_t all = Array::getAll(c.mesh, c.from);
    Array array(c.mesh, c.shape, c.from, all);
    ShardingAttr at = c.from;
    MovementCost total;
    for (const MovementStep &step : route.steps) {
      ASSERT_EQ(step.from, at) << print(c, route);
      at = step.to;
      Moved moved;
      ASSERT_EQ(array.apply(step, c.target, &moved), "") << print(c, route);
      bool isOnTarget = step.isOnTarget || step.crosses;
      Array expected(isOnTarget ? c.target : c.mesh, c.shape, step.to, all);
      if (!step.to.isPartial())
        ASSERT_TRUE(array.getShards() == expected.getShards())
            << print(c, route) << "\nafter " << describe(step);
      if (!costs)
        continue;
      MovementCost cost = costs->getCost(step);
      bool isFar = step.crosses && c.goal == Goal::OtherIsland;
      ASSERT_TRUE(cost.isCounted);
      ASSERT_EQ(isFar ? cost.dcnBytes : cost.iciBytes, moved.elements * 4)
          << print(c, route) << "\nin " << describe(step);
      ASSERT_EQ(isFar ? cost.iciBytes : cost.dcnBytes, 0);
      ASSERT_GE(cost.receivedBytes, moved.most * 4);
      total = total.then(cost);
    }
    ASSERT_EQ(at, c.to) << print(c, route);
    if (costs) {
      ASSERT_EQ(route.cost.iciBytes, total.iciBytes);
      ASSERT_EQ(route.cost.dcnBytes, total.dcnBytes);
      ASSERT_EQ(route.cost.ns, total.ns);
    }
  }

  void check(Case c, uint64_t seed) {
    bool isOneSlice = c.goal == Goal::InBody || c.goal == Goal::OneSlice;
    if (isOneSlice)
      c.target = c.mesh;
    if (c.goal == Goal::InBody &&
        (!isEven(c.mesh, c.shape, c.from) || !isEven(c.mesh, c.shape, c.to)))
      c.goal = Goal::OneSlice;
    MovementProblem problem;
    problem.type = typeOf(c.shape);
    problem.mesh = c.mesh;
    problem.targetMesh = c.target;
    problem.from = c.from;
    problem.to = c.to;
    problem.isOneSlice = isOneSlice;
    problem.allowsPieces = c.goal != Goal::InBody;
    // Plan with the costs of machines, then with random costs.
    PlacedMesh source = place(c.mesh, 0, 0);
    PlacedMesh target = isOneSlice
                            ? source
                            : place(c.target, c.goal == Goal::OtherIsland,
                                    c.goal == Goal::OtherIsland ? 0 : 64);
    LinkedCosts linked(source, target, kDefaultDcn, problem.type);
    IslandCosts island(c.mesh, problem.type);
    if (c.goal == Goal::InBody)
      follow(c, planMovement(problem, island), nullptr);
    else
      follow(c, planMovement(problem, linked), &linked);
    if (!HasFatalFailure())
      follow(c, planMovement(problem, AnyCosts(seed)), nullptr);
  }

  MLIRContext context;
};

TEST_F(MovementPlannerTest, SmallArraysComeRightByAnyRoute) {
  const uint64_t seed = ::pathways::TestSeed(20261124);
  const char *text = std::getenv("PATHWAYS_TEST_MOVEMENTS");
  const bool isAll = text && StringRef(text) == "all";
  const uint64_t wanted = ::pathways::FromEnvironment(
      "PATHWAYS_TEST_MOVEMENTS", ::pathways::SampleSize(10000, 40000));
  std::mt19937_64 random(seed);
  SmallVector<MeshAttr> meshes;
  for (const std::vector<int64_t> &sizes :
       std::vector<std::vector<int64_t>>{{}, {2}, {3}, {2, 2}, {2, 3}})
    meshes.push_back(makeMesh(sizes));
  // An axis of size 1 is left out.
  std::vector<Case> pairs;
  for (MeshAttr mesh : meshes)
    for (MeshAttr target : meshes)
      for (size_t rank : {0, 1, 2})
        for (ShardingAttr from : listLayouts(mesh, rank, true))
          for (ShardingAttr to : listLayouts(target, rank, false))
            for (Goal goal : {Goal::InBody, Goal::OneSlice, Goal::OneIsland,
                              Goal::OtherIsland})
              if (mesh == target || goal == Goal::OneIsland ||
                  goal == Goal::OtherIsland)
                pairs.push_back({mesh, target, {}, from, to, goal});
  uint64_t checked = 0;
  auto checkAt = [&](const Case &pair, ArrayRef<int64_t> shape) {
    Case c = pair;
    c.shape.assign(shape.begin(), shape.end());
    check(c, seed + ++checked);
    return !HasFatalFailure();
  };
  std::printf("seed %llu, %zu pairs of layouts\n", (unsigned long long)seed,
              pairs.size());
  if (isAll) {
    for (const Case &pair : pairs)
      for (int64_t size = 0, end = pair.from.getDims().size() == 2   ? 64
                                   : pair.from.getDims().size() == 1 ? 8
                                                                     : 1;
           size < end; ++size) {
        int64_t shape[] = {size % 8, size / 8};
        ASSERT_TRUE(checkAt(pair, ArrayRef(shape, pair.from.getDims().size())));
      }
  }
  while (!isAll && checked < wanted) {
    int64_t shape[] = {int64_t(random() % 8), int64_t(random() % 8)};
    const Case &pair = pairs[random() % pairs.size()];
    ASSERT_TRUE(checkAt(pair, ArrayRef(shape, pair.from.getDims().size())));
  }
  std::printf("%llu checked\n", (unsigned long long)checked);
}

TEST_F(MovementPlannerTest, ArraysOfThreeDimensionsComeRightByAnyRoute) {
  const uint64_t seed = ::pathways::TestSeed(20261124);
  std::printf("seed %llu\n", (unsigned long long)seed);
  std::mt19937_64 random(seed);
  SmallVector<MeshAttr> meshes;
  for (const std::vector<int64_t> &sizes : std::vector<std::vector<int64_t>>{
           {2, 3}, {2, 2}, {4}, {2, 2, 2}, {3, 2, 2}})
    meshes.push_back(makeMesh(sizes));
  auto draw = [&](MeshAttr mesh, bool withPartial) {
    std::vector<SmallVector<Attribute>> dims(4);
    SmallVector<StringAttr> axes(mesh.getNames());
    std::shuffle(axes.begin(), axes.end(), random);
    for (StringAttr axis : axes) {
      size_t place = random() % 5;
      if (place < 3 || (place == 3 && withPartial))
        dims[place].push_back(axis);
    }
    return makeSharding(ArrayRef(dims).drop_back(), dims.back());
  };
  for (int i = 0; i < 20000; ++i) {
    Case c;
    c.mesh = meshes[random() % meshes.size()];
    c.goal = Goal(random() % 4);
    c.target = c.goal == Goal::InBody || c.goal == Goal::OneSlice
                   ? c.mesh
                   : meshes[random() % meshes.size()];
    // Half of the shapes have equal blocks.
    for (int dim = 0; dim < 3; ++dim)
      c.shape.push_back(random() % 2
                            ? random() % 8
                            : 2 * (1 + random() % 2) * (1 + random() % 3));
    c.from = draw(c.mesh, random() % 4 == 0);
    c.to = draw(c.target, false);
    check(c, seed + i);
    ASSERT_FALSE(HasFatalFailure()) << "number " << i;
  }
}

/// Bodies support equal blocks only: each part of a route moves a padded array
/// whose blocks are those of the array.
TEST_F(MovementPlannerTest, UnevenBlocksAreEvenOnesOfPaddedArrays) {
  auto hasBlocksOf = [](MeshAttr mesh, RankedTensorType padded,
                        RankedTensorType type, ShardingAttr sharding) {
    return isEven(mesh, padded.getShape(), sharding) &&
           getShardType(mesh, padded, sharding) ==
               getShardType(mesh, type, sharding);
  };
  uint64_t uneven = 0;
  auto check = [&](MeshAttr mesh, ArrayRef<int64_t> shape, ShardingAttr from,
                   ShardingAttr to) {
    RankedTensorType type = typeOf(shape);
    BodyReshard reshard = planBodyReshard(mesh, type, from, to);
    Case c{mesh, mesh, {}, from, reshard.between, Goal::InBody};
    c.shape.assign(reshard.before.getShape());
    follow(c, {reshard.steps, {}}, nullptr);
    c.from = reshard.between;
    c.to = to;
    c.shape.assign(reshard.after.getShape());
    follow(c, {reshard.lastSteps, {}}, nullptr);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      int64_t size = type.getDimSize(dim),
              before = reshard.before.getDimSize(dim),
              after = reshard.after.getDimSize(dim);
      ASSERT_GE(std::min(before, after), size);
      // A dimension may gain or lose elements only at its end, and only where
      // it is not cut.
      if (before != after)
        ASSERT_TRUE(reshard.between.getDims()[dim].empty());
      uneven += before != size || after != size;
    }
    ASSERT_TRUE(hasBlocksOf(mesh, reshard.after, type, to));
    // Dimensions that are whole everywhere may have got padding.
    SmallVector<int64_t> unpadded(reshard.before.getShape());
    for (auto [dim, axes] : llvm::enumerate(from.getDims()))
      if (axes.empty())
        unpadded[dim] = type.getDimSize(dim);
    ASSERT_TRUE(hasBlocksOf(mesh, typeOf(unpadded), type, from));
    for (const MovementStep &step : reshard.lastSteps)
      ASSERT_EQ(step.kind, MovementStep::Slice);
  };
  for (const std::vector<int64_t> &sizes :
       std::vector<std::vector<int64_t>>{{2}, {3}, {2, 2}, {2, 3}}) {
    MeshAttr mesh = makeMesh(sizes);
    for (size_t rank : {1, 2})
      for (ShardingAttr from : listLayouts(mesh, rank, true))
        for (ShardingAttr to : listLayouts(mesh, rank, false))
          for (int64_t size = 0; size < (rank == 1 ? 14 : 7 * 7); ++size) {
            int64_t shape[] = {rank == 1 ? size : size % 7, size / 7};
            check(mesh, ArrayRef(shape, rank), from, to);
            ASSERT_FALSE(HasFatalFailure());
          }
  }
  EXPECT_GT(uneven, 10000u);
}

//===----------------------------------------------------------------------===//
// Chosen routes
//===----------------------------------------------------------------------===//

struct ChoiceTest : public MovementPlannerTest {
  /// Returns the steps in a body, on devices that are all alike.
  std::string inBody(ArrayRef<int64_t> mesh, ArrayRef<int64_t> shape,
                     ShardingAttr from, ShardingAttr to) {
    MovementProblem problem;
    problem.type = typeOf(shape);
    problem.mesh = problem.targetMesh = makeMesh(mesh);
    problem.from = from;
    problem.to = to;
    return print(
        planMovement(problem, IslandCosts(problem.mesh, problem.type)));
  }

  static std::string print(const MovementRoute &route) {
    std::string text;
    for (const MovementStep &step : route.steps)
      text += (text.empty() ? "" : "; ") + describe(step);
    return text;
  }

  /// Places `mesh` on hosts of `devices` devices, `hosts` in each island. The
  /// source takes the first devices of one island, the target those of another.
  PlacedMesh onHosts(MeshAttr mesh, int64_t island, int64_t hosts,
                     int64_t devices) {
    PlacedMesh placed = place(mesh, island, 0);
    for (size_t shard = 0; shard < placed.hosts.size(); ++shard)
      placed.hosts[shard] = island * hosts + shard / devices;
    return placed;
  }
};

TEST_F(ChoiceTest, WhatBooksSay) {
  EXPECT_EQ(inBody({4}, {1024, 1024}, cut({"x", ""}), cut({"", ""})),
            "all-gather dim 0 over x");
  EXPECT_EQ(inBody({4}, {1024, 1024}, cut({"x", ""}), cut({"", "x"})),
            "all-to-all split 1 concat 0 over x");
  EXPECT_EQ(inBody({4}, {1024, 1024}, cut({"", ""}, "x"), cut({"", ""})),
            "all-reduce over x");
  EXPECT_EQ(inBody({4}, {1024, 1024}, cut({"", ""}, "x"), cut({"x", ""})),
            "reduce-scatter dim 0 over x");
  EXPECT_EQ(inBody({2, 2}, {1024, 1024}, cut({"", ""}), cut({"x y", ""})),
            "slice dim 0 over x, y");
  // Gathering after the cut moves less.
  EXPECT_EQ(inBody({2, 2}, {1024, 1024}, cut({"x", ""}), cut({"", "y"})),
            "slice dim 1 over y; all-gather dim 0 over x");
}

TEST_F(ChoiceTest, AxesThatSwapDoNotGatherAll) {
  // Three exchanges of a shard move less than the whole array.
  EXPECT_EQ(
      inBody({4, 8}, {1 << 12, 1 << 10}, cut({"x y", ""}), cut({"y x", ""})),
      "all-to-all split 1 concat 0 over y; "
      "all-to-all split 1 concat 0 over x; "
      "all-to-all split 0 concat 1 over y, x");
  // No other dimension helps.
  EXPECT_EQ(inBody({2, 2}, {1 << 20}, cut({"x y"}), cut({"y x"})),
            "permute over x, y");
  // A small array is not worth the steps.
  EXPECT_EQ(inBody({2, 2}, {16}, cut({"x y"}), cut({"y x"})),
            "all-gather dim 0 over x, y; slice dim 0 over y, x");
}

TEST_F(ChoiceTest, EachByteCrossesOnce) {
  MeshAttr mesh = makeMesh({4});
  MovementProblem problem;
  problem.type = typeOf({1 << 20});
  problem.mesh = problem.targetMesh = mesh;
  problem.from = cut({"x"});
  problem.to = cut({""});
  problem.isOneSlice = false;
  problem.allowsPieces = true;
  PlacedMesh source = onHosts(mesh, 0, 1, 4), target = onHosts(mesh, 1, 1, 4);
  LinkedCosts costs(source, target, kDefaultDcn, problem.type);
  MovementRoute route = planMovement(problem, costs);
  EXPECT_EQ(print(route), "pieces to the other slice cut [{x}]; "
                          "all-gather dim 0 over x");
  EXPECT_EQ(route.cost.dcnBytes, 4 << 20);
  EXPECT_EQ(route.cost.iciBytes, 3 * (4 << 20));
  // Four copies of a small array cost less than another step.
  problem.type = typeOf({64});
  LinkedCosts ofLittle(source, target, kDefaultDcn, problem.type);
  route = planMovement(problem, ofLittle);
  EXPECT_EQ(print(route), "pieces to the other slice cut [{}]");
  EXPECT_EQ(route.cost.dcnBytes, 4 * 64 * 4);
}

// Hosts of an island reduce among each other first.
TEST_F(ChoiceTest, ASumOverIslandsCrossesOnceEachWay) {
  MeshAttr mesh = makeMesh({16});
  PlacedMesh placed = place(mesh, 0, 0);
  placed.moreIslands = {1};
  for (int64_t shard = 0; shard < 16; ++shard) {
    placed.devices[shard] = shard % 8;
    placed.hosts[shard] = shard / 4;
  }
  RankedTensorType type = typeOf({1 << 20});
  LinkedCosts costs(placed, placed, kDefaultDcn, type);
  MovementStep step;
  step.kind = MovementStep::AllReduce;
  step.axes = {StringAttr::get(&context, "x")};
  step.from = cut({""}, "x");
  step.to = cut({""});
  MovementCost cost = costs.getCost(step);
  EXPECT_EQ(cost.dcnBytes, 2 * (4 << 20));
  EXPECT_EQ(cost.hostBytes - cost.dcnBytes, 2 * 2 * (4 << 20));
  placed.moreIslands.clear();
  LinkedCosts near(placed, placed, kDefaultDcn, type);
  MovementCost nearCost = near.getCost(step);
  EXPECT_EQ(nearCost.dcnBytes, 0);
  EXPECT_EQ(nearCost.iciBytes, cost.iciBytes + cost.dcnBytes);
  EXPECT_LT(nearCost.ns, cost.ns);
}

TEST_F(ChoiceTest, HostsSendWhatTheirDevicesHaveInCommonOnce) {
  MeshAttr mesh = makeMesh({8});
  MovementProblem problem;
  problem.type = typeOf({1 << 20});
  problem.mesh = problem.targetMesh = mesh;
  problem.from = cut({"x"});
  problem.to = cut({""});
  problem.allowsPieces = true;
  auto plan = [&](const PlacedMesh &placed) {
    return print(planMovement(
        problem, LinkedCosts(placed, placed, kDefaultDcn, problem.type)));
  };
  EXPECT_EQ(plan(onHosts(mesh, 0, 2, 4)), "all-gather dim 0 over x");
  // On one host both take equally long, so the single step without a gang wins.
  EXPECT_EQ(plan(onHosts(mesh, 0, 1, 8)), "pieces cut [{}]");
}

TEST_F(ChoiceTest, WhatIsTooMuchToCountIsTakenToBeAlike) {
  MeshAttr mesh = makeMesh({8, 512});
  MovementProblem problem;
  problem.type = typeOf({1 << 12, 1 << 12});
  problem.mesh = problem.targetMesh = mesh;
  problem.from = cut({"x", "y"});
  problem.to = cut({"", "y"});
  problem.allowsPieces = true;
  PlacedMesh placed = onHosts(mesh, 0, 512, 8);
  MovementRoute route = planMovement(
      problem, LinkedCosts(placed, placed, kDefaultDcn, problem.type));
  ASSERT_FALSE(route.steps.empty());
  EXPECT_FALSE(route.cost.isCounted);
  EXPECT_GT(route.cost.iciBytes, 0);
  // Slices with too many shards to list them take the same route.
  mesh = makeMesh({1 << 12, 1 << 12});
  problem.type = typeOf({int64_t(1) << 24, int64_t(1) << 24});
  problem.mesh = problem.targetMesh = mesh;
  PlacedMesh unlisted, other;
  unlisted.mesh = other.mesh = mesh;
  other.island = 1;
  problem.isOneSlice = false;
  problem.from = cut({"x", "y"});
  problem.to = cut({"", ""});
  route = planMovement(problem,
                       LinkedCosts(unlisted, other, kDefaultDcn, problem.type));
  ASSERT_FALSE(route.steps.empty());
  EXPECT_FALSE(route.cost.isCounted);
  EXPECT_GT(route.cost.dcnBytes, 0);
}

TEST_F(ChoiceTest, SlowLinksAreWorthMoreSteps) {
  MeshAttr mesh = makeMesh({4});
  MovementProblem problem;
  problem.type = typeOf({256});
  problem.mesh = problem.targetMesh = mesh;
  problem.from = cut({"x"});
  problem.to = cut({""});
  problem.isOneSlice = false;
  problem.allowsPieces = true;
  PlacedMesh source = onHosts(mesh, 0, 1, 4), target = onHosts(mesh, 1, 1, 4);
  auto plan = [&](LinkCost dcn) {
    return print(
        planMovement(problem, LinkedCosts(source, target, dcn, problem.type)));
  };
  EXPECT_EQ(plan(kDefaultDcn), "pieces to the other slice cut [{}]");
  EXPECT_EQ(plan({500000, 0.1}), "pieces to the other slice cut [{x}]; "
                                 "all-gather dim 0 over x");
}

TEST_F(ChoiceTest, MemoryIsBoundedWhereThereIsAnotherWay) {
  // If steps cost nothing, the fewest steps would gather everything.
  class Free : public IslandCosts {
  public:
    using IslandCosts::IslandCosts;
    MovementCost getCost(const MovementStep &step) const override {
      MovementCost cost = IslandCosts::getCost(step);
      cost.ns = 0;
      return cost;
    }
  };
  MovementProblem problem;
  problem.type = typeOf({1 << 12, 1 << 12});
  problem.mesh = problem.targetMesh = makeMesh({4, 8});
  problem.from = cut({"x y", ""});
  problem.to = cut({"y x", ""});
  Free costs(problem.mesh, problem.type);
  MovementRoute route = planMovement(problem, costs);
  EXPECT_EQ(route.steps.size(), 3u) << print(route);
  EXPECT_LE(route.cost.peakBytes, 2 * 2 * (4 << 24) / 32);
  problem.memoryFactor = 100;
  route = planMovement(problem, costs);
  EXPECT_EQ(print(route), "all-gather dim 0 over x, y; slice dim 0 over y, x");
  // One dimension whose axes differ in size has no other route.
  problem.memoryFactor = 2;
  problem.type = typeOf({1 << 24});
  problem.from = cut({"x y"});
  problem.to = cut({"y x"});
  Free other(problem.mesh, problem.type);
  EXPECT_EQ(print(planMovement(problem, other)),
            "all-gather dim 0 over x, y; slice dim 0 over y, x");
}

} // namespace
} // namespace mlir::pathways
