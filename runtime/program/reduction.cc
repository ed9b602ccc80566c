//===- reduction.cc - The arithmetic of reductions ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/reduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "runtime/base/narrow_float.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

// Bytes combined at a time, so that intermediate results stay in the cache.
constexpr int64_t kBlockBytes = 2048;

struct Add {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(U(a) + U(b)));
    } else {
      return a + b;
    }
  }
};
struct Mul {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      // For types narrower than int, the product would be an int that may
      // overflow.
      using U = std::conditional_t<(sizeof(T) < 4), uint32_t,
                                   std::make_unsigned_t<T>>;
      return static_cast<T>(U(a) * U(b));
    } else {
      return a * b;
    }
  }
};
struct Max {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
      if (a == b) return std::signbit(a) ? b : a;
    }
    return a < b ? b : a;
  }
};
struct Min {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
      if (a == b) return std::signbit(a) ? a : b;
    }
    return b < a ? b : a;
  }
};

struct And {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// An i1, of which only the last bit counts: addition is exclusive or.
struct Bit {
  uint8_t byte = 0;
};
template <typename Op>
Bit ApplyBits(Bit a, Bit b) {
  const uint8_t both = a.byte & b.byte & 1, any = (a.byte | b.byte) & 1;
  if constexpr (std::is_same_v<Op, Xor>) {
    return {static_cast<uint8_t>(both ^ any)};
  }
  return {std::is_same_v<Op, Or> ? any : both};
}

template <typename Op, typename T>
T Combine(T a, T b) {
  if constexpr (std::is_same_v<T, Bit>) {
    return ApplyBits<Op>(a, b);
  } else {
    return Op::template Apply<T>(a, b);
  }
}

// `__restrict`: without overlap, the loops become vector code.
template <typename Op, typename T>
void CombineTo(int64_t count, const T* __restrict left,
               const T* __restrict right, T* __restrict into) {
  for (int64_t i = 0; i < count; ++i) {
    into[i] = Combine<Op, T>(left[i], right[i]);
  }
}
template <typename Op, typename T>
void CombineInto(int64_t count, T* __restrict into, const T* __restrict right) {
  for (int64_t i = 0; i < count; ++i) {
    into[i] = Combine<Op, T>(into[i], right[i]);
  }
}

void Widen(proto::ElementType element, int64_t count,
           const uint16_t* __restrict from, float* __restrict to) {
  if (element == proto::F16) {
    for (int64_t i = 0; i < count; ++i) to[i] = FromF16(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = FromBF16(from[i]);
  }
}
void Narrow(proto::ElementType element, int64_t count,
            const float* __restrict from, uint16_t* __restrict to) {
  if (element == proto::F16) {
    for (int64_t i = 0; i < count; ++i) to[i] = ToF16(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = ToBF16(from[i]);
  }
}

bool IsNarrow(proto::ElementType element) {
  return WideElement(element) != element;
}

float Widen(proto::ElementType element, uint16_t from) {
  return element == proto::F16 ? FromF16(from) : FromBF16(from);
}
uint16_t Narrow(proto::ElementType element, float from) {
  return element == proto::F16 ? ToF16(from) : ToBF16(from);
}

// A single element, the common case of programs that do little else.
template <typename T, typename Op>
void ReduceOne(proto::ElementType element, bool widens, bool narrows,
               const Reduction& r) {
  T stack[layout::ReductionTree::kMaxDepth];
  size_t depth = 0;
  const size_t operands = r.order->operands.size();
  for (size_t i = 0; i < operands; ++i) {
    const char* operand = r.operands[r.order->operands[i]];
    T value = {};
    if constexpr (std::is_same_v<T, float>) {
      if (widens) {
        value =
            Widen(element,
                  reinterpret_cast<const uint16_t*>(operand)[r.operand_first]);
      }
    }
    if (!widens) value = reinterpret_cast<const T*>(operand)[r.operand_first];
    for (uint32_t c = r.order->combines[i]; c > 0; --c) {
      value = Combine<Op, T>(stack[--depth], value);
    }
    stack[depth++] = value;
  }
  for (size_t k = 0; k < r.num_results; ++k) {
    if constexpr (std::is_same_v<T, float>) {
      if (narrows) {
        reinterpret_cast<uint16_t*>(r.results[k])[r.result_first] =
            Narrow(element, stack[0]);
        continue;
      }
    }
    reinterpret_cast<T*>(r.results[k])[r.result_first] = stack[0];
  }
}

#ifdef __SSE2__
void StreamBytes(const char* from, size_t bytes, char* to) {
  constexpr size_t kLine = 64;
  size_t done = 0;
  if (reinterpret_cast<uintptr_t>(to) % sizeof(__m128i) == 0) {
    for (; done + kLine <= bytes; done += kLine) {
      for (size_t i = done; i < done + kLine; i += sizeof(__m128i)) {
        _mm_stream_si128(
            reinterpret_cast<__m128i*>(to + i),
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
      }
    }
  }
  std::memcpy(to + done, from + done, bytes - done);
}
// Makes the results visible to devices that are notified afterwards.
void EndStream() { _mm_sfence(); }
#else
void StreamBytes(const char* from, size_t bytes, char* to) {
  std::memcpy(to, from, bytes);
}
void EndStream() {}
#endif

// Combines a block of each operand at a time, with a stack of partial results
// that lie in the operands themselves or in `room`.
template <typename T, typename Op>
void ReduceAs(proto::ElementType element, const Reduction& r) {
  constexpr int64_t kBlock = kBlockBytes / sizeof(T);
  const bool widens = IsNarrow(element) && !r.wide_operands;
  const bool narrows = IsNarrow(element) && !r.wide_results;
  if (r.count == 1) return ReduceOne<T, Op>(element, widens, narrows, r);
  T room[layout::ReductionTree::kMaxDepth][kBlock];
  const T* stack[layout::ReductionTree::kMaxDepth];
  const size_t operands = r.order->operands.size();
  for (int64_t done = 0; done < r.count; done += kBlock) {
    const int64_t count = std::min(kBlock, r.count - done);
    const int64_t from = r.operand_first + done;
    const int64_t to = r.result_first + done;
    size_t depth = 0;
    for (size_t i = 0; i < operands; ++i) {
      const char* operand = r.operands[r.order->operands[i]];
      stack[depth] = reinterpret_cast<const T*>(operand) + from;
      if constexpr (std::is_same_v<T, float>) {
        if (widens) {
          Widen(element, count,
                reinterpret_cast<const uint16_t*>(operand) + from, room[depth]);
          stack[depth] = room[depth];
        }
      }
      ++depth;
      for (uint32_t c = r.order->combines[i]; c > 0; --c) {
        --depth;
        T* into = room[depth - 1];
        // The last combination writes directly to the result.
        if (i + 1 == operands && c == 1 && !narrows && !r.streams) {
          into = reinterpret_cast<T*>(r.results[0]) + to;
        }
        if (stack[depth - 1] == into) {
          CombineInto<Op, T>(count, into, stack[depth]);
        } else {
          CombineTo<Op, T>(count, stack[depth - 1], stack[depth], into);
        }
        stack[depth - 1] = into;
      }
    }
    for (size_t k = 0; k < r.num_results; ++k) {
      if constexpr (std::is_same_v<T, float>) {
        if (narrows) {
          Narrow(element, count, stack[0],
                 reinterpret_cast<uint16_t*>(r.results[k]) + to);
          continue;
        }
      }
      T* result = reinterpret_cast<T*>(r.results[k]) + to;
      if (r.streams) {
        StreamBytes(reinterpret_cast<const char*>(stack[0]), count * sizeof(T),
                    reinterpret_cast<char*>(result));
      } else if (result != stack[0]) {
        std::memcpy(result, stack[0], count * sizeof(T));
      }
    }
  }
  if (r.streams) EndStream();
}

using Function = void (*)(proto::ElementType, const Reduction&);

// Takes a float or a signed integer T.
template <typename T>
Function FunctionOfNumbers(proto::ReductionKind kind) {
  switch (kind) {
    case proto::ADD:
      return ReduceAs<T, Add>;
    case proto::MUL:
      return ReduceAs<T, Mul>;
    case proto::MAX:
      return ReduceAs<T, Max>;
    case proto::MIN:
      return ReduceAs<T, Min>;
    default:
      return nullptr;
  }
}

// Takes a signed integer T, also for the reductions of unsigned integers.
template <typename T>
Function FunctionOfIntegers(proto::ReductionKind kind) {
  using U = std::make_unsigned_t<T>;
  switch (kind) {
    case proto::UMAX:
      return ReduceAs<U, Max>;
    case proto::UMIN:
      return ReduceAs<U, Min>;
    case proto::AND:
      return ReduceAs<T, And>;
    case proto::OR:
      return ReduceAs<T, Or>;
    case proto::XOR:
      return ReduceAs<T, Xor>;
    default:
      return FunctionOfNumbers<T>(kind);
  }
}

Function FunctionOfBits(proto::ReductionKind kind) {
  switch (kind) {
    case proto::ADD:
    case proto::XOR:
      return ReduceAs<Bit, Xor>;
    case proto::MAX:
    case proto::UMAX:
    case proto::OR:
      return ReduceAs<Bit, Or>;
    case proto::MUL:
    case proto::MIN:
    case proto::UMIN:
    case proto::AND:
      return ReduceAs<Bit, And>;
    default:
      return nullptr;
  }
}

template <typename T>
T Identity(proto::ReductionKind kind) {
  if (kind == proto::MUL) return T(1);
  // All bits are set, as in the greatest unsigned number.
  if (kind == proto::UMIN || kind == proto::AND) return T(-1);
  using Limits = std::numeric_limits<T>;
  if (kind == proto::MAX)
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (kind == proto::MIN)
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return std::is_floating_point_v<T> ? -T(0) : T(0);
}

template <typename T>
void FillWith(int64_t count, char* data, T value) {
  std::fill_n(reinterpret_cast<T*>(data), count, value);
}

}  // namespace

void FillIdentity(proto::ReductionKind kind, proto::ElementType element,
                  int64_t count, char* data) {
  switch (KernelElement(element)) {
    case proto::F32:
      return FillWith(count, data, Identity<float>(kind));
    case proto::F64:
      return FillWith(count, data, Identity<double>(kind));
    case proto::I8:
      return FillWith(count, data, Identity<int8_t>(kind));
    case proto::I16:
      return FillWith(count, data, Identity<int16_t>(kind));
    case proto::I32:
      return FillWith(count, data, Identity<int32_t>(kind));
    case proto::I64:
      return FillWith(count, data, Identity<int64_t>(kind));
    case proto::I1:
      return FillWith<int8_t>(count, data,
                              kind == proto::MUL || kind == proto::MIN ||
                                  kind == proto::UMIN || kind == proto::AND);
    case proto::F16:
      return FillWith(count, data, ToF16(Identity<float>(kind)));
    case proto::BF16:
      return FillWith(count, data, ToBF16(Identity<float>(kind)));
    default:
      return;
  }
}

Reducer::Reducer(proto::ReductionKind kind, proto::ElementType element)
    : element_(element) {
  switch (KernelElement(WideElement(element))) {
    case proto::F32:
      function_ = FunctionOfNumbers<float>(kind);
      return;
    case proto::F64:
      function_ = FunctionOfNumbers<double>(kind);
      return;
    case proto::I1:
      function_ = FunctionOfBits(kind);
      return;
    case proto::I8:
      function_ = FunctionOfIntegers<int8_t>(kind);
      return;
    case proto::I16:
      function_ = FunctionOfIntegers<int16_t>(kind);
      return;
    case proto::I32:
      function_ = FunctionOfIntegers<int32_t>(kind);
      return;
    case proto::I64:
      function_ = FunctionOfIntegers<int64_t>(kind);
      return;
    default:
      function_ = nullptr;
  }
}

}  // namespace pathways
