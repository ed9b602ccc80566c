# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types as NumPy arrays.

bf16 has no type in NumPy: its arrays are float32 whose values bf16 can represent.
"""

import numpy as np

DTYPES = {
    "f16": np.dtype(np.float16), "bf16": np.dtype(np.float32),
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64), "i1": np.dtype(bool),
    "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64), "ui8": np.dtype(np.uint8), "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32), "ui64": np.dtype(np.uint64),
}
# Bits of the exponent and of the mantissa.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def is_float(element):
    return element in FORMATS


def is_unsigned(element):
    return element.startswith("ui")


def width(element):
    return int(element.lstrip("buif"))


def bits_dtype(element):
    return np.dtype(f"uint{width(element)}")


def round_to(values, element):
    """`values`, numbers of any type, as elements: floats are rounded to even."""
    values = np.asarray(values)
    if element != "bf16":
        return values.astype(DTYPES[element], copy=False)
    wide = values
    if values.dtype != np.float32:
        # Rounding to odd first makes the second rounding exact.
        exact = values.astype(np.float64)
        wide = exact.astype(np.float32)
        bits = wide.view(np.uint32)
        back = wide.astype(np.float64)
        is_inexact = (back != exact) & np.isfinite(exact) & np.isfinite(wide)
        too_large = is_inexact & (np.abs(back) > np.abs(exact))
        bits = np.where(too_large, bits - np.uint32(1), bits)
        wide = np.where(is_inexact, bits | np.uint32(1), bits).view(np.float32)
    bits = np.asarray(wide, order="C").view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded &= np.uint32(0xFFFF0000)
    return np.where(np.isnan(wide), wide, rounded.view(np.float32)).astype(np.float32)


def to_bits(array, element):
    """The bit patterns, as unsigned integers."""
    array = np.asarray(array, order="C")
    if element == "i1":
        return array.astype(np.uint8)
    if element == "bf16":
        bits = array.view(np.uint32)
        # A NaN must keep a bit of its mantissa.
        lost = np.isnan(array) & ((bits & np.uint32(0x7F0000)) == 0)
        return ((bits >> np.uint32(16)) | np.where(lost, np.uint32(64), np.uint32(0))
                ).astype(np.uint16)
    return array.view(bits_dtype(element))


def from_bits(bits, element):
    bits = np.asarray(bits, order="C")
    if element == "i1":
        return bits != 0
    if element == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return bits.astype(bits_dtype(element), copy=False).view(DTYPES[element])


def to_bytes(array, element):
    bits = to_bits(array, element)
    return bits.astype(bits.dtype.newbyteorder("<")).tobytes()


def from_bytes(data, of):
    """The tensor of type `of` with the bytes `data`; one element is a splat."""
    shape, element = of
    count = int(np.prod(shape, dtype=np.int64))
    if element == "i1":
        raw = np.frombuffer(data, np.uint8)
        if raw.size != count:
            raw = np.unpackbits(raw, bitorder="little")[:count]
        return (raw != 0).reshape(shape)
    bits = np.frombuffer(data, bits_dtype(element).newbyteorder("<"))
    values = from_bits(bits.astype(bits_dtype(element)), element)
    if values.size == 1 and count != 1:
        return np.broadcast_to(values.reshape(()), shape).copy()
    return values.reshape(shape).copy()


def from_text(text, element):
    """The element that `text`, an element of a dense attribute, denotes."""
    if element == "i1":
        return text in ("true", "1", "-1")
    if is_float(element):
        if "0x" in text:
            bits = np.array(int(text, 16), bits_dtype(element))
            return from_bits(bits, element)[()]
        return round_to(np.float64(text), element)[()]
    if element == "index":
        return int(text, 0)
    number = int(text, 0) % (1 << width(element))
    return np.array(number, bits_dtype(element)).view(DTYPES[element])[()]


def order_key(array, element):
    """Integers in the total order of floats: -NaN < -inf < .. < -0 < 0 < .. < NaN."""
    bits = to_bits(array, element)
    signed = bits.view(np.dtype(f"int{width(element)}")).astype(np.int64)
    least = np.int64(-(1 << (width(element) - 1)))
    with np.errstate(over="ignore"):
        return np.where(signed < 0, least - signed - 1, signed)


def distance(got, want, element):
    """Units in the last place, as check.expect_close counts; NaN is 0 from NaN."""
    def magnitude(array):
        bits = to_bits(array, element).astype(np.uint64)
        sign = np.uint64(1) << np.uint64(width(element) - 1)
        size = (bits & (sign - np.uint64(1))).astype(object)
        return np.where((bits & sign) != 0, -size, size)
    apart = np.abs(magnitude(got) - magnitude(want))
    far = 1 << 64
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    unequal = (np.isnan(got) | np.isnan(want) | np.isinf(got) | np.isinf(want))
    return np.where(same, 0, np.where(unequal, far, apart))


def least(element):
    """The identity of maximum."""
    if is_float(element):
        return round_to(-np.inf, element)
    if element == "i1":
        return np.array(False)
    return np.array(np.iinfo(DTYPES[element]).min, DTYPES[element])


def greatest(element):
    if is_float(element):
        return round_to(np.inf, element)
    if element == "i1":
        return np.array(True)
    return np.array(np.iinfo(DTYPES[element]).max, DTYPES[element])
