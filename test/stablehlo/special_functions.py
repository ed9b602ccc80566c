# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that NumPy lacks, in float64 on arrays of any shape."""

import math

import numpy as np

# B_2k / (2k)!
BERNOULLI = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160,
             -691 / 1307674368000, 1 / 74724249600]


def elementwise(function):
    return np.vectorize(function, otypes=[np.float64])


erf = elementwise(math.erf)
erfc = elementwise(math.erfc)


@elementwise
def lgamma(x):
    if math.isinf(x):
        return math.inf
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


@elementwise
def erf_inv(y):
    if math.isnan(y) or abs(y) > 1:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if abs(y) < 1e-8:
        return y * math.sqrt(math.pi) / 2
    # Winitzki's approximation, then steps of Newton's method.
    a, low = 0.147, math.log1p(-y * y)
    b = 2 / (math.pi * a) + low / 2
    x = math.copysign(math.sqrt(math.sqrt(b * b - low / a) - b), y)
    for _ in range(6):
        error = math.erf(x) - y
        if abs(y) >= 0.7:
            error = math.copysign(1, y) * ((1 - abs(y)) - math.erfc(abs(x)))
        x -= error * math.sqrt(math.pi) / 2 * math.exp(min(x * x, 700))
    return x


@elementwise
def digamma(x):
    if math.isnan(x) or x == -math.inf:
        return math.nan
    if x == math.inf:
        return x
    if x <= 0:
        if x == math.floor(x):
            return math.nan
        return float(digamma(1 - x)) - math.pi / math.tan(math.pi * (x - math.floor(x)))
    result = 0.0
    while x < 12:
        result -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (
        1 / 252 - square * (1 / 240 - square * (1 / 132 - square * 691 / 32760)))))
    return result + math.log(x) - 0.5 / x - series


@elementwise
def zeta(x, q):
    """Hurwitz's zeta function for x > 1 and q > 0."""
    if math.isnan(x) or math.isnan(q) or x < 1 or q <= 0:
        return math.nan
    if x == 1:
        return math.inf
    count = 12
    total = sum((q + k) ** -x for k in range(count))
    at = q + count
    total += at ** (1 - x) / (x - 1) + 0.5 * at ** -x
    factor = x * at ** (-x - 1)
    for i, number in enumerate(BERNOULLI):
        total += number * factor
        factor *= (x + 2 * i + 1) * (x + 2 * i + 2) / (at * at)
    return total


def polygamma(n, x):
    n, x = np.broadcast_arrays(n, x)
    sign = np.where(np.mod(n, 2) == 0, -1.0, 1.0)
    with np.errstate(all="ignore"):
        high = sign * np.exp(lgamma(n + 1)) * zeta(n + 1, x)
    valid = (n == np.floor(n)) & (n >= 0)
    return np.where(n == 0, digamma(x), np.where(valid, high, np.nan))


@elementwise
def bessel_i1e(x):
    if math.isnan(x):
        return x
    size = abs(x)
    if math.isinf(x):
        return math.copysign(0.0, x)
    if size > 30:
        total = term = 1.0
        for k in range(1, 20):
            term *= -(4 - (2 * k - 1) ** 2) / (8 * size * k)
            total += term
        value = total / math.sqrt(2 * math.pi * size)
    else:
        total, term = 0.0, size / 2
        for k in range(1, 200):
            total += term
            term *= size * size / (4 * k * (k + 1))
        value = total * math.exp(-size)
    return math.copysign(value, x)


def sinh_cosh(x, is_cosh):
    """sinh and cosh in the arithmetic of float32 that expected values have."""
    half = np.float32(math.log(0.5))
    def exp(values):
        return np.exp(values.astype(np.float64)).astype(np.float32)
    x = x.astype(np.float32)
    if is_cosh:
        return exp(x + half) + exp(half - x)
    e = np.expm1(x.astype(np.float64)).astype(np.float32)
    small = np.float32(0.5) * (e + e / (e + np.float32(1)))
    return np.where(np.abs(x) < 1, small, exp(x + half) - exp(half - x))
