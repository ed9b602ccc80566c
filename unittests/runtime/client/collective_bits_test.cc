//===- collective_bits_test.cc - Collectives to the last bit --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups of all sizes and shapes, wherever their shards are, against the rules
// of docs/plan-format.md, "Reductions", done here once more, scalar by scalar.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "runtime/base/narrow_float.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

constexpr int64_t kSteps = 3;

struct Case {
  std::string topology;
  std::vector<int64_t> mesh;    // sizes of axes "a", "b", ...
  std::vector<int> axes;        // of the groups, as named
  std::vector<int64_t> device;  // device of each shard, on the island
  proto::CollectiveKind kind = proto::ALL_REDUCE;
  proto::ReductionKind reduction = proto::ADD;
  proto::ElementType element = proto::F32;
  int64_t count = 1;  // elements of a contribution, over the size of a group
  int64_t shift = 0;  // modulo the size of a group, it is the root
  bool has_pairs = false;  // a permute: not by shift
};

std::string AxisName(int axis) { return std::string(1, 'a' + axis); }

int64_t Product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<int64_t>());
}

// Members of each group, by rank.
std::vector<std::vector<int64_t>> GroupsOf(const Case& c) {
  const int64_t shards = Product(c.mesh);
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> groups;
  for (int64_t shard = 0; shard < shards; ++shard) {
    std::vector<int64_t> at(c.mesh.size());
    int64_t left = shard;
    for (size_t i = c.mesh.size(); i-- > 0;) {
      at[i] = left % c.mesh[i];
      left /= c.mesh[i];
    }
    int64_t rank = 0;
    for (int axis : c.axes) {
      rank = rank * c.mesh[axis] + at[axis];
      at[axis] = 0;
    }
    int64_t group = 0;
    for (size_t i = 0; i < at.size(); ++i) group = group * c.mesh[i] + at[i];
    groups[group].emplace_back(rank, shard);
  }
  std::vector<std::vector<int64_t>> members;
  for (auto& [first, ranks] : groups) {
    std::sort(ranks.begin(), ranks.end());
    members.emplace_back();
    for (const auto& [rank, shard] : ranks) members.back().push_back(shard);
  }
  return members;
}

double Once(proto::ReductionKind kind, proto::ElementType element, double a,
            double b) {
  if (kind == proto::MAX || kind == proto::MIN) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) {
      return (kind == proto::MAX) == std::signbit(a) ? b : a;
    }
    return (kind == proto::MAX) == (a > b) ? a : b;
  }
  if (element == proto::F64) return kind == proto::ADD ? a + b : a * b;
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  return kind == proto::ADD ? x + y : x * y;
}

double Along(proto::ReductionKind kind, proto::ElementType element,
             const std::vector<double>& values, size_t begin, size_t end) {
  if (end - begin == 1) return values[begin];
  size_t power = 1;
  while (2 * power < end - begin) power *= 2;
  return Once(kind, element, Along(kind, element, values, begin, begin + power),
              Along(kind, element, values, begin + power, end));
}

double Reduce(const Case& c, std::vector<double> values) {
  for (size_t i = c.axes.size(); i-- > 0;) {
    const size_t size = c.mesh[c.axes[i]];
    std::vector<double> next;
    for (size_t k = 0; k < values.size(); k += size) {
      next.push_back(Along(c.reduction, c.element, values, k, k + size));
    }
    values = std::move(next);
  }
  return values[0];
}

size_t Bytes(proto::ElementType element) {
  return element == proto::F64 ? 8 : element == proto::F32 ? 4 : 2;
}
double Load(proto::ElementType element, const char* at) {
  uint16_t bits;
  float f;
  double d;
  switch (element) {
    case proto::F64:
      std::memcpy(&d, at, 8);
      return d;
    case proto::F32:
      std::memcpy(&f, at, 4);
      return f;
    default:
      std::memcpy(&bits, at, 2);
      return element == proto::F16 ? FromF16(bits) : FromBF16(bits);
  }
}
void Store(proto::ElementType element, double value, char* at) {
  const float f = static_cast<float>(value);
  const uint16_t bits = element == proto::F16 ? ToF16(f) : ToBF16(f);
  switch (element) {
    case proto::F64:
      std::memcpy(at, &value, 8);
      return;
    case proto::F32:
      std::memcpy(at, &f, 4);
      return;
    default:
      std::memcpy(at, &bits, 2);
  }
}

// Returns the member whose tensor rank r of a group gets in a permute or a
// broadcast. A number outside the group means none.
int64_t SenderTo(const Case& c, int64_t rank, int64_t size) {
  const int64_t root = (c.shift % size + size) % size;
  if (c.kind == proto::BROADCAST) return root;
  if (!c.has_pairs) return rank - c.shift;
  // Some send to several, and some get nothing.
  return rank % 3 == 2 ? -1 : (rank / 2 + root) % size;
}

// Returns the result of rank r in a group, flat, given what its members
// contribute.
std::vector<double> ResultOf(const Case& c, int64_t rank,
                             const std::vector<std::vector<double>>& in) {
  const auto size = static_cast<int64_t>(in.size());
  const auto length = static_cast<int64_t>(in[0].size());
  const int64_t block = length / size;
  std::vector<double> out;
  auto reduce = [&](int64_t i) {
    std::vector<double> values;
    for (const std::vector<double>& row : in) values.push_back(row[i]);
    return Reduce(c, std::move(values));
  };
  switch (c.kind) {
    case proto::ALL_REDUCE:
      for (int64_t i = 0; i < length; ++i) out.push_back(reduce(i));
      break;
    case proto::REDUCE_SCATTER:
      for (int64_t i = 0; i < block; ++i) {
        out.push_back(reduce(rank * block + i));
      }
      break;
    case proto::ALL_GATHER:
      for (const std::vector<double>& row : in) {
        out.insert(out.end(), row.begin(), row.end());
      }
      break;
    case proto::ALL_TO_ALL:
      for (const std::vector<double>& row : in) {
        out.insert(out.end(), row.begin() + rank * block,
                   row.begin() + (rank + 1) * block);
      }
      break;
    default:
      const int64_t from = SenderTo(c, rank, size);
      out.assign(length, 0);
      if (from >= 0 && from < size) out = in[from];
  }
  return out;
}

int64_t ResultLength(const Case& c, int64_t length, int64_t size) {
  return c.kind == proto::REDUCE_SCATTER ? length / size
         : c.kind == proto::ALL_GATHER   ? length * size
                                         : length;
}

proto::Plan PlanOf(const Case& c, int64_t length, int64_t result_length) {
  layout::Mesh mesh;
  std::vector<std::string> all;
  for (size_t i = 0; i < c.mesh.size(); ++i) {
    all.push_back(AxisName(static_cast<int>(i)));
    mesh.push_back({all.back(), c.mesh[i]});
  }
  auto cut = [&](int64_t size) {
    return Split({size * static_cast<int64_t>(c.device.size())}, {all});
  };
  ChainBuilder b({.name = "bits",
                  .slice = {.mesh = mesh, .devices = c.device},
                  .layout = cut(length),
                  .element = c.element});
  b.Feed("u", /*stepped=*/true).Gang("g", {.layout = cut(result_length)});
  proto::Collective* collective =
      AddCollective(b, b.last_action(), c.kind, AxisName(c.axes[0]));
  for (size_t i = 1; i < c.axes.size(); ++i) {
    collective->add_axes(AxisName(c.axes[i]));
  }
  if (c.kind == proto::ALL_REDUCE || c.kind == proto::REDUCE_SCATTER) {
    collective->set_reduction(c.reduction);
  }
  int64_t size = 1;
  for (int axis : c.axes) size *= c.mesh[axis];
  if (c.kind == proto::BROADCAST) {
    collective->set_root(SenderTo(c, 0, size));
  } else if (c.kind == proto::PERMUTE && c.has_pairs) {
    for (int64_t rank = 0; rank < size; ++rank) {
      const int64_t from = SenderTo(c, rank, size);
      if (from < 0) continue;
      collective->add_pairs(from);
      collective->add_pairs(rank);
    }
  } else {
    collective->set_shift(c.shift);
  }
  return b.Fetch("v", /*stepped=*/true).Finish();
}

class CollectiveBitsTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  CollectiveBitsTest() : seed_(std::random_device()()), random_(seed_) {}

  // Numbers whose sums depend on the order, and what is special.
  double Number(const Case& c) {
    if (random_() % 64 == 0) {
      const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 6e4};
      return special[random_() % 6];
    }
    if (random_() % 16 == 0) return random_() % 2 ? -0.0 : 1.0;
    std::normal_distribution<double> normal;
    return c.reduction == proto::MUL
               ? std::exp(normal(random_) / 4)
               : normal(random_) * std::exp2(int(random_() % 12) - 6);
  }

  void Check(const Case& c) {
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed_ << " mesh "
                 << ::testing::PrintToString(c.mesh) << " axes "
                 << ::testing::PrintToString(c.axes) << " on " << c.topology
                 << " kind " << c.kind << " reduction " << c.reduction
                 << " element " << c.element << " count " << c.count
                 << " devices " << ::testing::PrintToString(c.device));
    const std::vector<std::vector<int64_t>> groups = GroupsOf(c);
    const auto size = static_cast<int64_t>(groups[0].size());
    const auto shards = static_cast<int64_t>(c.device.size());
    const int64_t length = c.count * size;
    const int64_t result_length = ResultLength(c, length, size);
    const size_t bytes = Bytes(c.element);
    HostArray in;
    in.element = static_cast<ElementType>(c.element);
    in.shape = {kSteps, length * shards};
    in.data.resize(kSteps * length * shards * bytes);
    for (size_t i = 0; i < in.data.size(); i += bytes) {
      Store(c.element, Number(c), &in.data[i]);
    }
    ClusterOptions options;
    options.world = GetParam();
    if (options.world == ClusterOptions::kSim) {
      options = Sim(random_() % 1000 + 1);
      options.duplicate_probability = 0.2;
      options.reorder_probability = 0.2;
    }
    auto runtime = Start(c.topology, options);
    const ProgramHandle program =
        LoadPlan(*runtime, PlanOf(c, length, result_length));
    const RunHandle run = LaunchPlan(*runtime, program, {in}, kSteps);
    absl::StatusOr<HostArray> out = runtime->Fetch(run, "v");
    ASSERT_TRUE(out.ok()) << out.status();
    for (int64_t step = 0; step < kSteps; ++step) {
      for (const std::vector<int64_t>& group : groups) {
        std::vector<std::vector<double>> rows;
        for (int64_t shard : group) {
          rows.emplace_back();
          for (int64_t i = 0; i < length; ++i) {
            const int64_t at = (step * shards + shard) * length + i;
            rows.back().push_back(Load(c.element, &in.data[at * bytes]));
          }
        }
        for (int64_t rank = 0; rank < size; ++rank) {
          const std::vector<double> expected = ResultOf(c, rank, rows);
          for (int64_t i = 0; i < result_length; ++i) {
            const int64_t at =
                ((step * shards + group[rank]) * result_length + i) * bytes;
            char bits[8];
            Store(c.element, expected[i], bits);
            const double value = Load(c.element, bits);
            if (std::isnan(value) &&
                std::isnan(Load(c.element, &out->data[at]))) {
              continue;
            }
            ASSERT_EQ(std::memcmp(bits, &out->data[at], bytes), 0)
                << "step " << step << " shard " << group[rank] << " element "
                << i << ": " << Load(c.element, &out->data[at]) << ", expected "
                << value;
          }
        }
      }
    }
  }

  const unsigned seed_;
  std::mt19937 random_;
};
INSTANTIATE_TEST_SUITE_P(Worlds, CollectiveBitsTest, BothWorlds(), WorldName);

constexpr proto::ElementType kElements[] = {proto::F32, proto::F16, proto::BF16,
                                            proto::F64};
constexpr proto::CollectiveKind kKinds[] = {
    proto::ALL_REDUCE, proto::ALL_GATHER, proto::REDUCE_SCATTER,
    proto::ALL_TO_ALL, proto::PERMUTE,    proto::BROADCAST};

// Shard i on the device of its own, device i.
Case OneAxis(const std::string& topology, int64_t size) {
  Case c;
  c.topology = topology;
  c.mesh = {size};
  c.axes = {0};
  for (int64_t i = 0; i < size; ++i) c.device.push_back(i);
  return c;
}

TEST_P(CollectiveBitsTest, EverySizeOnOneHost) {
  for (int64_t size = 1; size <= 64; ++size) {
    // Several on a device, and one on each.
    Case c = OneAxis("1x1x5", size);
    for (int64_t& device : c.device) device %= 5;
    c.element = kElements[size % 4];
    c.count = 1 + size % 3;
    Check(c);
    c = OneAxis(absl::StrCat("1x1x", size), size);
    c.element = kElements[(size + 1) % 4];
    Check(c);
  }
}

TEST_P(CollectiveBitsTest, BlocksAndStridesOfHosts) {
#ifdef PATHWAYS_SANITIZED
  constexpr int64_t kMostHosts = 16;
#else
  constexpr int64_t kMostHosts = 64;
#endif
  for (int64_t hosts : {int64_t{6}, int64_t{7}, kMostHosts}) {
    for (int64_t block : {1, 3, 8}) {
      for (bool strided : {false, true}) {
        for (proto::CollectiveKind kind : kKinds) {
          if (hosts * block > 256 && kind != proto::ALL_REDUCE) continue;
          Case c =
              OneAxis(absl::StrCat("1x", hosts, "x", block), hosts * block);
          if (strided) {
            for (int64_t i = 0; i < hosts * block; ++i) {
              c.device[i] = i % hosts * block + i / hosts;
            }
          }
          c.kind = kind;
          c.element = kElements[random_() % 4];
          c.shift = static_cast<int64_t>(random_() % 9) - 4;
          c.has_pairs = random_() % 2 == 0;
          Check(c);
        }
      }
    }
  }
}

TEST_P(CollectiveBitsTest, AxesInEveryOrder) {
  std::vector<std::vector<int>> orders = {{0}, {1}, {2}};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      if (i != k) orders.push_back({i, k});
      if (i != k) orders.push_back({i, k, 3 - i - k});
    }
  }
  for (const std::vector<int>& axes : orders) {
    for (proto::CollectiveKind kind : kKinds) {
      Case c;
      c.topology = "1x3x4";
      c.mesh = {3, 2, 4};
      c.axes = axes;
      // Anywhere, some devices with several and some with none.
      for (int i = 0; i < 24; ++i) c.device.push_back(random_() % 12);
      c.kind = kind;
      c.reduction = static_cast<proto::ReductionKind>(1 + random_() % 4);
      c.element = kElements[random_() % 4];
      c.count = 1 + random_() % 5;
      c.shift = static_cast<int64_t>(random_() % 5) - 2;
      c.has_pairs = random_() % 2 == 0;
      Check(c);
    }
  }
}

// More than is combined by one device, or in one piece.
TEST_P(CollectiveBitsTest, LargeContributions) {
  for (const char* topology : {"1x1x6", "1x3x2", "1x6x1", "1x2x3"}) {
    for (proto::CollectiveKind kind : kKinds) {
      for (proto::ElementType element : {proto::F32, proto::BF16}) {
        Case c = OneAxis(topology, 6);
        std::shuffle(c.device.begin(), c.device.end(), random_);
        c.kind = kind;
        c.element = element;
        c.count = 3001;
        c.shift = 1;
        Check(c);
      }
    }
  }
}

// 512 ones in bf16, where 256 + 1 is 256.
TEST_P(CollectiveBitsTest, SumsOfNarrowFloatsDoNotStagnate) {
  Case c = OneAxis("1x64x8", 512);
  const proto::Plan plan = [&] {
    c.element = proto::BF16;
    return PlanOf(c, 1, 1);
  }();
  ClusterOptions options;
  options.world = GetParam();
  auto runtime = Start(c.topology, options);
  HostArray ones;
  ones.element = ElementType::kBF16;
  ones.shape = {1, 512};
  ones.data.resize(1024);
  for (size_t i = 0; i < 1024; i += 2) Store(c.element, 1, &ones.data[i]);
  const RunHandle run = LaunchPlan(*runtime, LoadPlan(*runtime, plan), {ones});
  absl::StatusOr<HostArray> out = runtime->Fetch(run, "v");
  ASSERT_TRUE(out.ok()) << out.status();
  for (size_t i = 0; i < 1024; i += 2) {
    ASSERT_EQ(Load(c.element, &out->data[i]), 512);
  }
}

}  // namespace
}  // namespace pathways::testing
