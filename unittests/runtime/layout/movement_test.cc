//===- movement_test.cc - Movements against an element-wise model ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/layout/layout.h"
#include "unittests/random_cases.h"
#include "unittests/runtime/layout/layout_oracle.h"

namespace pathways::layout {
namespace {

// Contents of buffers: a value tells the shard and the element that it came
// from, and combining is neither commutative nor associative, so that a wrong
// copy, a wrong order or a missing contribution shows.
constexpr int64_t kGarbage = -1;  // a destination nobody filled
constexpr int64_t kPadding = -2;  // padding of a source: must never be read
constexpr int64_t kUntouched = -3;
constexpr int64_t kIdentity = -4;
constexpr int64_t kZero = 0;

int64_t ValueOf(size_t shard, int64_t element) {
  return 1 + element * 1009 + static_cast<int64_t>(shard);
}
int64_t Combine(int64_t sum, int64_t next) {
  return (sum * 31 + next) % 1'000'000'007;
}

std::string Describe(const Sharded& source, const Sharded& destination,
                     bool same_slice) {
  std::string text = ToString(source.mesh) + " " + ToString(source.layout) +
                     " -> " + ToString(destination.mesh) + " " +
                     ToString(destination.layout) + " shape";
  for (int64_t extent : source.layout.shape) {
    text += " " + std::to_string(extent);
  }
  return text + (same_slice ? " in one slice" : " across slices");
}

// The shard that is to send its contribution number `rank` to element `element`
// of `to`, by looking at all of them.
size_t ChosenSource(const Sharded& source, const Sharded::Shard& to,
                    int64_t element, int64_t rank, bool same_slice) {
  for (size_t s = 0; s < source.shards.size(); ++s) {
    const Sharded::Shard& from = source.shards[s];
    if (from.local_of[element] < 0 || from.rank != rank) continue;
    if (same_slice) {
      bool near = true;
      for (const std::string& axis : source.copy_axes) {
        near = near && from.at.at(axis) == to.at.at(axis);
      }
      if (!near) continue;
    }
    return s;
  }
  ADD_FAILURE() << "the model found no source";
  return 0;
}

// Returns true if each shard takes all elements of the shard with its number.
bool KeepsAll(const Sharded& source, const Sharded& destination,
              bool same_slice) {
  return source.layout == destination.layout &&
         (same_slice ||
          (!source.layout.partial.empty() && source.mesh == destination.mesh));
}

// Returns the contents that a destination shard must have at the end, position
// by position.
std::vector<int64_t> ExpectedShard(const Sharded& source,
                                   const Sharded& destination, size_t shard,
                                   bool same_slice) {
  const Sharded::Shard& to = destination.shards[shard];
  if (KeepsAll(source, destination, same_slice)) {
    // A copy: each has its own.
    std::vector<int64_t> expected(destination.shard_elements, kZero);
    for (int64_t element : to.held) {
      expected[to.local_of[element]] = ValueOf(shard, element);
    }
    return expected;
  }
  bool first = to.rank == 0;
  std::vector<int64_t> expected(destination.shard_elements,
                                first ? kZero : kIdentity);
  if (!first) return expected;
  for (int64_t element : to.held) {
    int64_t value = 0;
    for (int64_t rank = 0; rank < source.contributions; ++rank) {
      size_t s = ChosenSource(source, to, element, rank, same_slice);
      int64_t next = ValueOf(s, element);
      value = rank == 0 ? next : Combine(value, next);
    }
    expected[to.local_of[element]] = value;
  }
  return expected;
}

std::vector<std::vector<int64_t>> SourceBuffers(const Sharded& source) {
  std::vector<std::vector<int64_t>> buffers;
  for (size_t s = 0; s < source.shards.size(); ++s) {
    std::vector<int64_t>& buffer =
        buffers.emplace_back(source.shard_elements, kPadding);
    for (int64_t element : source.shards[s].held) {
      buffer[source.shards[s].local_of[element]] = ValueOf(s, element);
    }
  }
  return buffers;
}

bool InOrder(const std::vector<Piece>& pieces) {
  for (size_t i = 1; i < pieces.size(); ++i) {
    auto key = [](const Piece& p) {
      return std::tie(p.destination, p.source, p.source_offset);
    };
    if (!(key(pieces[i - 1]) < key(pieces[i]))) return false;
  }
  return true;
}

// Runs the pieces into each shard on real buffers and compares with the model;
// then compares the pieces out of each shard with those. True if all is well,
// so that the caller says once what was tried.
bool CheckMovement(const Sharded& source,
                   const std::vector<std::vector<int64_t>>& buffers,
                   const Sharded& destination, bool same_slice) {
  Movement movement;
  std::string error;
  if (!Movement::Create(source.layout, source.mesh, destination.layout,
                        destination.mesh, same_slice, &movement, &error)) {
    ADD_FAILURE() << error;
    return false;
  }
  std::vector<std::vector<Piece>> from(source.shards.size());
  for (size_t d = 0; d < destination.shards.size(); ++d) {
    auto shard = static_cast<int64_t>(d);
    std::vector<Piece> pieces = movement.PiecesInto(shard);
    if (!InOrder(pieces)) return false;
    if (movement.NumPiecesInto(shard) != static_cast<int64_t>(pieces.size())) {
      return false;
    }
    for (const Piece& piece : pieces) {
      if (piece.destination != shard || piece.source < 0 ||
          piece.source >= static_cast<int64_t>(source.shards.size())) {
        return false;
      }
      from[piece.source].push_back(piece);
    }

    bool fill = movement.NeedsFill(shard);
    bool identity = movement.FillsIdentity(shard);
    const Sharded::Shard& to = destination.shards[d];
    const bool lacks =
        to.rank != 0 && !KeepsAll(source, destination, same_slice);
    if (identity != lacks) return false;
    bool has_elements = destination.shard_elements > 0;
    if (fill != (has_elements && (to.has_padding || lacks))) {
      return false;
    }

    std::vector<int64_t> buffer(
        destination.shard_elements,
        fill ? (identity ? kIdentity : kZero) : kGarbage);
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return std::tie(a.rank, a.source) < std::tie(b.rank, b.source);
    });
    for (const Piece& piece : pieces) {
      auto copy = [&](std::vector<int64_t>* into) {
        CopyBox(buffers[piece.source].data(), source.shard_shape,
                piece.source_offset, into->data(), destination.shard_shape,
                piece.destination_offset, piece.extent, sizeof(int64_t));
      };
      if (piece.rank == 0) {
        copy(&buffer);
        continue;
      }
      std::vector<int64_t> next(destination.shard_elements, kUntouched);
      copy(&next);
      for (size_t i = 0; i < next.size(); ++i) {
        if (next[i] != kUntouched) buffer[i] = Combine(buffer[i], next[i]);
      }
    }
    if (buffer != ExpectedShard(source, destination, d, same_slice)) {
      return false;
    }
  }
  for (size_t s = 0; s < source.shards.size(); ++s) {
    auto shard = static_cast<int64_t>(s);
    // Collected in order of destination, and with one source.
    if (movement.PiecesFrom(shard) != from[s]) return false;
    if (movement.NumPiecesFrom(shard) != static_cast<int64_t>(from[s].size())) {
      return false;
    }
  }
  return true;
}

struct Case {
  Sharded sharded;
  std::vector<std::vector<int64_t>> buffers;
};

std::vector<Case> CasesFor(const std::vector<Mesh>& meshes,
                           const std::vector<int64_t>& shape) {
  std::vector<Case> cases;
  for (const Mesh& mesh : meshes) {
    for (const Layout& layout : AllLayouts(mesh, shape)) {
      EXPECT_EQ(CheckLayout(layout, mesh), "") << ToString(layout);
      Sharded sharded(mesh, layout);
      std::vector<std::vector<int64_t>> buffers = SourceBuffers(sharded);
      cases.push_back({std::move(sharded), std::move(buffers)});
    }
  }
  return cases;
}

// All pairs of `shape`, in one slice where the meshes are equal and across
// slices always. Returns the number of movements.
int64_t CheckAllPairs(const std::vector<Mesh>& meshes,
                      const std::vector<int64_t>& shape) {
  int64_t count = 0;
  std::vector<Case> cases = CasesFor(meshes, shape);
  for (const Case& source : cases) {
    for (const Case& destination : cases) {
      bool equal = source.sharded.mesh == destination.sharded.mesh;
      for (bool same_slice : {false, true}) {
        if (same_slice && !equal) continue;
        ++count;
        if (!CheckMovement(source.sharded, source.buffers, destination.sharded,
                           same_slice)) {
          ADD_FAILURE() << Describe(source.sharded, destination.sharded,
                                    same_slice);
          return count;
        }
      }
    }
  }
  return count;
}

std::vector<Mesh> SmallMeshes() {
  return {{},
          {{"a", 1}},
          {{"a", 2}},
          {{"a", 1}, {"b", 1}},
          {{"a", 1}, {"b", 2}},
          {{"a", 2}, {"b", 1}},
          {{"a", 2}, {"b", 2}}};
}

// Complete: every pair of layouts of every mesh up to 2x2, of rank 0 to 2, all
// sizes 0 to 5, copies and contributions on either side.
TEST(MovementTest, AllSmallScalars) {
  EXPECT_EQ(CheckAllPairs(SmallMeshes(), {}),
            25 * 25 + 1 + 2 * (2 * 2) + 4 * (5 * 5));
}

TEST(MovementTest, AllSmallVectors) {
  int64_t count = 0;
  for (int64_t n = 0; n <= 5 && !HasFailure(); ++n) {
    count += CheckAllPairs(SmallMeshes(), {n});
  }
  EXPECT_EQ(count, 6 * (51 * 51 + 1 + 2 * (3 * 3) + 4 * (11 * 11)));
}

TEST(MovementTest, AllSmallMatrices) {
  int64_t count = 0;
  for (int64_t n = 0; n <= 5 && !HasFailure(); ++n) {
    for (int64_t m = 0; m <= 5 && !HasFailure(); ++m) {
      count += CheckAllPairs(SmallMeshes(), {n, m});
    }
  }
  EXPECT_EQ(count, 36 * (85 * 85 + 1 + 2 * (4 * 4) + 4 * (19 * 19)));
}

// Uneven in more than one digit: two axes of 2 and 3 in all layouts.
TEST(MovementTest, AllVectorsOnTwoByThree) {
  std::vector<Mesh> meshes = {{{"a", 2}, {"b", 3}},
                              {{"b", 3}, {"a", 2}},
                              {{"a", 3}, {"b", 2}},
                              {{"c", 5}}};
  for (int64_t n = 0; n <= 13 && !HasFailure(); ++n) CheckAllPairs(meshes, {n});
}

// Three axes: fixed digits between free ones.
TEST(MovementTest, AllVectorsOnThreeAxes) {
  std::vector<Mesh> meshes = {{{"a", 2}, {"b", 2}, {"c", 2}}};
  for (int64_t n : {1, 5, 7, 8, 11, 16}) {
    if (!HasFailure()) CheckAllPairs(meshes, {n});
  }
}

Mesh RandomMesh(std::mt19937_64& random) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  Mesh mesh;
  size_t axes = random() % 5;
  for (size_t i = 0; i < axes; ++i) {
    mesh.push_back({names[i], static_cast<int64_t>(1 + random() % 4)});
  }
  std::shuffle(mesh.begin(), mesh.end(), random);
  return mesh;
}

Layout RandomLayout(std::mt19937_64& random, const Mesh& mesh,
                    const std::vector<int64_t>& shape) {
  Layout layout;
  layout.shape = shape;
  layout.dims.resize(shape.size());
  Mesh axes = mesh;
  std::shuffle(axes.begin(), axes.end(), random);
  for (const Axis& axis : axes) {
    size_t use = random() % (shape.size() + 3);
    if (use < shape.size()) {
      layout.dims[use].push_back(axis.name);
    } else if (use == shape.size()) {
      layout.partial.push_back(axis.name);
      layout.reduction = Reduction::kMax;
    }
  }
  return layout;
}

TEST(MovementTest, RandomMovements) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < SampleSize(600, 3000) && !HasFailure(); ++i) {
    std::vector<int64_t> shape(random() % 4);
    for (int64_t& extent : shape) {
      extent = static_cast<int64_t>(random() % 10);
    }
    Mesh source_mesh = RandomMesh(random);
    bool same_slice = random() % 2 == 0;
    Mesh destination_mesh = same_slice ? source_mesh : RandomMesh(random);
    Sharded source(source_mesh, RandomLayout(random, source_mesh, shape));
    Sharded destination(destination_mesh,
                        RandomLayout(random, destination_mesh, shape));
    EXPECT_TRUE(
        CheckMovement(source, SourceBuffers(source), destination, same_slice))
        << Describe(source, destination, same_slice) << " seed " << seed;
  }
}

TEST(MovementTest, ReductionDoesNotChangePieces) {
  Mesh mesh = {{"a", 2}, {"b", 2}};
  Layout source{{4}, {{"a"}}, {"b"}, Reduction::kAdd};
  Layout destination{{4}, {{"b"}}, {}, Reduction::kNone};
  Movement add;
  std::string error;
  ASSERT_TRUE(
      Movement::Create(source, mesh, destination, mesh, true, &add, &error));
  for (Reduction reduction :
       {Reduction::kMul, Reduction::kMax, Reduction::kMin}) {
    source.reduction = reduction;
    Movement other;
    ASSERT_TRUE(Movement::Create(source, mesh, destination, mesh, true, &other,
                                 &error));
    for (int64_t shard = 0; shard < 4; ++shard) {
      EXPECT_EQ(add.PiecesInto(shard), other.PiecesInto(shard));
    }
  }
}

Movement Make(const Layout& source, const Mesh& source_mesh,
              const Layout& destination, const Mesh& destination_mesh,
              bool same_slice) {
  Movement movement;
  std::string error;
  EXPECT_TRUE(Movement::Create(source, source_mesh, destination,
                               destination_mesh, same_slice, &movement, &error))
      << error;
  return movement;
}

TEST(MovementTest, OwnCopyFirst) {
  Mesh mesh = {{"a", 2}, {"b", 2}};
  Layout copies = Split({4}, {{}});
  Movement same = Make(copies, mesh, copies, mesh, /*same_slice=*/true);
  Movement cross = Make(copies, mesh, copies, mesh, /*same_slice=*/false);
  for (int64_t shard = 0; shard < 4; ++shard) {
    ASSERT_EQ(same.PiecesInto(shard).size(), 1u);
    EXPECT_EQ(same.PiecesInto(shard)[0].source, shard);
    ASSERT_EQ(cross.PiecesInto(shard).size(), 1u);
    EXPECT_EQ(cross.PiecesInto(shard)[0].source, 0);
  }
  EXPECT_EQ(cross.NumPiecesFrom(0), 4);
  EXPECT_EQ(cross.NumPiecesFrom(1), 0);
}

// The sizes below would not end in a test's time, or fit in memory, if any of
// these looked at all pairs of shards or at all elements.
TEST(MovementTest, ResultsFollowThePiecesNotTheShards) {
  const int64_t n = 4096;
  Mesh mesh = {{"a", n}};
  Layout rows = Split({n * 16, n * 16}, {{"a"}, {}});
  Layout columns = Split({n * 16, n * 16}, {{}, {"a"}});
  Movement stay = Make(rows, mesh, rows, mesh, false);
  Movement turn = Make(rows, mesh, columns, mesh, false);
  for (int64_t shard = 0; shard < n; ++shard) {
    ASSERT_EQ(stay.PiecesInto(shard).size(), 1u);
    ASSERT_EQ(stay.PiecesFrom(shard).size(), 1u);
    ASSERT_EQ(turn.NumPiecesInto(shard), n);
    ASSERT_EQ(turn.NumPiecesFrom(shard), n);
  }
  EXPECT_EQ(turn.PiecesInto(n - 1).size(), static_cast<size_t>(n));
  EXPECT_EQ(turn.PiecesFrom(n - 1).size(), static_cast<size_t>(n));
}

TEST(MovementTest, LargestMeshAndArray) {
  Mesh mesh = {{"a", 1 << 12}, {"b", 1 << 12}};
  ASSERT_EQ(NumShards(mesh), kMaxShards);
  Layout source = Split({kMaxElements}, {{"a"}});
  Layout destination = Split({kMaxElements}, {{"a", "b"}});
  Movement same = Make(source, mesh, destination, mesh, true);
  Movement cross = Make(source, mesh, destination, mesh, false);
  // Each copy of a block sends to itself alone, whatever number of others
  // would have to be skipped.
  for (int64_t shard : {int64_t{0}, int64_t{4097}, kMaxShards - 1}) {
    ASSERT_EQ(same.PiecesFrom(shard).size(), 1u);
    EXPECT_EQ(same.PiecesFrom(shard)[0].destination, shard);
    EXPECT_EQ(same.NumPiecesFrom(shard), 1);
    EXPECT_EQ(same.PiecesInto(shard)[0].source, shard);
  }
  EXPECT_EQ(cross.NumPiecesFrom(0), 1 << 12);
  EXPECT_EQ(cross.NumPiecesFrom(1), 0);
  Layout swapped = Split({kMaxElements}, {{"b", "a"}});
  Movement minor = Make(Split({kMaxElements}, {{}}), mesh, swapped, mesh, true);
  EXPECT_EQ(minor.NumPiecesFrom(kMaxShards - 1), 1);
  ASSERT_EQ(minor.PiecesFrom(kMaxShards - 1).size(), 1u);
  EXPECT_EQ(minor.PiecesFrom(kMaxShards - 1)[0].destination, kMaxShards - 1);
}

std::string CreateError(const Layout& source, const Mesh& source_mesh,
                        const Layout& destination, const Mesh& destination_mesh,
                        bool same_slice) {
  Movement movement;
  std::string error;
  EXPECT_FALSE(Movement::Create(source, source_mesh, destination,
                                destination_mesh, same_slice, &movement,
                                &error));
  return error;
}

TEST(MovementTest, ErrorsNameBothSides) {
  Mesh mesh = {{"a", 2}};
  EXPECT_EQ(
      CreateError(Split({4}, {{}}), mesh, Split({4, 1}, {{}, {}}), mesh, false),
      "source has shape [4], destination has shape [4, 1]");
  EXPECT_EQ(
      CreateError(Split({4}, {{}}), mesh, Split({4}, {{}}), {{"a", 3}}, true),
      "source has mesh <\"a\" = 2>, destination has mesh <\"a\" = 3>, "
      "expected equal meshes on one slice");
  EXPECT_EQ(
      CreateError(Split({4}, {{"z"}}), mesh, Split({4}, {{}}), mesh, false),
      "source: axis 'z' of dimension 0 is not in mesh <\"a\" = 2>");
  EXPECT_EQ(
      CreateError(Split({4}, {{}}), mesh, Split({4}, {}), mesh, false),
      "destination: the layout splits 0 dimensions, but the array has rank 1");
  EXPECT_EQ(
      CreateError(Split({4}, {{}}), {{"a", 0}}, Split({4}, {{}}), mesh, false),
      "source: axis 'a' has size 0, expected at least 1");
  EXPECT_EQ(
      CreateError(Split({4}, {{}}), mesh, Split({4}, {{}}), {{"", 1}}, false),
      "destination: axis 0 of the mesh has no name");
}

}  // namespace
}  // namespace pathways::layout
