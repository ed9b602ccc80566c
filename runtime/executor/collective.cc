//===- collective.cc - The arithmetic of collectives ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/collective.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/base/narrow_float.h"

namespace pathways {
namespace {

// As arith.maximumf and arith.minimumf: NaN wins, and -0 < +0.
template <typename T>
T Max(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

template <typename T>
T Min(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}

template <typename T>
T Apply(proto::ReductionKind kind, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U =
        std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
    if (kind == proto::ADD) return static_cast<T>(U(a) + U(b));
    if (kind == proto::MUL) return static_cast<T>(U(a) * U(b));
  } else {
    if (kind == proto::ADD) return a + b;
    if (kind == proto::MUL) return a * b;
  }
  return kind == proto::MAX ? Max(a, b) : Min(a, b);
}

template <typename T>
void AccumulateAs(proto::ReductionKind kind, int64_t count, const char* from,
                  char* into) {
  const T* source = reinterpret_cast<const T*>(from);
  T* target = reinterpret_cast<T*>(into);
  // One loop per operation, so that each becomes vector code.
  switch (kind) {
    case proto::ADD:
      for (int64_t i = 0; i < count; ++i)
        target[i] = Apply<T>(proto::ADD, target[i], source[i]);
      return;
    case proto::MUL:
      for (int64_t i = 0; i < count; ++i)
        target[i] = Apply<T>(proto::MUL, target[i], source[i]);
      return;
    default:
      for (int64_t i = 0; i < count; ++i)
        target[i] = Apply<T>(kind, target[i], source[i]);
  }
}

template <typename From, typename To>
void AccumulateNarrow(proto::ReductionKind kind, int64_t count,
                      const char* from, char* into, From widen, To narrow) {
  const uint16_t* source = reinterpret_cast<const uint16_t*>(from);
  uint16_t* target = reinterpret_cast<uint16_t*>(into);
  for (int64_t i = 0; i < count; ++i) {
    target[i] = narrow(Apply<float>(kind, widen(target[i]), widen(source[i])));
  }
}

// i1 is unsigned: add is exclusive or, as arith.addi; max is or, min is and.
void AccumulateBits(proto::ReductionKind kind, int64_t count, const char* from,
                    char* into) {
  for (int64_t i = 0; i < count; ++i) {
    const char a = into[i] & 1, b = from[i] & 1;
    into[i] = kind == proto::ADD ? a ^ b : kind == proto::MAX ? a | b : a & b;
  }
}

template <typename T>
void FillWith(int64_t count, char* data, T value) {
  std::fill_n(reinterpret_cast<T*>(data), count, value);
}

template <typename T>
T Identity(proto::ReductionKind kind) {
  if (kind == proto::MUL) return T(1);
  using Limits = std::numeric_limits<T>;
  if (kind == proto::MAX)
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (kind == proto::MIN)
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return T(0);
}

// Copies the box of `extent` between two dense arrays without allocating.
void CopyBlock(const std::vector<int64_t>& from_shape, int64_t from_dim,
               int64_t from_offset, const char* from,
               const std::vector<int64_t>& to_shape, int64_t to_dim,
               int64_t to_offset, char* to, int64_t element_bytes) {
  // The block: full in every dimension but from_dim (where it is cut) and
  // to_dim (where it is placed).
  constexpr size_t kMaxRank = 64;
  const size_t rank = from_shape.size();
  if (rank == 0 || rank > kMaxRank) {
    if (rank == 0) std::memcpy(to, from, element_bytes);
    return;
  }
  int64_t extent[kMaxRank], index[kMaxRank] = {};
  for (size_t d = 0; d < rank; ++d) {
    const int64_t f = static_cast<int64_t>(d) == from_dim ? from_offset : 0;
    const int64_t t = static_cast<int64_t>(d) == to_dim ? to_offset : 0;
    extent[d] = std::min(from_shape[d] - f, to_shape[d] - t);
    if (extent[d] <= 0) return;
  }
  const size_t inner = rank - 1;
  while (true) {
    int64_t f = 0, t = 0;
    for (size_t d = 0; d < rank; ++d) {
      f = f * from_shape[d] + index[d] +
          (static_cast<int64_t>(d) == from_dim ? from_offset : 0);
      t = t * to_shape[d] + index[d] +
          (static_cast<int64_t>(d) == to_dim ? to_offset : 0);
    }
    std::memcpy(to + t * element_bytes, from + f * element_bytes,
                extent[inner] * element_bytes);
    size_t d = inner;
    while (d > 0 && ++index[d - 1] == extent[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

// Number of elements that one rank's block has along `dim` when `shape` is cut
// in `size` blocks.
int64_t Block(const std::vector<int64_t>& shape, int64_t dim, int64_t size) {
  return dim < static_cast<int64_t>(shape.size())
             ? (shape[dim] + size - 1) / size
             : 0;
}

}  // namespace

void Accumulate(proto::ReductionKind kind, proto::ElementType element,
                int64_t count, const char* from, char* into) {
  switch (element) {
    case proto::F32:
      return AccumulateAs<float>(kind, count, from, into);
    case proto::F64:
      return AccumulateAs<double>(kind, count, from, into);
    case proto::I8:
      return AccumulateAs<int8_t>(kind, count, from, into);
    case proto::I32:
      return AccumulateAs<int32_t>(kind, count, from, into);
    case proto::I64:
      return AccumulateAs<int64_t>(kind, count, from, into);
    case proto::I1:
      return AccumulateBits(kind, count, from, into);
    case proto::F16:
      return AccumulateNarrow(kind, count, from, into, FromF16, ToF16);
    case proto::BF16:
      return AccumulateNarrow(kind, count, from, into, FromBF16, ToBF16);
    default:
      return;
  }
}

void FillIdentity(proto::ReductionKind kind, proto::ElementType element,
                  int64_t count, char* data) {
  switch (element) {
    case proto::F32:
      return FillWith(count, data, Identity<float>(kind));
    case proto::F64:
      return FillWith(count, data, Identity<double>(kind));
    case proto::I8:
      return FillWith(count, data, Identity<int8_t>(kind));
    case proto::I32:
      return FillWith(count, data, Identity<int32_t>(kind));
    case proto::I64:
      return FillWith(count, data, Identity<int64_t>(kind));
    case proto::I1:
      return FillWith<int8_t>(count, data,
                              kind == proto::MUL || kind == proto::MIN);
    case proto::F16:
      return FillWith(count, data, ToF16(Identity<float>(kind)));
    case proto::BF16:
      return FillWith(count, data, ToBF16(Identity<float>(kind)));
    default:
      return;
  }
}

void CombineCollective(const CollectiveShape& shape, int64_t rank,
                       const char* const* contributions, char* result) {
  const int64_t bytes = shape.element_bytes;
  const int64_t result_bytes = Elements(shape.result) * bytes;
  if (result_bytes == 0) return;
  switch (shape.kind) {
    case proto::ALL_REDUCE:
      std::memcpy(result, contributions[0], result_bytes);
      for (int64_t r = 1; r < shape.size; ++r) {
        Accumulate(shape.reduction, shape.element, Elements(shape.result),
                   contributions[r], result);
      }
      return;
    case proto::ALL_GATHER: {
      const int64_t block =
          shape.dim < static_cast<int64_t>(shape.source.size())
              ? shape.source[shape.dim]
              : 0;
      for (int64_t r = 0; r < shape.size; ++r) {
        CopyBlock(shape.source, -1, 0, contributions[r], shape.result,
                  shape.dim, r * block, result, bytes);
      }
      return;
    }
    case proto::REDUCE_SCATTER: {
      const int64_t block = Block(shape.source, shape.dim, shape.size);
      // Row by row: the blocks of `dim` are not contiguous in the source.
      int64_t outer = 1, inner = bytes;
      for (size_t d = 0; d < shape.source.size(); ++d) {
        if (static_cast<int64_t>(d) < shape.dim) outer *= shape.source[d];
        if (static_cast<int64_t>(d) > shape.dim) inner *= shape.source[d];
      }
      const int64_t begin = rank * block;
      const int64_t count =
          std::clamp<int64_t>(shape.source[shape.dim] - begin, 0, block);
      if (count < block) std::memset(result, 0, result_bytes);
      for (int64_t o = 0; o < outer && count > 0; ++o) {
        const int64_t from = (o * shape.source[shape.dim] + begin) * inner;
        char* to = result + o * shape.result[shape.dim] * inner;
        std::memcpy(to, contributions[0] + from, count * inner);
        for (int64_t r = 1; r < shape.size; ++r) {
          Accumulate(shape.reduction, shape.element, count * inner / bytes,
                     contributions[r] + from, to);
        }
      }
      return;
    }
    case proto::ALL_TO_ALL: {
      // Rank r cuts its source along dim; its block number `rank` comes here,
      // at place r along concat_dim.
      const int64_t cut = Block(shape.source, shape.dim, shape.size);
      if (shape.source[shape.dim] % shape.size != 0) {
        std::memset(result, 0, result_bytes);
      }
      const int64_t place =
          shape.dim == shape.concat_dim ? cut : shape.source[shape.concat_dim];
      if (shape.dim == shape.concat_dim) {
        // The block is as long as `cut`, not as the rest of the array.
        int64_t outer = 1, inner = bytes;
        for (size_t d = 0; d < shape.source.size(); ++d) {
          if (static_cast<int64_t>(d) < shape.dim) outer *= shape.source[d];
          if (static_cast<int64_t>(d) > shape.dim) inner *= shape.source[d];
        }
        const int64_t from_begin = rank * cut;
        const int64_t available =
            std::clamp<int64_t>(shape.source[shape.dim] - from_begin, 0, cut);
        for (int64_t r = 0; r < shape.size; ++r) {
          const int64_t count =
              std::min(available,
                       std::max<int64_t>(0, shape.result[shape.dim] - r * cut));
          for (int64_t o = 0; o < outer && count > 0; ++o) {
            std::memcpy(
                result + (o * shape.result[shape.dim] + r * cut) * inner,
                contributions[r] +
                    (o * shape.source[shape.dim] + from_begin) * inner,
                count * inner);
          }
        }
        return;
      }
      for (int64_t r = 0; r < shape.size; ++r) {
        CopyBlock(shape.source, shape.dim, rank * cut, contributions[r],
                  shape.result, shape.concat_dim, r * place, result, bytes);
      }
      return;
    }
    case proto::PERMUTE: {
      int64_t from;
      if (shape.wrap) {
        const int64_t shift =
            (shape.shift % shape.size + shape.size) % shape.size;
        from = (rank - shift + shape.size) % shape.size;
      } else if (shape.shift > shape.size || shape.shift < -shape.size) {
        from = -1;
      } else {
        from = rank - shape.shift;
      }
      if (from < 0 || from >= shape.size) {
        std::memset(result, 0, result_bytes);
      } else {
        std::memcpy(result, contributions[from], result_bytes);
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace pathways
