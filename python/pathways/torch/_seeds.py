# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of random numbers.

A program that makes random numbers has a seed, a scalar of ui64, as an argument. Each
operation has a counter-based generator of its own: its key is the seed, and its counters
begin at a number of their own. So the numbers of a step depend on the seed alone, not on
the topology or the order of operations. `next` is the seed of the next step.
"""

from __future__ import annotations

from collections.abc import Hashable

from torch.fx.graph_module import GraphModule
from torch.fx.node import Node

from pathways._stablehlo import Function, Type, Value
from pathways.torch._functionalize import op_name

SEED = Type((), "ui64")

# Counters of one operation, and of the next seed.
_PER_OPERATION = 1 << 40
_NEXT = (1 << 64) - 1

RANDOM_OPS = frozenset(
    "aten." + name
    for name in (
        "bernoulli",
        "exponential",
        "geometric",
        "log_normal",
        "cauchy",
        "multinomial",
        "native_dropout",
        "normal",
        "normal_functional",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "random",
        "randperm",
        "rrelu_with_noise",
        "uniform",
    )
)


def is_random(node: Node) -> bool:
    return (
        node.op == "call_function"
        and op_name(node.target).rpartition(".")[0] in RANDOM_OPS
    )


def uses_seed(module: GraphModule) -> bool:
    return any(is_random(node) for node in module.graph.nodes)


class Seeds:
    """Makes a state of the generator for each operation of a program, from its seed."""

    def __init__(self, function: Function, seed: Value) -> None:
        assert seed.type == SEED, seed.type
        self.function, self.seed = function, seed
        self.count = 0
        # The counter of the first operation; None: 0.
        self.first: Value | None = None
        self.counters: dict[Hashable, int] = {}

    def begin(self) -> None:
        """A graph begins: its draws are not those of graphs before it."""
        self.counters.clear()

    def __call__(self, draw: Hashable = None) -> Value:
        """Returns the state of an operation, ui64[2]: the key and the counter. Operations
        with one `draw` have the same state; None is one of its own."""
        counter = None if draw is None else self.counters.get(draw)
        if counter is None:
            counter = self.count * _PER_OPERATION
            self.count += 1
            if draw is not None:
                self.counters[draw] = counter
        return self._state(counter)

    def _state(self, counter: int) -> Value:
        f = self.function
        key = f.reshape(self.seed, (1,))
        number = f.constant(counter, "ui64", (1,))
        if self.first is not None:
            number = f.binary("add", number, f.reshape(self.first, (1,)))
        return f.concatenate([key, number], 0)

    def firsts(self, iterations: int, draws: int) -> Value:
        """Returns the counters of the first operation of each iteration, ui64, where each
        one has `draws` operations."""
        counters = [i * draws * _PER_OPERATION % (1 << 64) for i in range(iterations)]
        data = b"".join(counter.to_bytes(8, "little") for counter in counters)
        return self.function.constant_bytes(data, Type((iterations,), "ui64"))

    def next(self) -> Value:
        """Returns the seed of the next step."""
        f = self.function
        _, bits = random_bits(f, self._state(_NEXT), Type((1,), "ui64"))
        return f.reshape(bits, ())


def random_bits(f: Function, state: Value, type: Type) -> list[Value]:
    """Returns the next state, and random bits."""
    return f.generic(
        "stablehlo.rng_bit_generator",
        [state],
        [state.type, type],
        "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>",
    )
