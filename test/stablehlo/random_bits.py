# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rng_bit_generator: counters that are encrypted by Threefry or Philox."""

import numpy as np

import elements

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
WORD = np.uint32
LONG = np.uint64


def words_of(values):
    """The low and the high words of numbers of 64 bits."""
    values = np.asarray(values, LONG)
    return (values & LONG(0xFFFFFFFF)).astype(WORD), (values >> LONG(32)).astype(WORD)


def threefry(key, counters):
    low, high = words_of(key)
    keys = (low, high, low ^ high ^ WORD(0x1BD11BDA))
    x, y = words_of(counters)
    x, y = x + keys[0], y + keys[1]
    for turn in range(5):
        for rotation in ROTATIONS[turn % 2]:
            x = x + y
            y = ((y << WORD(rotation)) | (y >> WORD(32 - rotation))) ^ x
        x = x + keys[(turn + 1) % 3]
        y = y + keys[(turn + 2) % 3] + WORD(turn + 1)
    return x, y


def philox(key, low, high):
    words = [*words_of(low), *words_of(high)]
    keys = list(words_of(key))
    for _ in range(10):
        first = words[0].astype(LONG) * LONG(0xD2511F53)
        second = words[2].astype(LONG) * LONG(0xCD9E8D57)
        words = [words_of(second)[1] ^ words[1] ^ keys[0], words_of(second)[0],
                 words_of(first)[1] ^ words[3] ^ keys[1], words_of(first)[0]]
        keys = [keys[0] + WORD(0x9E3779B9), keys[1] + WORD(0xBB67AE85)]
    return words


def join(low, high):
    return low.astype(LONG) | (high.astype(LONG) << LONG(32))


def three_fry_bits(state, shape, width):
    """Bits, and how many counters were used."""
    def encrypt(sizes):
        count = int(np.prod(sizes, dtype=np.int64))
        numbers = np.arange(count, dtype=LONG).reshape(sizes)
        return (*threefry(state[0], state[1] + numbers), count)
    if width == 64:
        low, high, count = encrypt(shape)
        return join(low, high), count
    if not shape:
        low, _, count = encrypt(())
        return low, count
    # Pairs lie along the first even size, or the largest one.
    even = [d for d, size in enumerate(shape) if size % 2 == 0]
    dim = even[0] if even else int(np.argmax(shape))
    sizes = list(shape)
    sizes[dim] = (shape[dim] + 1) // 2
    low, high, count = encrypt(tuple(sizes))
    pairs = np.stack([low, high], dim + 1)
    sizes[dim] *= 2
    pairs = pairs.reshape(sizes)
    return np.take(pairs, np.arange(shape[dim]), dim), count


def philox_bits(state, shape, width):
    """Bits, and the words of the next counter."""
    each = 2 if width == 64 else 4
    total = int(np.prod(shape, dtype=np.int64))
    count = -(-total // each)
    def advance(by):
        low = state[1] + np.asarray(by, LONG)
        high = (state[2] if len(state) > 2 else LONG(0)) + (low < state[1]).astype(LONG)
        return low, high
    words = philox(state[0], *advance(np.arange(count, dtype=LONG)))
    if width == 64:
        words = [join(*words[:2]), join(*words[2:])]
    bits = np.stack(words, -1).reshape(-1)[:total].reshape(shape)
    return bits, advance(LONG(count))


def rng_bit_generator(op, operands, _):
    state = operands[0]
    shape, element = op.types[1]
    width = elements.width(element)
    after = state.copy()
    if "PHILOX" in op["rng_algorithm"]:
        bits, counter = philox_bits(state, shape, width)
        after[1:] = counter[:len(state) - 1]
    else:
        bits, count = three_fry_bits(state, shape, width)
        after[1] = state[1] + LONG(count)
    bits = bits.astype(elements.bits_dtype(element))
    return [after, elements.from_bits(bits, element)]
