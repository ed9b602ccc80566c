# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The module of a program while the program is traced."""

from __future__ import annotations

import contextlib
import fnmatch
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from . import _types
from ._computation import Computation, bind, call_bound, definition_of, framework_of
from ._embed import embed
from ._errors import InvalidArgument
from ._numpy import Trace, Traced, trace_error, unguarded
from ._slice import Cut, Mesh, Slice
from ._stablehlo import Function, Module, Sharding, Type, Value
from ._tensor_types import NumberType, TensorType, number_type_of, type_of
from ._tree import Path, leaves_of, map_leaves, path_name

_local = threading.local()


def current() -> ProgramTrace | None:
    """Returns the program that this thread traces, if any."""
    stack: list[ProgramTrace | None] = getattr(_local, "stack", [])
    if stack and stack[-1] is None:
        raise trace_error(
            "a computation is called inside of another one",
            "call both of them in the program, or call its function",
        )
    return stack[-1] if stack else None


@contextlib.contextmanager
def _tracing(program: ProgramTrace | None) -> Iterator[None]:
    if not hasattr(_local, "stack"):
        _local.stack = []
    _local.stack.append(program)
    try:
        yield
    finally:
        _local.stack.pop()


class Callee:
    """A function of the module that a computation became, and what it returns."""

    def __init__(self, function: Function, result: Any) -> None:
        self.function = function
        self.result = result  # a tree with TensorTypes as leaves


class SlicesChanged(Exception):
    """A new slice changes the mesh that shardings were written for."""


class ProgramTrace:
    """A program in the making: @main, and a private function for each computation.

    Arguments of @main are those of the program, then the parameters of modules of
    PyTorch (`bound`), then the seed of random numbers (`seed`).
    """

    def __init__(
        self,
        name: str,
        slices: list[Slice],
        on: Slice | None,
        split: Mapping[str, Cut],
        seed_name: str,
    ) -> None:
        self.module = Module(name)
        self.entry = self.module.function("main")
        # The function that is traced now: @main, or the body of a loop.
        self.main = self.entry
        self.trace = Trace(self.main, on)
        self.slices = list(slices)
        self.mesh = Mesh(self.slices)
        self.split = split
        self.names: list[str] = []  # of the arguments
        self.bound: dict[str, Any] = {}
        self.seed: Value | None = None
        self._seed_name = seed_name
        self._bound_values: dict[tuple[int, str], Value] = {}
        self._callees: dict[Any, Callee] = {}
        self._keep: list[Any] = []  # objects whose ids are keys
        self._uses_mesh = False
        self._cut: tuple[Cut, int, Slice | None, str] | None = None
        self._random_operations = 0
        self.labels: set[str] = set()  # of calls

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        with _tracing(self), self.trace.running():
            yield

    # Slices.

    def add_slice(self, slice: Slice) -> None:
        for known in self.slices:
            if known.name == slice.name:
                if not known.same_as(slice):
                    raise trace_error(f"two slices have one name: {known} and {slice}")
                return
        try:
            mesh = Mesh([*self.slices, slice])
        except InvalidArgument as error:
            raise trace_error(error.message) from None
        self.slices.append(slice)
        if self._uses_mesh and mesh.axes != self.mesh.axes:
            raise SlicesChanged
        self.mesh = mesh

    def check_mesh(self) -> None:
        """Raises an error if something is cut, but there are no slices."""
        if not self.slices and self._cut is not None:
            self.mesh.sharding(*self._cut)

    def sharding(self, cut: Cut, rank: int, on: Slice | None, what: str) -> Sharding:
        self._uses_mesh = True
        if not self.slices:
            # The slices come later, and then the program is traced again.
            self._cut = (cut, rank, on, what)
            return Sharding(((),) * rank)
        return self.mesh.sharding(cut, rank, on, what)

    # Arguments.

    def argument(
        self, name: str, type: TensorType, on: Slice | None, cut: Cut = None
    ) -> Traced:
        """Adds an argument of the program, which is cut as the program says, or else by
        `cut`, over axes of the slice `on`."""
        sharding = None
        if find_cut(self.split, name) is not None:
            cut = find_cut(self.split, name)
        self.names.append(name)
        if cut is not None:
            sharding = self.sharding(cut, len(type.shape), on, f"split= of '{name}'")
        value = self.entry.argument(Type(type.shape, type.element), name, sharding)
        return _traced(self.trace, value, type)

    def _bound_argument(self, computation: Computation, name: str, tensor: Any) -> Value:
        key = (id(computation), name)
        value = self._bound_values.get(key)
        if value is not None:
            return value
        unique, count = name, 0
        while unique in self.names:
            count += 1
            unique = f"{computation.name}{'' if count == 1 else count}.{name}"
        type = type_of(tensor, f"'{name}'")
        assert type is not None
        cut = find_cut(computation.split, name)
        traced = self.argument(unique, type, computation.on, cut)
        self.bound[unique] = tensor
        self._bound_values[key] = traced._value
        return traced._value

    def _seed(self) -> Value:
        if self.seed is None:
            self.names.append(self._seed_name)
            self.seed = self.entry.argument(Type((), "ui64"), self._seed_name)
        return self.seed

    # Calls.

    def call(self, computation: Computation, args: Any, kwargs: Any) -> Any:
        """What a computation returns that is called in the program."""
        if computation.signature is None and kwargs:
            raise trace_error(
                f"{computation.name} takes arguments by position, got {', '.join(kwargs)}="
            )
        named = bind(computation.name, computation.signature, args, kwargs)
        on = computation.on
        operands: list[Value] = []

        def lift(path: Path, leaf: Any) -> Any:
            if path[0] in computation.static:
                return leaf
            if isinstance(leaf, Traced):
                if leaf._trace is not self.trace:
                    self.trace.check(leaf)
                operands.append(leaf._value)
                type = _tensor_type(leaf._value.type)
                if leaf._example is not None:
                    return number_type_of(leaf._example, type)
                return type
            value = self._constant(leaf, computation, path)
            if value is None:
                return leaf
            operands.append(value)
            return number_type_of(leaf, _tensor_type(value.type))

        if on is not None:
            self.add_slice(on)
        else:
            on = _only_slice(computation, args, kwargs)
        with self.trace.at_user(on):
            types = map_leaves(named, lift)
            bound, is_random = self._prepare(computation, types)
            for name, tensor in bound.items():
                operands.append(self._bound_argument(computation, name, tensor))
            if is_random:
                if self.main is not self.entry:
                    raise trace_error(
                        f"{computation.name} makes random numbers in a loop, and those of "
                        "all iterations would be the same",
                        "make them before the loop, and pass them as a stepped value",
                    )
                operands.append(self._seed())
            callee = self._callee(computation, types, is_random)
            results = iter(self.main.call(callee.function, operands))
            return map_leaves(callee.result, lambda *_: self._wrap(next(results)))

    def _wrap(self, value: Value) -> Traced:
        return Traced(self.trace, value, _types.dtype_of(value.element))

    def _constant(self, leaf: Any, computation: Computation, path: Path) -> Value | None:
        """Returns the constant for an array or a number; None: a value of Python."""
        try:
            type = type_of(leaf, f"argument '{path_name(path)}' of {computation.name}")
        except InvalidArgument as error:
            raise trace_error(error.message) from None
        if type is None:
            return None
        if isinstance(leaf, TensorType):
            raise trace_error(f"argument '{path_name(path)}' is a type, not a value")
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(leaf, torch.Tensor):
            from .torch._lower import tensor_constant

            return tensor_constant(self.main, leaf)
        return self.trace.constant(leaf)

    def _callee(self, computation: Computation, types: Any, is_random: bool) -> Callee:
        kinds = tuple(leaves_of(types))
        try:
            key = (id(computation), kinds, hash(kinds))
            if is_random:
                # Each call makes numbers of its own.
                key = (*key, self._random_operations)  # type: ignore[assignment]
        except TypeError:
            raise trace_error(
                f"a static argument of {computation.name} cannot be hashed, got "
                f"{[leaf for _, leaf in kinds if not isinstance(leaf, TensorType)]}"
            ) from None
        callee = self._callees.get(key)
        if callee is None:
            with _tracing(None):
                callee = self._make(computation, types)
            self._callees[key] = callee
            self._keep.append(computation)
        return callee

    def _make(self, computation: Computation, types: Any) -> Callee:
        framework = computation.framework or framework_of(computation.function, types)
        if framework in ("torch", "jax"):
            make = self._make_torch if framework == "torch" else self._make_jax
            with unguarded():
                return make(computation, types)
        if framework == "stablehlo":
            function = embed(self.module, computation.function, computation.name)
            given = [leaf for _, leaf in leaves_of(types)]
            return self._embedded(computation, function, given, None)
        return self._make_numpy(computation, types)

    def _constrained(
        self, computation: Computation, function: Function, path: Path, value: Value
    ) -> Value:
        cut = find_cut(computation.split, path_name(path))
        if cut is None:
            return value
        what = f"split= of '{path_name(path)}' of {computation.name}"
        try:
            sharding = self.sharding(cut, value.rank, computation.on, what)
        except InvalidArgument as error:
            raise trace_error(error.message) from None
        return function.constrain(value, sharding)

    def _make_numpy(self, computation: Computation, types: Any) -> Callee:
        function = self.module.function(computation.name)
        function.definition = definition_of(computation.function)
        trace = Trace(function)

        def argument(path: Path, leaf: Any) -> Any:
            if not isinstance(leaf, TensorType):
                return leaf
            value = function.argument(Type(leaf.shape, leaf.element), path_name(path))
            value = self._constrained(computation, function, path, value)
            return _traced(trace, value, leaf)

        arguments = map_leaves(types, argument)
        with trace.running():
            result = call_bound(computation.function, computation.signature, arguments)
            values = lift_results(trace, result, computation.name)
        function.returns(list(values.values()))
        kinds = {path: _tensor_type(value.type) for path, value in values.items()}
        return Callee(function, map_leaves(result, lambda path, _: kinds[path]))

    def _prepare(self, computation: Computation, types: Any) -> tuple[dict[str, Any], bool]:
        """Returns the tensors that a module of PyTorch has, and if it makes random
        numbers."""
        framework = computation.framework or framework_of(computation.function, types)
        if framework != "torch":
            return {}, False
        with unguarded():
            captured, tensors = self._captured(computation, types)
        return tensors, captured.uses_seed

    def _captured(self, computation: Computation, types: Any) -> tuple[Any, dict[str, Any]]:
        import torch

        from .torch._trace import capture, named_tensors, with_tensors

        function = computation.function
        kinds = tuple(leaves_of(types))
        key = ("captured", id(computation), kinds)
        found = self._callees.get(key)
        if found is None:
            tensors: dict[str, Any] = {}
            bare: Any = function
            if isinstance(function, torch.nn.Module):
                tensors, bare = named_tensors(function), with_tensors(function)
                captured = capture(
                    lambda tensors, named: call_bound(
                        lambda *a, **k: bare(tensors, *a, **k), computation.signature, named
                    ),
                    (tensors, types),
                )
            else:
                captured = capture(
                    lambda named: call_bound(bare, computation.signature, named), (types,)
                )
            if captured.changed:
                first = path_name(captured.paths[next(iter(captured.changed))][2:])
                raise trace_error(
                    f"{computation.name} writes to '{first}', and values of a program "
                    "never change",
                    "return the new value; for running statistics call module.eval()",
                )
            found = (captured, tensors)  # type: ignore[assignment]
            self._callees[key] = found  # type: ignore[assignment]
        return found  # type: ignore[return-value]

    def _make_torch(self, computation: Computation, types: Any) -> Callee:
        from .torch._lower import lower_graph
        from .torch._seeds import Seeds

        captured, tensors = self._captured(computation, types)
        function = self.module.function(computation.name)
        function.definition = definition_of(computation.function)
        # The graph takes the tensors of the module first, the callee last.
        paths = [path[2:] for path in captured.paths]
        own = len(tensors)
        order = [*range(own, len(paths)), *range(own)]
        values: list[Any] = [None] * len(paths)
        for i in order:
            value = function.argument(captured.arguments[i], path_name(paths[i]))
            if i >= own:
                value = self._constrained(computation, function, paths[i], value)
            values[i] = value
        seeds = None
        if captured.uses_seed:
            seeds = Seeds(function, function.argument(Type((), "ui64"), "seed"))
            seeds.count = self._random_operations
        results = lower_graph(captured.module, function, values, seed=seeds)
        if seeds is not None:
            self._random_operations = seeds.count
        function.returns(results)
        return Callee(function, captured.unflatten([_tensor_type(v.type) for v in results]))

    def _make_jax(self, computation: Computation, types: Any) -> Callee:
        from ._jax import lower

        text, result = lower(computation, types)
        function = embed(self.module, text, computation.name)
        given = [leaf for _, leaf in leaves_of(types) if isinstance(leaf, TensorType)]
        return self._embedded(computation, function, given, result)

    def _embedded(
        self, computation: Computation, function: Any, given: list[Any], result: Any
    ) -> Callee:
        wanted = function.argument_types
        got = [
            Type(leaf.shape, leaf.element) if isinstance(leaf, TensorType) else leaf
            for leaf in given
        ]
        if got != wanted:
            raise trace_error(
                f"{computation.name} takes ({', '.join(map(str, wanted))}), got "
                f"({', '.join(map(str, got))})"
            )
        types = [_tensor_type(type) for type in function.result_types]
        if result is None:
            result = types[0] if len(types) == 1 else tuple(types)
        else:
            each = iter(types)
            result = map_leaves(result, lambda _, leaf: next(each))
        return Callee(function, result)

    def move(self, value: Traced, slice: Slice) -> Traced:
        """value.to(slice)"""
        self.trace.check(value)
        self.add_slice(slice)
        with self.trace.at_user(slice):
            (moved,) = self.main.generic(
                "stablehlo.optimization_barrier", [value._value], [value._value.type]
            )
            return Traced(self.trace, moved, value.dtype)


def _traced(trace: Trace, value: Value, type: TensorType) -> Traced:
    traced = Traced(trace, value, _types.dtype_of(type.element))
    if isinstance(type, NumberType):
        traced._example = type.example
    return traced


def _tensor_type(type: Type) -> TensorType:
    return TensorType(type.shape, type.element)


def find_cut(split: Mapping[str, Cut], name: str) -> Cut:
    """Returns the cut of the first name or pattern that fits, or None."""
    if name in split:
        return split[name]
    return next((c for p, c in split.items() if fnmatch.fnmatchcase(name, p)), None)


def _only_slice(computation: Computation, args: Any, kwargs: Any) -> Slice | None:
    """Returns the slice of the operands of a computation that has none of its own."""
    found: Slice | None = None
    for _, leaf in leaves_of((args, kwargs)):
        if isinstance(leaf, Traced) and leaf._slice is not None:
            if found is not None and leaf._slice != found:
                raise trace_error(
                    f"the operands of {computation.name} are on slices '{found.name}' and "
                    f"'{leaf._slice.name}'",
                    "move one of them: value.to(slice), or give the computation a slice",
                )
            found = leaf._slice
    return found


def lift_results(trace: Trace, result: Any, name: str) -> dict[Path, Value]:
    """Returns the values that a function returned, by their paths."""
    values = {}
    for path, leaf in leaves_of(result):
        if isinstance(leaf, Traced):
            if leaf._trace is not trace:
                trace.check(leaf)
            values[path] = leaf._value
        elif isinstance(leaf, (str, bytes)) or type_of(leaf, "") is None:
            raise trace_error(
                f"{name} returns a value of {type(leaf).__name__}, expected arrays in "
                "tuples, lists and dictionaries"
            )
        else:
            values[path] = trace.constant(leaf)
    return values


def move(value: Traced, slice: Slice) -> Traced:
    """value.to(slice)"""
    program = current()
    if program is None or value._trace is not program.trace:
        raise trace_error("value.to(slice) moves values of a program, not in a computation")
    if not isinstance(slice, Slice):
        raise trace_error(f"value.to() takes a pw.Slice, got {slice!r}")
    return program.move(value, slice)
