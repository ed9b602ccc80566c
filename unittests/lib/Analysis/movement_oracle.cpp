//===- movement_oracle.cpp - Naive execution of movement steps ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "movement_oracle.h"

#include <algorithm>
#include <functional>
#include <map>

namespace mlir::pathways::oracle {

using Index = std::vector<int64_t>;

/// Calls `visit` with each index of an array of `shape`, in row-major order.
static void forEach(const Index &shape,
                    const std::function<void(const Index &)> &visit) {
  Index at(shape.size(), 0);
  for (int64_t size : shape)
    if (size == 0)
      return;
  while (true) {
    visit(at);
    size_t dim = shape.size();
    while (dim > 0 && ++at[dim - 1] == shape[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

static int64_t flatten(const Index &shape, const Index &at) {
  int64_t flat = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    flat = flat * shape[dim] + at[dim];
  return flat;
}

static size_t axisOf(MeshAttr mesh, Attribute name) {
  for (size_t axis = 0; axis < mesh.getNames().size(); ++axis)
    if (mesh.getNames()[axis] == name)
      return axis;
  return mesh.getNames().size();
}

static Index coordinatesIn(MeshAttr mesh, int64_t shard) {
  Index at(mesh.getSizes().size());
  for (size_t axis = at.size(); axis-- > 0;) {
    at[axis] = shard % mesh.getSizes()[axis];
    shard /= mesh.getSizes()[axis];
  }
  return at;
}

/// Returns the number of the block at these coordinates on `axes`, and the
/// number of blocks.
template <typename Axes>
static std::pair<int64_t, int64_t> blockAt(MeshAttr mesh, const Index &at,
                                           const Axes &axes) {
  int64_t number = 0, count = 1;
  for (Attribute name : axes) {
    size_t axis = axisOf(mesh, name);
    number = number * mesh.getSizes()[axis] + at[axis];
    count *= mesh.getSizes()[axis];
  }
  return {number, count};
}

static std::vector<Shard> makeShards(MeshAttr mesh, const Index &shape,
                                     ShardingAttr sharding,
                                     uint64_t contributions) {
  std::vector<Shard> shards;
  for (int64_t number = 0; number < mesh.getNumShards(); ++number) {
    Index at = coordinatesIn(mesh, number), begin;
    Shard shard;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      auto [block, count] = blockAt(mesh, at, sharding.getDims()[dim]);
      shard.shape.push_back((shape[dim] + count - 1) / count);
      begin.push_back(block * shard.shape.back());
    }
    uint64_t has = contributions;
    if (sharding.isPartial())
      has = uint64_t{1} << blockAt(mesh, at, sharding.getPartialAxes()).first;
    forEach(shard.shape, [&](const Index &index) {
      Index global = index;
      bool isInside = true;
      for (size_t dim = 0; dim < shape.size(); ++dim)
        isInside &= (global[dim] += begin[dim]) < shape[dim];
      shard.cells.push_back(isInside ? Cell{flatten(shape, global), has}
                                     : Cell{});
    });
    shards.push_back(std::move(shard));
  }
  return shards;
}

Array::Array(MeshAttr mesh, llvm::ArrayRef<int64_t> shape,
             ShardingAttr sharding, uint64_t contributions)
    : mesh(mesh), shape(shape.begin(), shape.end()),
      shards(makeShards(mesh, this->shape, sharding, contributions)) {}

uint64_t Array::getAll(MeshAttr mesh, ShardingAttr sharding) {
  Index origin(mesh.getSizes().size(), 0);
  int64_t count = blockAt(mesh, origin, sharding.getPartialAxes()).second;
  return (uint64_t{1} << count) - 1;
}

std::vector<int64_t> Array::groupOf(int64_t shard,
                                    llvm::ArrayRef<Attribute> axes) const {
  Index own = coordinatesIn(mesh, shard);
  std::vector<int64_t> group(blockAt(mesh, own, axes).second, -1);
  for (int64_t other = 0; other < mesh.getNumShards(); ++other) {
    Index at = coordinatesIn(mesh, other);
    bool isMember = true;
    for (size_t axis = 0; axis < at.size(); ++axis)
      isMember &= at[axis] == own[axis] ||
                  llvm::is_contained(axes, Attribute(mesh.getNames()[axis]));
    if (isMember)
      group[blockAt(mesh, at, axes).first] = other;
  }
  return group;
}

/// Returns `parts` concatenated along `dim`.
static Shard concatenate(const std::vector<Shard> &parts, int64_t dim) {
  Shard whole = parts.front();
  whole.shape[dim] *= parts.size();
  whole.cells.clear();
  forEach(whole.shape, [&](const Index &index) {
    Index inner = index;
    int64_t size = parts.front().shape[dim];
    inner[dim] %= size;
    const Shard &part = parts[index[dim] / size];
    whole.cells.push_back(part.cells[flatten(part.shape, inner)]);
  });
  return whole;
}

/// Returns `size` elements of `shard` along `dim`, from `begin` on; without
/// cells if they are not inside.
static Shard cut(const Shard &shard, int64_t dim, int64_t begin, int64_t size) {
  Shard part = shard;
  part.shape[dim] = size;
  part.cells.clear();
  if (begin + size > shard.shape[dim])
    return part;
  forEach(part.shape, [&](const Index &index) {
    Index inner = index;
    inner[dim] += begin;
    part.cells.push_back(shard.cells[flatten(shard.shape, inner)]);
  });
  return part;
}

std::string Array::collect(const MovementStep &step, Moved *moved) {
  std::vector<Shard> before = shards;
  for (int64_t number = 0; number < mesh.getNumShards(); ++number) {
    std::vector<int64_t> group = groupOf(number, step.axes);
    int64_t rank = blockAt(mesh, coordinatesIn(mesh, number), step.axes).first;
    int64_t ranks = group.size(), received = 0;
    std::vector<Shard> parts;
    for (int64_t member : group) {
      Shard part = before[member];
      if (step.kind == MovementStep::AllToAll) {
        if (part.shape[step.split] % ranks != 0)
          return "cannot be split";
        int64_t size = part.shape[step.split] / ranks;
        part = cut(part, step.split, rank * size, size);
      }
      if (member != number)
        received += part.cells.size();
      parts.push_back(std::move(part));
    }
    Shard &shard = shards[number];
    if (step.kind == MovementStep::Slice) {
      if (shard.shape[step.dim] % ranks != 0)
        return "cannot be sliced";
      int64_t size = shard.shape[step.dim] / ranks;
      shard = cut(shard, step.dim, rank * size, size);
      continue;
    }
    moved->elements += received;
    moved->most = std::max(moved->most, received);
    shard = concatenate(parts, step.dim);
    // Blocks may have padding after the last element.
    if (step.to.getDims()[step.dim].empty() &&
        step.kind == MovementStep::AllGather)
      shard = cut(shard, step.dim, 0, shape[step.dim]);
  }
  return "";
}

std::string Array::reduce(const MovementStep &step, Moved *moved) {
  std::vector<Shard> before = shards;
  for (int64_t number = 0; number < mesh.getNumShards(); ++number) {
    std::vector<int64_t> group = groupOf(number, step.axes);
    Shard sum = before[group.front()];
    for (size_t rank = 1; rank < group.size(); ++rank)
      for (size_t i = 0; i < sum.cells.size(); ++i) {
        const Cell &cell = before[group[rank]].cells[i];
        if (cell.element != sum.cells[i].element)
          return "adds different elements";
        if (cell.contributions & sum.cells[i].contributions)
          return "adds a contribution twice";
        sum.cells[i].contributions |= cell.contributions;
      }
    int64_t ranks = group.size(), elements = sum.cells.size();
    if (step.kind == MovementStep::ReduceScatter) {
      if (sum.shape[step.dim] % ranks != 0)
        return "cannot be scattered";
      int64_t size = sum.shape[step.dim] / ranks;
      int64_t rank =
          blockAt(mesh, coordinatesIn(mesh, number), step.axes).first;
      sum = cut(sum, step.dim, rank * size, size);
      // Each rank receives its part of the block from every other one.
      int64_t received = (ranks - 1) * sum.cells.size();
      moved->elements += received;
      moved->most = std::max(moved->most, received);
    } else if (group.front() == number) {
      // All send to one of them, which sends the result back.
      moved->elements += 2 * (ranks - 1) * elements;
    }
    shards[number] = std::move(sum);
  }
  return "";
}

std::string Array::sendPieces(const MovementStep &step, MeshAttr target,
                              Moved *moved) {
  std::vector<Shard> wanted =
      makeShards(step.crosses ? target : mesh, shape, step.to, 0);
  std::vector<Shard> before = std::move(shards);
  auto isCopyAxis = [&](size_t axis) {
    return llvm::none_of(step.from.getDims(), [&](ArrayAttr axes) {
      return llvm::is_contained(axes, Attribute(mesh.getNames()[axis]));
    });
  };
  for (size_t number = 0; number < wanted.size(); ++number) {
    // Finds the shard that has it at the same place among the copies, otherwise
    // the first shard that has it.
    std::map<int64_t, std::pair<int64_t, Cell>> sources;
    for (size_t other = 0; other < before.size(); ++other) {
      Index at = coordinatesIn(mesh, other);
      bool isNear = true;
      for (size_t axis = 0; !step.crosses && axis < at.size(); ++axis)
        isNear &=
            !isCopyAxis(axis) || at[axis] == coordinatesIn(mesh, number)[axis];
      for (const Cell &cell : before[other].cells)
        if (isNear && cell.element >= 0)
          sources.try_emplace(cell.element, other, cell);
    }
    int64_t received = 0;
    for (Cell &cell : wanted[number].cells) {
      if (cell.element < 0)
        continue;
      auto source = sources.find(cell.element);
      if (source == sources.end())
        return "nobody has an element";
      cell = source->second.second;
      if (step.crosses || source->second.first != static_cast<int64_t>(number))
        ++received;
    }
    moved->elements += received;
    moved->most = std::max(moved->most, received);
  }
  shards = std::move(wanted);
  if (step.crosses)
    mesh = target;
  return "";
}

std::string Array::apply(const MovementStep &step, MeshAttr target,
                         Moved *moved) {
  switch (step.kind) {
  case MovementStep::Slice:
  case MovementStep::AllGather:
  case MovementStep::AllToAll:
    return collect(step, moved);
  case MovementStep::ReduceScatter:
  case MovementStep::AllReduce:
    return reduce(step, moved);
  case MovementStep::Pieces:
    return sendPieces(step, target, moved);
  case MovementStep::Permute:
    break;
  }
  // The shard at the swapped coordinates has the block; all shards shift until
  // each has its own.
  std::vector<Shard> before = shards;
  size_t a = axisOf(mesh, step.axes[0]), b = axisOf(mesh, step.axes[1]);
  int64_t size = mesh.getSizes()[a];
  if (size != mesh.getSizes()[b])
    return "swaps axes of different sizes";
  for (int64_t number = 0; number < mesh.getNumShards(); ++number) {
    Index own = coordinatesIn(mesh, number), at;
    std::swap(own[a], own[b]);
    for (int64_t other = 0; other < mesh.getNumShards(); ++other)
      if ((at = coordinatesIn(mesh, other)) == own)
        shards[number] = before[other];
    int64_t received = 2 * (size - 1) * before[number].cells.size();
    moved->elements += received;
    moved->most = std::max(moved->most, received);
  }
  return "";
}

} // namespace mlir::pathways::oracle
