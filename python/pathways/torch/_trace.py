# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing of PyTorch functions and modules.

`capture` makes a graph of ATen calls, without in-place operations. `trace` makes a
program of it.
"""

from __future__ import annotations

import contextlib
import fnmatch
import inspect
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.graph_module import GraphModule

from pathways._plan import Source
from pathways._stablehlo import Module, Sharding, Type
from pathways.torch._errors import TraceError
from pathways.torch._functionalize import functionalize
from pathways.torch._lines import Hooks, Lines
from pathways.torch._lower import lower_graph, type_of
from pathways.torch._registry import DTYPES, element_of
from pathways.torch._seeds import SEED, Seeds, uses_seed


class Captured:
    """A graph of a function of tensors.

    `module` has a placeholder for each tensor among the arguments, in order, whose
    types are `arguments` and whose paths in the arguments are `paths`. Its first results
    are the tensors and numbers that the function returns; `changed` has for the position
    of an argument that the function writes to the position of a further result.
    """

    def __init__(
        self,
        module: GraphModule,
        paths: list[tuple[Any, ...]],
        result_spec: Any,
        is_result: list[bool],
        changed: dict[int, int],
    ) -> None:
        self.module = module
        self.paths = paths
        self.result_spec = result_spec
        self.is_result = is_result
        self.changed = changed
        self.arguments = [
            type for node in module.graph.nodes if node.op == "placeholder"
            for type in [type_of(node)] if type is not None
        ]

    @property
    def uses_seed(self) -> bool:
        """True if the graph makes random numbers."""
        return uses_seed(self.module)

    @property
    def result_paths(self) -> list[tuple[Any, ...]]:
        """The path of each result in what the function returns."""
        marks: list[Any] = list(range(len(self.is_result)))
        tree = pytree.tree_unflatten(marks, self.result_spec)
        return [path for path, mark in leaves_of(tree) if self.is_result[mark]]

    def unflatten(self, results: Sequence[Any]) -> Any:
        """Puts results into the structure that the function returned."""
        values = iter(results)
        leaves = [next(values) if is_result else None for is_result in self.is_result]
        return pytree.tree_unflatten(leaves, self.result_spec)


Path = tuple[Any, ...]


def leaves_of(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields the leaves of a tree, in the order of PyTorch, with their paths."""
    children, context = pytree.tree_flatten(tree)
    if len(children) == 1 and children[0] is tree:
        yield path, tree
    elif isinstance(tree, Mapping):
        for key in tree:
            yield from leaves_of(tree[key], (*path, key))
    else:
        names = getattr(tree, "_fields", range(len(tree)))
        for name, child in zip(names, tree):
            yield from leaves_of(child, (*path, name))


class _TypeExample:
    """A type among the examples: it is a tuple itself, but one leaf of the tree."""

    def __init__(self, shape: Sequence[int], element: str) -> None:
        self.shape, self.element = tuple(shape), element


def with_types_as_leaves(tree: Any) -> Any:
    if isinstance(getattr(tree, "element", None), str) and hasattr(tree, "shape"):
        return _TypeExample(tree.shape, tree.element)
    if isinstance(tree, dict):
        pairs = [(key, with_types_as_leaves(value)) for key, value in tree.items()]
        return type(tree)(pairs)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(with_types_as_leaves, tree))
    if type(tree) in (list, tuple):
        return type(tree)(map(with_types_as_leaves, tree))
    return tree


def example_type(x: Any) -> tuple[tuple[int, ...], torch.dtype] | None:
    """Returns shape and dtype of what stands for a tensor: a tensor, an array of NumPy or
    a type (with `shape` and `element`). None: it is a value, and part of the program."""
    if isinstance(x, torch.Tensor):
        element_of(x.dtype)
        return tuple(x.shape), x.dtype
    if isinstance(x, (np.ndarray, np.generic)):
        try:
            return x.shape, torch.from_numpy(np.empty(0, x.dtype)).dtype
        except TypeError:
            raise TraceError(f"PyTorch has no elements like {x.dtype} of NumPy") from None
    element = getattr(x, "element", None)
    if isinstance(element, str) and hasattr(x, "shape"):
        if element not in DTYPES:
            raise TraceError(f"PyTorch 1.13 has no elements like {element}")
        return tuple(x.shape), DTYPES[element]
    return None


@contextlib.contextmanager
def no_hidden_numbers() -> Iterator[None]:
    """Refuses random numbers of NumPy and Python, which would be part of the program."""
    state, python = np.random.get_state(), random.getstate()
    yield
    after = np.random.get_state()
    is_same = all(np.array_equal(a, b) for a, b in zip(state, after))
    is_drawn = {"np.random": not is_same, "random": random.getstate() != python}
    for name in is_drawn:
        if is_drawn[name]:
            raise TraceError(
                f"the function draws numbers from {name} while it is traced, which would "
                "be the same in each run: use torch.rand and others, or pass them as "
                "arguments"
            )


def capture(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
) -> Captured:
    """Traces a function of tensors into a graph.

    `args` and `kwargs` are trees of examples: what `example_type` takes becomes an
    argument of the graph, other leaves are values that the function gets as they are.
    Nothing is computed. Raises TraceError for what cannot be traced.
    """
    tree = with_types_as_leaves((tuple(args), dict(kwargs or {})))
    leaves, spec = pytree.tree_flatten(tree)
    types = [example_type(leaf) for leaf in leaves]
    all_paths = [path for path, _ in leaves_of(tree)]
    paths = [path for path, type in zip(all_paths, types) if type is not None]
    returned: list[Any] = []
    lines = Lines()

    def flat(*tensors: Any) -> Any:
        given = iter(tensors)
        values = [
            leaf if type is None else next(given) for leaf, type in zip(leaves, types)
        ]
        inner_args, inner_kwargs = pytree.tree_unflatten(values, spec)
        with lines, Hooks(lines):
            out = function(*inner_args, **inner_kwargs)
        out_leaves, out_spec = pytree.tree_flatten(out)
        returned[:] = [out_spec, [leaf is not None for leaf in out_leaves]]
        for leaf in out_leaves:
            if leaf is not None and not isinstance(leaf, (torch.Tensor, bool, int, float)):
                raise TraceError(
                    f"{describe(function)} returns {type_name(leaf)}, expected tensors "
                    "and numbers, in tuples, lists and dictionaries"
                )
        return tuple(leaf for leaf in out_leaves if leaf is not None)

    state = torch.get_rng_state()
    fake: Any = FakeTensorMode(allow_fallback_kernels=True)  # type: ignore[no-untyped-call]
    with no_hidden_numbers(), fake:
        examples = [
            torch.empty(type[0], dtype=type[1]).requires_grad_(needs_gradient(leaf))
            for leaf, type in zip(leaves, types)
            if type is not None
        ]
        record: Any = make_fx(flat)  # type: ignore[no-untyped-call]
        try:
            module: GraphModule = record(*examples)
        except Exception as failure:
            if not isinstance(failure, TraceError) and is_of_tracing(failure):
                first = (str(failure) or type(failure).__name__).splitlines()[0]
                raise TraceError(
                    f"PyTorch cannot trace this: {first}", lines.place_of(failure)
                ) from failure
            raise
        finally:
            lines.restore()
            torch.set_rng_state(state)
    graph, changed = functionalize(module)
    graph.graph.eliminate_dead_code()
    return Captured(graph, paths, returned[0], returned[1], changed)


def is_of_tracing(failure: Exception) -> bool:
    """True for a failure that the function does not have when it is called."""
    if isinstance(failure, NotImplementedError) or "Fake" in type(failure).__name__:
        return True
    signs = ("data is not allocated", "FakeTensor", "Tensor that doesn't have storage")
    return any(sign in str(failure) for sign in signs)


def needs_gradient(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.requires_grad


def type_name(x: Any) -> str:
    return f"a {type(x).__module__}.{type(x).__qualname__}"


def describe(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def path_name(path: Sequence[Any]) -> str:
    return ".".join(str(part) for part in path)


def argument_names(function: Callable[..., Any], paths: list[tuple[Any, ...]]) -> list[str]:
    """Returns the names of arguments: parameters of the function, and what is in them."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = []
    for kind, first, *rest in paths:
        if kind == 0:
            name = f"arg{first}"
            for i, parameter in enumerate(parameters):
                if parameter.kind is parameter.VAR_POSITIONAL:
                    name = f"{parameter.name}{first - i}"
                    break
                if i == first:
                    name = parameter.name
                    break
        else:
            name = str(first)
        names.append(path_name([name, *rest]))
    return names


def result_names(paths: list[tuple[Any, ...]]) -> list[str]:
    """Returns the names of results: keys of a dictionary, else result0, result1, ..."""
    return [
        path_name(path) if path and isinstance(path[0], str)
        else path_name([f"result{path[0] if path else 0}", *path[1:]])
        for path in paths
    ]


class Traced:
    """A program made of a PyTorch function, and what its arguments and results are.

    `text` is a module of StableHLO. `arguments` and `results` are the names, `types` the
    types of the arguments. `parameters` has the tensors of a module by the names of the
    arguments that take them. `seed` is the name of the argument for the seed of random
    numbers, or None. `buffers` has for the name of a buffer that the module writes to,
    such as a running mean, the name of the result with its new value.
    """

    def __init__(self, text: str, captured: Captured) -> None:
        self.text = text
        self.captured = captured
        self.arguments: list[str] = []
        self.types: list[Type] = []
        self.results: list[str] = []
        self.parameters: dict[str, torch.Tensor] = {}
        self.buffers: dict[str, str] = {}
        self.seed: str | None = None

    def __str__(self) -> str:
        return self.text

    def __pathways_source__(self) -> Source:
        return Source(self.text)

    def unflatten(self, results: Sequence[Any]) -> Any:
        """Puts the results of a run into the structure that the function returned."""
        count = len(self.captured.result_paths)
        return self.captured.unflatten(list(results)[:count])


@contextlib.contextmanager
def tensors_of(
    module: torch.nn.Module, tensors: Mapping[str, Any]
) -> Iterator[Callable[[], dict[str, Any]]]:
    """Puts tensors in the places of the parameters and buffers of a module that have these
    names, everywhere where the module uses them. Yields a function that returns those
    that are there now. Afterwards, the module has its own again."""
    mine = {id(tensor): name for name, tensor in named_tensors(module).items()}
    places = []
    parts = list({id(m): m for m in module.modules()}.values())
    for part in parts:
        tables: list[Any] = [part._parameters, part._buffers]
        for slots in tables:
            for key, tensor in slots.items():
                if tensor is not None and mine.get(id(tensor)) in tensors:
                    places.append((slots, key, tensor, mine[id(tensor)]))
    # Recurrent modules keep a list of their parameters beside.
    lists = [part._flat_weights for part in parts if isinstance(part, torch.nn.RNNBase)]
    kept = [list(weights) for weights in lists]
    try:
        for slots, key, _, name in places:
            slots[key] = tensors[name]
        for weights in lists:
            weights[:] = [tensors.get(mine.get(id(w), ""), w) for w in weights]
        yield lambda: {name: slots[key] for slots, key, _, name in places}
    finally:
        for slots, key, tensor, _ in places:
            slots[key] = tensor
        for weights, own in zip(lists, kept):
            weights[:] = own


def named_tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Returns parameters, then buffers, by name. A tensor with several names has one."""
    found: dict[str, torch.Tensor] = dict(module.named_parameters())
    seen = {id(tensor) for tensor in found.values()}
    for name, buffer in module.named_buffers():
        if id(buffer) not in seen:
            found[name] = buffer
    return found


def trace(
    function: Callable[..., Any],
    *args: Any,
    names: Sequence[str] | None = None,
    results: Sequence[str] | None = None,
    mesh: Mapping[str, int] | Sequence[tuple[str, int]] = (),
    split: Mapping[str, Any] | None = None,
    on: str | None = None,
    **kwargs: Any,
) -> Traced:
    """Traces a function of tensors, or a module, into a program.

    `args` and `kwargs` are examples: tensors, arrays or types (only their shape and type
    count) become arguments; other values become part of the program. The parameters and
    buffers of a module are arguments, too, with their names.

    `names` renames the arguments other than parameters, and `results` the results.
    `mesh` has axes with their sizes; `split` says along which of them an argument is cut:
    for the name, or a pattern such as "*.weight", a sequence with an axis, None or a
    tuple of axes for each dimension, or an axis for the first one. `on` is the slice of
    the program that computes.

    Raises TraceError, with the user's file and line, for what cannot be a program:
    control flow that depends on values, operations without a lowering, shapes that
    depend on values, writes to an argument.
    """
    tensors = named_tensors(function) if isinstance(function, torch.nn.Module) else {}
    bare = function.forward if isinstance(function, torch.nn.Module) else function
    if isinstance(function, torch.nn.Module):
        captured = capture(with_tensors(function), (tensors, *args), kwargs)
    else:
        captured = capture(function, args, kwargs)
    own = len(tensors)
    paths = captured.paths[own:]
    if own:
        # The tensors of the module were the first argument.
        paths = [(k, i - 1 if k == 0 else i, *rest) for k, i, *rest in paths]
    given = list(names) if names is not None else argument_names(bare, paths)
    if len(given) != len(paths):
        raise TraceError(f"{len(given)} names for {len(paths)} arguments")
    argument_list = list(tensors)
    for name in given:
        while names is None and name in argument_list:
            name = f"_{name}"
        if name in argument_list:
            raise TraceError(f"two arguments have the name {name}")
        argument_list.append(name)
    for i in captured.changed:
        if argument_list[i] not in tensors:
            raise TraceError(
                f"{describe(function)} writes to its argument {argument_list[i]}: a "
                "program does not change its arguments; clone it first, and return the new "
                "value"
            )
    return program(
        captured,
        describe(function),
        argument_list,
        list(results) if results is not None else result_names(captured.result_paths),
        tensors,
        mesh,
        split or {},
        on,
    )


def with_tensors(module: torch.nn.Module) -> Callable[..., Any]:
    """Returns a function of the tensors of a module by name, and of its arguments."""

    def call(tensors: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        with tensors_of(module, tensors):
            return module(*args, **kwargs)

    return call


def sharding_of(name: str, type: Type, split: Mapping[str, Any], axes: set[str]) -> Any:
    """Returns the sharding of an argument, or None: the compiler chooses."""
    for pattern, cut in split.items():
        if not fnmatch.fnmatchcase(name, pattern):
            continue
        dims: list[Any] = [cut] if isinstance(cut, str) else list(cut or ())
        if len(dims) > len(type.shape):
            raise TraceError(
                f"split of {pattern!r} has {len(dims)} dimensions, but {name} is {type}"
            )
        dims += [None] * (len(type.shape) - len(dims))
        parts = tuple(
            () if d is None else (d,) if isinstance(d, str) else tuple(d) for d in dims
        )
        for axis in (axis for part in parts for axis in part):
            if axis not in axes:
                raise TraceError(
                    f"split of {pattern!r} names the axis {axis!r}, but the mesh has "
                    f"{', '.join(sorted(axes)) or 'none'}"
                )
        return Sharding(parts)
    return None


def program(
    captured: Captured,
    title: str,
    names: list[str],
    results: list[str],
    tensors: Mapping[str, torch.Tensor],
    mesh: Mapping[str, int] | Sequence[tuple[str, int]],
    split: Mapping[str, Any],
    on: str | None,
) -> Traced:
    axes = list(mesh.items()) if isinstance(mesh, Mapping) else list(mesh)
    for pattern in split:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
            raise TraceError(
                f"split of {pattern!r} fits no argument; there are {', '.join(names)}"
            )
    module = Module(title, axes)
    function = module.function("main")
    values = [
        function.argument(type, name, sharding_of(name, type, split, {a for a, _ in axes}))
        for name, type in zip(names, captured.arguments)
    ]
    seed = "seed" if captured.uses_seed else None
    while seed in names:
        seed = f"_{seed}"
    seeds = Seeds(function, function.argument(SEED, seed)) if seed else None
    with function.stage(on) if on else contextlib.nullcontext():
        out = lower_graph(captured.module, function, values, seed=seeds)
    count = len(captured.result_paths)
    if len(results) != count:
        raise TraceError(f"{len(results)} names for {count} results")
    buffers = {names[i]: f"new.{names[i]}" for i in captured.changed}
    out_names = [*results, *buffers.values()]
    labels: list[str | None] = [*out_names]
    function.returns(out, labels)
    traced = Traced(module.text(), captured)
    traced.arguments = list(names)
    if seed:
        traced.arguments.append(seed)
    traced.types = [*captured.arguments, SEED] if seed else list(captured.arguments)
    traced.results = out_names
    traced.parameters = dict(tensors)
    traced.buffers = buffers
    traced.seed = seed
    return traced
