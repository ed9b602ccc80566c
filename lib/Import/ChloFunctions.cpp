//===- ChloFunctions.cpp - Functions of chlo as formulas ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code has no branches: each formula is computed for all elements, and
// selects take the one of the interval. Polynomials of several intervals share
// one loop over selected coefficients.
//
// The logarithm of gamma and digamma are relatively accurate next to their
// zeros r: there the code computes f(x) - f(r) from x - r, not from f(x).
//
//===----------------------------------------------------------------------===//

#include "ChloFunctions.h"
#include "ChloTables.h"

#include <limits>

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::tables;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
/// The difference of pi and kPi.
constexpr double kPiLow = 1.2246467991473532e-16;

/// Returns the polynomial in `x` with these coefficients, the constant one
/// first.
Number evaluate(ArrayRef<double> coefficients, Number x) {
  Number result = x.code->get(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = result * x + coefficient;
  return result;
}

/// Returns entry `index` of each table. The tables have the same size, and an
/// index beyond it, or NaN, takes the nearest or the first entry.
SmallVector<Number> lookUp(ArrayRef<ArrayRef<double>> tables, Number index,
                           size_t begin, size_t end) {
  SmallVector<Number> results;
  if (end - begin == 1) {
    for (ArrayRef<double> table : tables)
      results.push_back(index.code->get(table[begin]));
    return results;
  }
  size_t middle = (begin + end) / 2;
  Condition upper = index >= static_cast<double>(middle);
  SmallVector<Number> low = lookUp(tables, index, begin, middle);
  SmallVector<Number> high = lookUp(tables, index, middle, end);
  for (auto [a, b] : llvm::zip_equal(high, low))
    results.push_back(select(upper, a, b));
  return results;
}

/// A sum of two floats; the second one is small.
struct Pair {
  Number high;
  Number low;
};

/// Returns the exact product (T. J. Dekker, 1971).
Pair multiply(Number x, Number y) {
  auto split = [](Number a) {
    Number scaled = a * 134217729.0;
    Number high = scaled - (scaled - a);
    return Pair{high, a - high};
  };
  Number product = x * y;
  auto [xh, xl] = split(x);
  auto [yh, yl] = split(y);
  return {product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl};
}

/// Returns sin(pi x) and cos(pi x) for |x| <= 0.75.
std::pair<Pair, Pair> emitSinCosPi(Number x) {
  Number a = abs(x);
  Condition isLarge = a > 0.25;
  Number u = select(isLarge, 0.5 - a, a);
  Number z = u * u;
  auto add = [](Number high, Number low) {
    Number sum = high + low;
    return Pair{sum, low - (sum - high)};
  };
  Pair leading = multiply(x.code->get(kPi), u);
  Pair sine =
      add(leading.high, u * z * evaluate(ArrayRef(kSinPi).drop_front(), z));
  sine.low = sine.low + (leading.low + kPiLow * u);
  Pair cosine = add(x.code->get(kCosPi[0]),
                    z * evaluate(ArrayRef(kCosPi).drop_front(), z));
  Number low = select(isLarge, cosine.low, sine.low);
  return {{copySign(select(isLarge, cosine.high, sine.high), x),
           select(x < 0.0, -low, low)},
          {select(isLarge, sine.high, cosine.high),
           select(isLarge, sine.low, cosine.low)}};
}

/// Returns p(a) and (p(a) - p(b)) / (a - b) for a polynomial p.
std::pair<Number, Number> emitDividedDifference(ArrayRef<double> coefficients,
                                                Number a, Number b) {
  Number value = a.code->get(coefficients.back());
  Number difference = a.code->get(0.0);
  for (double coefficient : llvm::reverse(coefficients.drop_back())) {
    difference = difference * b + value;
    value = value * a + coefficient;
  }
  return {value, difference};
}

/// Returns lgamma(y0) - lgamma(y) for y >= 3, y0 >= 3 and d = y0 - y:
/// Stirling's series for arguments that are larger by 7, without the factors in
/// between.
Number emitLgammaDifference(Number y0, Number y, Number d) {
  constexpr int kShift = 7;
  // The product of the factors' ratios, less 1.
  Number product = d / y;
  for (int j = 1; j < kShift; ++j) {
    Number ratio = d / (y + j);
    product = product + ratio + product * ratio;
  }
  Number Y = y + kShift, Y0 = y0 + kShift;
  Number u = 1.0 / Y, u0 = 1.0 / Y0;
  auto [series, slope] = emitDividedDifference(kStirling, u0 * u0, u * u);
  Number rest = -(d * u * u0) * (series + u * (u0 + u) * slope);
  return (Y0 - 0.5) * log1p(d / Y) + d * (log(Y) - 1.0) + rest - log1p(product);
}

/// Returns digamma(y) - digamma(y0) for positive y, y0 and d = y - y0.
Number emitDigammaDifference(Number y, Number y0, Number d) {
  constexpr int kShift = 10;
  Number Y = y + kShift, Y0 = y0 + kShift;
  Number a = 1.0 / (Y * Y), b = 1.0 / (Y0 * Y0);
  SmallVector<double> coefficients = {0.0};
  llvm::append_range(coefficients, kDigamma);
  Number slope = emitDividedDifference(coefficients, a, b).second;
  Number sum = (Y + Y0) * a * b * slope + 0.5 / (Y * Y0);
  for (int j = kShift - 1; j > 0; --j)
    sum = sum + 1.0 / ((y + j) * (y0 + j));
  sum = sum + 1.0 / (y * y0);
  return log1p(d / Y0) + d * sum;
}

/// Returns zeta(s, q) for s > 1 and q > 0: ten terms of the sum, then the
/// formula of Euler and Maclaurin.
Number emitZetaSum(Number s, Number q) {
  constexpr int kTerms = 10;
  FloatCode &code = *s.code;
  Number sum = code.get(0.0);
  for (int k = kTerms - 1; k > 0; --k) {
    // The error of q + k would be multiplied by s.
    Number t = q + k;
    Number rounded = t - q;
    Number error = (q - (t - rounded)) + (k - rounded);
    Number power = pow(t, -s);
    sum = sum + (power - power * (s * (error / t)));
  }
  sum = sum + pow(q, -s);
  Number a = q + kTerms;
  Number factor = s / a;
  Number tail = 0.5 + kZeta[0] * factor;
  for (auto [j, coefficient] : llvm::enumerate(ArrayRef(kZeta).drop_front())) {
    factor = factor * ((s + (2.0 * j + 1.0)) / a) * ((s + (2.0 * j + 2.0)) / a);
    tail = tail + factor * coefficient;
  }
  // 1 - s is exact for s <= 2. For larger s, a^(1 - s) may be a float although
  // a^-s is none.
  Condition isSmall = s <= 2.0;
  Number power = pow(a, select(isSmall, 1.0 - s, -0.5 * s));
  Number lead = select(isSmall, power, a * power * power);
  Number scale = select(isSmall, power / a, power * power);
  return sum + (lead / (s - 1.0) + select(scale > 0.0, scale * tail, 0.0));
}

} // namespace

Number mlir::pathways::emitBesselI1e(Number x) {
  Number z = abs(x);
  // The series has no limit beyond its interval.
  Number bounded = select(z < 8.0, z, 8.0);
  Number half = 0.5 * bounded;
  Number small = half * evaluate(kBesselSmall, half * half) * exp(-bounded);
  Number large = evaluate(kBesselLarge, 16.0 / z - 1.0) / sqrt(z);
  return copySign(select(z <= 8.0, small, select(isNan(x), x, large)), x);
}

Number mlir::pathways::emitErfInv(Number x, bool isNarrow) {
  FloatCode &code = *x.code;
  Number z = abs(x);
  Condition isCenter = z <= 0.75, isTail = z > 0.99975;
  Number argument = (1.0 - z) * select(isTail, code.get(0.5), 1.0 + z);
  Number logarithm = code.get(argument.value);
  if (isNarrow) {
    Type f32 = code.b.getF32Type();
    if (auto tensor = dyn_cast<RankedTensorType>(code.type))
      f32 = tensor.clone(f32);
    Value narrow =
        arith::TruncFOp::create(code.b, code.loc, f32, argument.value);
    narrow = math::LogOp::create(code.b, code.loc, narrow);
    logarithm =
        code.get(arith::ExtFOp::create(code.b, code.loc, code.type, narrow));
  } else {
    logarithm = log(argument);
  }
  Number l = -logarithm;
  Number w = sqrt(l);
  Number t = select(
      isCenter, x * x * (2 / 0.5625) - 1.0,
      select(isTail, (w - 4.5625) * (1 / 1.5625), (l - 4.25) * (1 / 3.4375)));
  Number result = code.get(0.0);
  static_assert(std::size(kErfInvCenter) == std::size(kErfInvMiddle) &&
                std::size(kErfInvCenter) == std::size(kErfInvTail));
  for (int k = std::size(kErfInvCenter) - 1; k >= 0; --k)
    result = result * t +
             select(isCenter, code.get(kErfInvCenter[k]),
                    select(isTail, kErfInvTail[k], code.get(kErfInvMiddle[k])));
  result = result * select(isTail, copySign(w, x), x);
  result = select(z == 1.0, copySign(code.get(kInf), x), result);
  return select(z <= 1.0, result, kNan);
}

Number mlir::pathways::emitLgamma(Number x) {
  FloatCode &code = *x.code;
  Number nearest = round(x);
  Number fraction = x - nearest;
  auto [sine, cosine] = emitSinCosPi(fraction);
  Number absSine = abs(sine.high);

  // Below -2 the reflected argument replaces x. What remains is in four parts:
  // up to 0.5 and from 3 to 9, factors bring the argument into [0.5, 3), where
  // there are polynomials; from 9 on there is Stirling's series.
  Number y = select(x <= -2.0, 1.0 - x, x);
  Condition isLow = y < 0.5, isMiddle = y >= 3.0;
  Condition isBelow0 = y < 0.0, isBelow1 = y < -1.0;
  Number shift = select(
      isBelow1, 2.0, select(isBelow0, 1.0, select(isLow, 0.0, code.get(-1.0))));
  // Distances of the shifted argument from 1 and 2.
  Number d1 = y + shift;
  Number d2 = select(isMiddle, y - floor(y), y + (shift - 1.0));
  Condition isUpper = isMiddle | (d1 >= 0.625), isLeast = d1 >= 0.325;
  Number d3 = (x - kLgammaRoots[0]) - kLgammaRootsLow[0];
  Number d4 = (x - kLgammaRoots[1]) - kLgammaRootsLow[1];
  Condition isRoot3 = abs(d3) <= 0.16, isRoot4 = abs(d4) <= 0.132;
  auto choose = [&](Number c3, Number c4, Number upper, Number least,
                    Number lower) {
    Number positive = select(isUpper, upper, select(isLeast, least, lower));
    return select(isRoot3, c3, select(isRoot4, c4, positive));
  };
  Number t = choose(d3 * (1 / 0.16), d4 * (1 / 0.132), (d2 - 0.3) * (1 / 0.7),
                    (d1 - 0.475) * (1 / 0.175), (d1 + 0.075) * (1 / 0.425));
  static_assert(std::size(kLgamma1) == std::size(kLgamma2) &&
                std::size(kLgamma1) == std::size(kLgammaLeast) &&
                std::size(kLgamma1) == std::size(kLgamma3) &&
                std::size(kLgamma1) == std::size(kLgamma4));
  Number polynomial = code.get(0.0);
  for (int k = std::size(kLgamma1) - 1; k >= 0; --k)
    polynomial = polynomial * t +
                 choose(code.get(kLgamma3[k]), code.get(kLgamma4[k]),
                        code.get(kLgamma2[k]), code.get(kLgammaLeast[k]),
                        code.get(kLgamma1[k]));
  polynomial = polynomial * choose(d3, d4, d2, code.get(1.0), d1);

  Number below = abs(
      y * select(isBelow0, (y + 1.0) * select(isBelow1, y + 2.0, 1.0), 1.0));
  Number above = code.get(1.0);
  for (int j = 1; j < 7; ++j) {
    Number factor = y - j;
    above = above * select(factor >= 2.0, factor, 1.0);
  }
  Condition isFar = y >= 9.0;
  Number logarithm =
      log(select(isFar, y, select(isLow, below, select(isMiddle, above, 1.0))));
  Number u = 1.0 / y;
  // (log(2 pi) - 1) / 2
  Number far = (y - 0.5) * (logarithm - 1.0) +
               (0.41893853320467274178 + u * evaluate(kStirling, u * u));
  Number plain =
      select(isFar, far, polynomial + select(isLow, -logarithm, logarithm));
  Number reflected = log(kPi / absSine) - plain;

  // Between -18 and -2 the zero in the same half of a unit interval is the
  // start, except that the interval of the first one ends at -2.6.
  Number index = select(x > -2.6, code.get(0.0),
                        select(x > -3.0, 1.0, floor(-2.0 * x) - 4.0));
  constexpr size_t kNumRoots = std::size(kLgammaRoots);
  SmallVector<Number> root = lookUp(
      {kLgammaRoots, kLgammaRootsLow, kLgammaRootsSine}, index, 0, kNumRoots);
  Number d = (x - root[0]) - root[1];
  Number ratio = root[2] / absSine;
  auto [halfSine, halfCosine] = emitSinCosPi(0.5 * d);
  Number ratioLess1 =
      -2.0 * halfSine.high *
      (halfSine.high + cosine.high / sine.high * halfCosine.high);
  Number logRatio =
      select((ratio > 0.5) & (ratio < 2.0), log1p(ratioLess1), log(ratio));
  Number fromRoot = logRatio + emitLgammaDifference(1.0 - root[0], 1.0 - x, d);

  Number result =
      select(x < -2.0, select(x > -18.0, fromRoot, reflected), plain);
  result = select(isRoot3 | isRoot4, polynomial, result);
  Condition isPole = (x <= 0.0) & (x == nearest);
  return select(isPole | (abs(x) == kInf), kInf, result);
}

Number mlir::pathways::emitDigamma(Number x) {
  FloatCode &code = *x.code;
  Number nearest = round(x);
  Number fraction = x - nearest;
  auto [sine, cosine] = emitSinCosPi(fraction);
  Condition isNegative = x < 0.0;
  Number y = select(isNegative, 1.0 - x, x);

  // From a zero: digamma(1 - x) - digamma(1 - r), and the difference of
  // -pi cot(pi x) and -pi cot(pi r), which is a quotient of sines.
  Number index = select(isNegative, floor(-x) + 1.0, 0.0);
  SmallVector<Number> root = lookUp({kDigammaRoots, kDigammaRootsLow,
                                     kDigammaRootsSine, kDigammaRootsSineLow},
                                    index, 0, std::size(kDigammaRoots));
  Number d = (x - root[0]) - root[1];
  Number y0 = select(isNegative, 1.0 - root[0], root[0]);
  Number difference = emitDigammaDifference(y, y0, select(isNegative, -d, d));
  Pair sineOfD = emitSinCosPi(d).first;
  Pair product = multiply(sineOfD.high, root[2]);
  product.low = product.low + sineOfD.low * root[2] + sineOfD.high * root[3];
  Number quotient = product.high / sine.high;
  Pair back = multiply(quotient, sine.high);
  Number rest = (((product.high - back.high) - back.low) + product.low -
                 quotient * sine.low) /
                sine.high;
  // The sine of pi x is that of the fraction, negated next to odd integers.
  Number half = 0.5 * nearest;
  Number sign = select(half == floor(half), code.get(1.0), -1.0);
  Number close = select(
      isNegative, sign * quotient + (sign * rest + difference), difference);

  Number inverse = 1.0 / (y * y);
  Number far = log(y) - (0.5 / y + inverse * evaluate(kDigamma, inverse));
  Number farNegative = far - kPi * cosine.high / sine.high;
  // The exact product is NaN where the quotient overflows.
  Condition isClose = (x > -16.0) & (abs(quotient) < 1e300);
  Number result = select(isNegative, select(isClose, close, farNegative),
                         select(x < 10.0, close, far));
  return select((x <= 0.0) & (x == nearest), kNan, result);
}

Number mlir::pathways::emitZeta(Number s, Number q) {
  // Infinite arguments would give infinity times 0.
  Number boundedS = select(s < 1e300, s, 1e300);
  Number boundedQ = select(q < 1e300, q, 1e300);
  Condition isNegative = q <= 0.0;
  Number half = 0.5 * boundedS;
  Condition isEven = half == floor(half);
  // With q = f - n, the terms of index below n are those of zeta(s, 1 - f),
  // with the sign of (-1)^s, that are not in zeta(s, 1 - f + n).
  Number nearest = round(boundedQ);
  Number fraction = boundedQ - nearest;
  Number sum =
      emitZetaSum(boundedS, select(isNegative, 1.0 + fraction, boundedQ));
  Number other = select(isNegative, 1.0 - fraction, 1.0);
  Number last = select(isNegative, other - nearest, 1.0);
  Number mirrored = emitZetaSum(boundedS, other) - emitZetaSum(boundedS, last);
  Number central = pow(abs(fraction), -boundedS);
  Number negative =
      sum + select(isEven, central + mirrored,
                   select(fraction < 0.0, -central, central) - mirrored);
  Number result = select(isNegative, negative, sum);
  result = select(q == kInf, 0.0, result);
  FloatCode &code = *s.code;
  Number pole = select(isEven, code.get(kInf), kNan);
  result = select(isNegative & (q == floor(q)), pole, result);
  Condition isDefined = (s >= 1.0) & (q > 0.0);
  isDefined = isDefined | ((s >= 1.0) & (isNegative & (s == floor(s))));
  result = select(isDefined, result, kNan);
  return select(isNan(q), q, select(s == 1.0, kInf, result));
}

Number mlir::pathways::emitPolygamma(Number n, Number x) {
  // (-1)^(n + 1) n! zeta(n + 1, x) (Abramowitz and Stegun, 6.4.10). Factorials
  // up to 22 are exact; larger ones are Stirling's formula, whose powers are of
  // exact arguments.
  constexpr int kExact = 22;
  FloatCode &code = *n.code;
  Number zeta = emitZeta(n + 1.0, x);
  Number factorial = code.get(1.0);
  for (int k = 2; k <= kExact; ++k)
    factorial =
        factorial * select(n >= k, static_cast<double>(k), code.get(1.0));
  Number power = pow(n, 0.5 * n + 0.25);
  Number inverse = 1.0 / n;
  Number correction = exp(
      inverse * evaluate(ArrayRef(kStirling).take_front(6), inverse * inverse));
  // sqrt(2 pi)
  Number large =
      power * exp(-n) * zeta * power * 2.5066282746310005024 * correction;
  Number result = select(n <= kExact, factorial * zeta, large);
  Number half = 0.5 * n;
  result = select(half == floor(half), -result, result);
  result = select(n == 0.0, emitDigamma(x), result);
  return select((n >= 0.0) & (n == floor(n)), result, kNan);
}
