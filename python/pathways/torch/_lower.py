# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Appends the operations of a graph of ATen calls to a function of StableHLO."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
import torch.utils._pytree as pytree
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_arg

from pathways._stablehlo import FLOATS, Function, Place, Type, Value
from pathways.torch import ops
from pathways.torch._errors import TraceError
from pathways.torch._functionalize import op_name
from pathways.torch._lines import BACKWARD, DRAW, PLACE
from pathways.torch._registry import Context, element_of, find
from pathways.torch._seeds import Seeds

assert ops.LOADED

# Arguments that say where and how a tensor lies in memory.
_MEMORY = ("device", "layout", "pin_memory", "memory_format", "non_blocking")


def place_of(node: Node) -> Place | None:
    """Returns the user's place: ours, or the innermost one of a trace by PyTorch."""
    place: Place | None = node.meta.get(PLACE)
    if place is None and node.meta.get("stack_trace"):
        for line in reversed(str(node.meta["stack_trace"]).splitlines()):
            words = line.strip().split('"')
            if len(words) == 3 and words[0] == "File ":
                number = words[2].split("line ")[1].split(",")[0]
                return words[1], int(number), 1
    return place


def type_of(node: Node) -> Type | None:
    """Returns the type of the tensor that a node makes, or None if it makes none."""
    meta: Any = node.meta.get("tensor_meta") or node.meta.get("val")
    if not hasattr(meta, "dtype"):
        return None
    shape = []
    for n in meta.shape:
        if not isinstance(n, int):
            raise TraceError(
                f"the node {node.name} has the size {n}, which is not a number: shapes "
                "must be known; export for fixed shapes",
                place_of(node),
            )
        shape.append(n)
    return Type(tuple(shape), element_of(meta.dtype))


def tensor_constant(function: Function, tensor: torch.Tensor) -> Value:
    """Returns a constant with the values of a tensor."""
    plain = tensor.detach().contiguous()
    type = Type(tuple(plain.shape), element_of(plain.dtype))
    if not type.size:
        return function.constant_bytes(b"", type)
    if plain.dtype is torch.bfloat16:
        data = plain.view(torch.int16).numpy().tobytes()
    else:
        data = plain.numpy().tobytes()
    return function.constant_bytes(data, type)


class _Lowering:
    def __init__(
        self,
        module: GraphModule,
        function: Function,
        seed: Seeds | None,
    ) -> None:
        self.module, self.function = module, function
        self.values: dict[Node, Any] = {}
        self.seed = seed

    def value(self, node: Node) -> Any:
        return self.values[node]

    def seeds(self, node: Node) -> Value:
        if self.seed is None:
            raise TraceError(
                f"{op_name(node.target)} makes random numbers, but there is no seed here",
                place_of(node),
            )
        return self.seed(node.meta.get(DRAW))

    def call(self, node: Node) -> Any:
        name = op_name(node.target)
        place = place_of(node)
        lowering = find(name)
        if lowering is None:
            self.refuse(node, name, place)
        expected = type_of(node)
        results: list[Type | None] = [expected]
        if expected is None:
            items: dict[Any, Type | None] = {
                user.args[1]: type_of(user)
                for user in node.users
                if user.target is operator.getitem
            }
            results = [items.get(i) for i in range(max(items, default=-1) + 1)]
        args = map_arg(tuple(node.args), self.value)
        kwargs = {
            key: map_arg(value, self.value)
            for key, value in node.kwargs.items()
            if key not in _MEMORY
        }
        kwargs.pop("generator", None)
        context = Context(self.function, name, results, place, lambda: self.seeds(node))
        result = lowering(context, *args, **kwargs)
        if expected is None:
            return result
        if not isinstance(result, Value):
            (result,) = result
        if node.meta.get("pathways.in_place"):
            result = context.convert(result, expected.element)
        if result.type != expected:
            raise TraceError(
                f"{name} became {result.type}, expected {expected}: the lowering is wrong",
                place,
            )
        return result

    def refuse(self, node: Node, name: str, place: Place | None) -> NoReturn:
        forward = node.meta.get(BACKWARD)
        what = f"{name}, the backward of {forward}," if forward else name
        if "sym_" in name:
            raise TraceError(
                f"the node {node.name} is {name}: its shapes are not numbers; export for "
                "fixed shapes, without dynamic_shapes",
                place,
            )
        raise TraceError(
            f"{what} has no lowering: write it with other operations, or enter one with "
            f'@pathways.torch.lowers("{name}")',
            place,
        )

    def attribute(self, node: Node) -> Value:
        value: Any = self.module
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor):
            raise TraceError(f"{node.target} is {type(value).__name__}, not a tensor")
        return tensor_constant(self.function, value)


def lower_graph(
    module: GraphModule,
    function: Function,
    arguments: Sequence[Value],
    *,
    seed: Seeds | None = None,
    before: Callable[[Node], None] | None = None,
) -> list[Value]:
    """Appends the operations of `module` to `function`, and returns the results.

    The graph has ATen calls without in-place operations. `arguments` are the values of
    its placeholders, in order. `seed` makes the states of operations that draw random
    numbers. `before` is called with each operation before it is
    lowered. Raises TraceError with the user's place.
    """
    work = _Lowering(module, function, seed)
    if seed is not None:
        seed.begin()
    values = iter(arguments)
    place = function.place
    results: list[Value] = []
    for node in module.graph.nodes:
        function.place = place_of(node)
        if node.op == "placeholder":
            value = next(values)
            expected = type_of(node)
            if expected is not None and value.type != expected:
                raise TraceError(
                    f"argument {node.name} is {value.type}, expected {expected}"
                )
            work.values[node] = value
        elif node.op == "get_attr":
            work.values[node] = work.attribute(node)
        elif node.op == "output":
            results = [
                work.values[one] if isinstance(one, Node) else number(function, one)
                for one in pytree.tree_flatten(node.args[0])[0]
            ]
        elif node.target is operator.getitem:
            call, index = node.args
            value = work.values[call][index]
            expected = type_of(node)
            if expected is not None and not expected.size:
                # PyTorch finds other shapes for nothing than its kernels.
                value = function.constant(0, expected.element, expected.shape)
            elif expected is not None and index and expected.element in FLOATS:
                # Statistics beside the first result may be wider than it.
                value = function.convert(value, expected.element)
            work.values[node] = value
            if expected is not None and value.type != expected:
                raise TraceError(
                    f"result {index} of {op_name(call.target)} became {value.type}, "
                    f"expected {expected}: the lowering is wrong",
                    place_of(node),
                )
        elif node.op == "call_function":
            if before is not None:
                before(node)
            work.values[node] = work.call(node)
        else:
            raise TraceError(
                f"the node {node.name} is a {node.op}: make the graph with "
                "torch.fx.experimental.proxy_tensor.make_fx",
                place_of(node),
            )
    function.place = place
    return results


def number(function: Function, value: Any) -> Value:
    """Returns a number that a function returned as a scalar."""
    if isinstance(value, bool):
        return function.constant(value, "i1")
    if isinstance(value, int):
        return function.constant(value, "i64")
    if isinstance(value, float):
        return function.constant(value, "f32")
    raise TraceError(f"a result is {type(value).__name__}, expected tensors and numbers")


