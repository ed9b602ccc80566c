# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that Python functions describe."""

from __future__ import annotations

import functools
import inspect
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union, overload

from ._computation import (
    Computation,
    Framework,
    bind,
    call_bound,
    check_names,
    definition_of,
    framework_of,
    mentioned,
)
from ._default_session import default_session
from ._embed import is_pw_dialect
from ._errors import InvalidArgument
from ._executable import Executable
from ._plan import Plan, Source, compile
from ._session import Session
from ._slice import Cut, Slice, islands
from ._tensor_types import TensorType, number_type_of, type_of
from ._tree import Path, leaves_of, map_leaves, path_name, result_name

# The results of a text that is a program.
_UNKNOWN = object()

Carry = Union[str, Sequence[str], Mapping[str, str]]


class TracedProgram:
    """A program for arguments of certain types, as text. `pw.compile` and `Session.load`
    take it.

    `arguments` and `results` are names in the order of the program. `bound` has the
    parameters of modules by the names of the arguments that take them, and `seed` is the
    name of the argument that is the seed of random numbers, or None.
    """

    def __init__(
        self,
        source: Source,
        arguments: Sequence[str],
        results: Sequence[str],
        bound: Mapping[str, Any],
        seed: str | None,
        tree: Any,
    ) -> None:
        self.source = source
        self.arguments, self.results = tuple(arguments), tuple(results)
        self.bound, self.seed = dict(bound), seed
        self._tree = tree

    @property
    def text(self) -> str:
        """The module of StableHLO."""
        return self.source.text

    def __str__(self) -> str:
        return self.text

    def __pathways_source__(self) -> Source:
        return self.source

    @property
    def is_text(self) -> bool:
        """True for a text that was not traced: its names and types are not known here."""
        return self._tree is _UNKNOWN

    def unflatten(self, results: Any) -> Any:
        """Puts results, in the order of the program, into what the function returned. What
        a text returns stays as it is."""
        if self.is_text:
            return results
        each = iter(results)
        return map_leaves(self._tree, lambda _, leaf: next(each))


class Program:
    """A function that describes a program. See `pw.program`."""

    def __init__(
        self,
        function: Any,
        on: Slice | None = None,
        carry: Carry = (),
        stepped: str | Sequence[str] = (),
        split: Mapping[str, Cut] | None = None,
        static: str | Sequence[str] = (),
        framework: Framework | None = None,
        name: str | None = None,
    ) -> None:
        if on is not None and not isinstance(on, Slice):
            raise InvalidArgument(f"on= must be a pw.Slice, got {on!r}")
        self.computation = (
            function
            if isinstance(function, Computation)
            else Computation(function, on, None, static, framework, name)
        )
        self.on = on if on is not None else self.computation.on
        self.name = self.computation.name
        self.static = self.computation.static
        self.stepped = (stepped,) if isinstance(stepped, str) else tuple(stepped)
        self.carry = (carry,) if isinstance(carry, str) else carry
        self.split = {**self.computation.split, **dict(split or {})}
        self.signature = self.computation.signature
        if self.signature is not None:
            check_names("carry", tuple(self.carry), self.signature)
        self._loaded: weakref.WeakKeyDictionary[
            Session, dict[Any, tuple[Executable, TracedProgram]]
        ] = weakref.WeakKeyDictionary()
        if callable(function) and not isinstance(function, Computation):
            functools.update_wrapper(self, function, updated=())

    def __repr__(self) -> str:
        return f"<program {self.name}>"

    @property
    def _seed_name(self) -> str:
        is_taken = self.signature is not None and "seed" in self.signature.parameters
        return "_seed" if is_taken else "seed"

    # These methods trace the function.

    def _is_one_computation(self, arguments: Any) -> bool:
        """True if the function computes by itself, and does not call computations."""
        given = self.computation
        if not isinstance(given.function, str):
            used = mentioned(given.function)
            if any(isinstance(value, (Computation, Program)) for value in used):
                return False
        if given.framework is not None:
            return given.framework != "numpy"
        return framework_of(given.function, arguments) != "numpy"

    def trace(self, *types: Any, **named: Any) -> TracedProgram:
        """Traces the function for arguments of these types.

        A type is pw.f32[32, 64], or an array that has it; trees of them are for trees of
        arrays. A stepped argument has the type of one step. Arguments that are `static`,
        and those that are no arrays, are values. Errors: ProgramError with the user's file
        and line; InvalidArgument.
        """
        return self._trace_bound(bind(self.name, self.signature, types, named))

    def _trace_bound(self, bound: Mapping[str, Any]) -> TracedProgram:
        # NumPy is loaded by what traces, and not by the package.
        from ._program_trace import SlicesChanged, current

        if current() is not None:
            raise InvalidArgument(f"{self!r} cannot be traced inside of another program")
        if isinstance(self.computation.function, str):
            whole = self._whole_text()
            if whole is not None:
                return whole
        arguments = map_leaves(bound, self._argument_type)
        slices = [self.on] if self.on is not None else []
        while True:
            try:
                return self._trace(arguments, slices)
            except SlicesChanged:
                pass

    def _argument_type(self, path: Path, leaf: Any) -> Any:
        if path[0] in self.static:
            return leaf
        type = type_of(leaf, f"argument '{path_name(path)}' of {self.name}")
        return leaf if type is None else type

    def _whole_text(self) -> TracedProgram | None:
        """The program of a text, unless the text is to be placed on a slice."""
        text = self.computation.function
        carry = self.carry
        if is_pw_dialect(text):
            if self.on is not None or self.carry or self.stepped or self.split:
                raise InvalidArgument(
                    "a text in the pw dialect states its slices, shardings and carried "
                    "arguments itself: on=, carry=, stepped= and split= do not apply"
                )
            carry = ()
        elif self.on is not None:
            return None
        elif self.split:
            raise InvalidArgument(
                "a text that is a program states its shardings itself: split= needs on="
            )
        pairs = carry.items() if isinstance(carry, Mapping) else [(c, c) for c in carry]
        source = Source(
            text,
            file_name=f"<program {self.name}>",
            carry=",".join(f"{argument}:{result}" for argument, result in pairs),
            stepped=",".join(self.stepped),
        )
        return TracedProgram(source, (), (), {}, None, _UNKNOWN)

    def _trace(self, arguments: Any, slices: list[Slice]) -> TracedProgram:
        from ._numpy import Traced
        from ._program_trace import ProgramTrace, find_cut, lift_results

        program = ProgramTrace(self.name, slices, self.on, self.split, self._seed_name)
        program.main.definition = definition_of(self.computation.function)
        types: dict[Path, TensorType] = {}
        unused = set(self.split)

        def argument(path: Path, leaf: Any) -> Any:
            if not isinstance(leaf, TensorType):
                return leaf
            types[path] = leaf
            name = path_name(path)
            unused.difference_update([p for p in unused if find_cut({p: 1}, name)])
            return program.argument(name, leaf, self.on)

        try:
            for slice in slices:
                program.add_slice(slice)
            values = map_leaves(arguments, argument)
            with program.running():
                result = self._body(program, values, arguments)
                lifted = lift_results(program.trace, result, self.name)
        finally:
            # A further try knows the slices.
            slices[:] = program.slices
        names = [result_name(path) for path in lifted]
        cuts: list[Any] = []
        for path, value in lifted.items():
            name = result_name(path)
            cut = find_cut(self.split, name)
            unused.difference_update([p for p in unused if find_cut({p: 1}, name)])
            leaf = _leaf(result, path)
            on = leaf._slice if isinstance(leaf, Traced) else None
            what = f"split= of '{name}'"
            cuts.append(
                None if cut is None else program.sharding(cut, value.rank, on, what)
            )
        for name in program.bound:
            unused.difference_update([p for p in unused if find_cut({p: 1}, name)])
        if unused:
            raise InvalidArgument(
                f"split= names '{min(unused)}', but {self.name} has the arguments "
                f"{_listed(map(path_name, types))} and the results {_listed(names)}"
            )
        program.check_mesh()
        program.main.returns(list(lifted.values()), names, cuts)
        program.module.mesh = tuple(program.mesh.axes) if program.slices else ()
        source = Source(
            program.module.text(),
            file_name=f"<program {self.name}>",
            carry=self._carry_option(types, {p: v.type for p, v in lifted.items()}),
            stepped=self._stepped_option(types, lifted),
            slices=islands(program.slices),
        )
        return TracedProgram(
            source,
            program.names,
            names,
            program.bound,
            None if program.seed is None else self._seed_name,
            result,
        )

    def _body(self, program: Any, values: Any, types: Any) -> Any:
        if self._is_one_computation(types):
            inner = self.computation
            return program.call(inner, *_call_arguments(inner.signature, values))
        return call_bound(self.computation.function, self.signature, values)

    def _carry_option(
        self, arguments: Mapping[Path, TensorType], results: Mapping[Path, Any]
    ) -> str:
        """Returns positions of carried arguments and of their results."""
        if not self.carry:
            return ""
        argument_paths, result_paths = list(arguments), list(results)
        pairs: list[str] = []
        wanted: dict[str, str | None] = (
            dict(self.carry)
            if isinstance(self.carry, Mapping)
            else {name: None for name in self.carry}
        )
        for place, (name, target) in enumerate(wanted.items()):
            taken = _below(argument_paths, name, path_name)
            if not taken:
                raise InvalidArgument(
                    f"carry= names '{name}', but {self.name} has the arguments "
                    f"{_listed(map(path_name, argument_paths))}"
                )
            given = _below(result_paths, target or name, result_name)
            if not given and target is None:
                given = _below(result_paths, f"result{place}", result_name)
            if not given:
                raise InvalidArgument(
                    f"carry= needs a result '{target or name}' for '{name}', but the "
                    f"results are {_listed(map(result_name, result_paths))}"
                )
            if len(given) != len(taken):
                raise InvalidArgument(
                    f"carry= pairs '{name}', which is {len(taken)} arrays, with "
                    f"'{target or name}', which is {len(given)} results of "
                    f"{_listed(map(result_name, result_paths))}"
                )
            for a, r in zip(taken, given):
                type, other = arguments[argument_paths[a]], results[result_paths[r]]
                if (type.shape, type.element) != (other.shape, other.element):
                    raise InvalidArgument(
                        f"carry= pairs '{path_name(argument_paths[a])}' of {type} with "
                        f"'{result_name(result_paths[r])}' of "
                        f"{TensorType(other.shape, other.element)}"
                    )
                pairs.append(f"{a}:{r}")
        return ",".join(pairs)

    def _stepped_option(
        self, arguments: Mapping[Path, Any], results: Mapping[Path, Any]
    ) -> str:
        names: list[str] = []
        for wanted in self.stepped:
            paths = list(arguments)
            found = [path_name(paths[i]) for i in _below(paths, wanted, path_name)]
            if not found:
                ends = list(results)
                found = [result_name(ends[i]) for i in _below(ends, wanted, result_name)]
            if not found:
                raise InvalidArgument(
                    f"stepped= names '{wanted}', but {self.name} has the arguments "
                    f"{_listed(map(path_name, arguments))} and the results "
                    f"{_listed(map(result_name, results))}"
                )
            names += found
        return ",".join(names)

    def __pathways_source__(self) -> Source:
        """The text of a program without arguments."""
        return self.trace().source

    # These methods compile and run the program.

    def compile(
        self,
        *types: Any,
        topology: str | None = None,
        kernel_cache: str | os.PathLike[str] | None = None,
        oversubscribe: bool = False,
        steps_in_flight: int = 0,
        schedule: str | None = None,
        label_costs: str | None = None,
        **named: Any,
    ) -> Plan:
        """Traces the function for arguments of these types, as `trace` does, and compiles
        the program as `pw.compile` does. An argument whose name is that of an option is
        given by position. Errors: those of both."""
        traced = self.trace(*types, **named)
        return compile(
            traced,
            topology,
            kernel_cache=kernel_cache,
            oversubscribe=oversubscribe,
            steps_in_flight=steps_in_flight,
            schedule=schedule,
            label_costs=label_costs,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the program in `pw.default_session()`, and returns at once what the function
        returns, with Arrays in place of arrays.

        The first call with arguments of new types traces, compiles and loads it. Virtual
        devices share the real ones if these are too few. A program with random numbers
        takes the argument `seed`, or `_seed` if the function has a `seed` itself.
        """
        from ._program_trace import current

        if current() is not None:
            raise InvalidArgument(
                f"{self!r} is called inside of another program: call its function instead, "
                "or make it a computation"
            )
        seed = kwargs.pop(self._seed_name, None)
        bound = bind(self.name, self.signature, args, kwargs)
        session = default_session()
        executable, traced = self._load(session, bound)
        if traced.is_text:
            return executable(*args, **kwargs)
        values: list[Any] = [
            leaf
            for path, leaf in leaves_of(bound)
            if isinstance(self._argument_type(path, leaf), TensorType)
        ]
        given = dict(traced.bound)
        if traced.seed is not None:
            if seed is None:
                raise InvalidArgument(
                    f"{self.name} makes random numbers: call it with {traced.seed}=, an "
                    "integer"
                )
            given[traced.seed] = seed
        elif seed is not None:
            raise InvalidArgument(
                f"{self.name} makes no random numbers, and takes no {self._seed_name}="
            )
        values += [given[name] for name in traced.arguments[len(values) :]]
        return traced.unflatten(executable(*[_detached(value) for value in values]))

    def _load(
        self, session: Session, bound: Mapping[str, Any]
    ) -> tuple[Executable, TracedProgram]:
        types = map_leaves(bound, self._step_type)
        module = self.computation.function
        key = (tuple(leaves_of(types)), getattr(module, "training", None))
        known = self._loaded.setdefault(session, {})
        try:
            found = known.get(key)
        except TypeError:
            raise InvalidArgument(
                f"a static argument of {self.name} cannot be hashed: "
                f"{_listed(path_name(path) for path, leaf in key[0] if not _is_hashable(leaf))}"
            ) from None
        if found is None:
            traced = self._trace_bound(types)
            found = known[key] = (session.load(traced, oversubscribe=True), traced)
        return found

    def _step_type(self, path: Path, leaf: Any) -> Any:
        type = self._argument_type(path, leaf)
        name = path_name(path)
        if isinstance(type, TensorType) and any(
            name == s or name.startswith(s + ".") for s in self.stepped
        ):
            if not type.shape:
                raise InvalidArgument(
                    f"argument '{name}' is stepped: it needs a value for each step, in a "
                    "leading dimension"
                )
            return TensorType(type.shape[1:], type.element)
        return number_type_of(leaf, type) if isinstance(type, TensorType) else type


def _leaf(tree: Any, path: Path) -> Any:
    for part in path:
        tree = getattr(tree, part) if hasattr(tree, "_fields") else tree[part]
    return tree


def _below(paths: Sequence[Path], name: str, spell: Callable[[Path], str]) -> list[int]:
    """Returns the positions of the leaves that a name stands for."""
    names = [spell(path) for path in paths]
    return [i for i, n in enumerate(names) if n == name or n.startswith(name + ".")]


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _listed(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


def _detached(value: Any) -> Any:
    detach = getattr(value, "detach", None)
    return detach() if detach is not None else value


def _call_arguments(
    signature: inspect.Signature | None, named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns arguments by position and by name."""
    taken: list[Any] = []

    def keep(*args: Any, **kwargs: Any) -> None:
        taken.extend((args, kwargs))

    call_bound(keep, signature, named)
    return taken[0], taken[1]


@overload
def program(
    function: Any,
    *,
    on: Slice | None = None,
    carry: Carry = (),
    stepped: str | Sequence[str] = (),
    split: Mapping[str, Cut] | None = None,
    static: str | Sequence[str] = (),
    framework: Framework | None = None,
    name: str | None = None,
) -> Program: ...


@overload
def program(
    function: None = None,
    *,
    on: Slice | None = None,
    carry: Carry = (),
    stepped: str | Sequence[str] = (),
    split: Mapping[str, Cut] | None = None,
    static: str | Sequence[str] = (),
    framework: Framework | None = None,
    name: str | None = None,
) -> Callable[[Any], Program]: ...


def program(
    function: Any = None,
    *,
    on: Slice | None = None,
    carry: Carry = (),
    stepped: str | Sequence[str] = (),
    split: Mapping[str, Cut] | None = None,
    static: str | Sequence[str] = (),
    framework: Framework | None = None,
    name: str | None = None,
) -> Any:
    """Makes a program of a function that calls computations, which run on their slices.
    Values move to another slice where a computation there takes them, or by
    `value.to(slice)`. Also a decorator, bare or with options.

    What the function computes itself, with NumPy, runs on the slice `on`, or where its
    operands are. A function that calls no computation is one itself, so `function` may be
    all that `pw.computation` takes, and text (or a path) in the `pw` dialect.

    Arguments have the names of the parameters; what is in a tree has a path, such as
    "state.w". Results have the keys of a dictionary that is returned, else result0,
    result1, ...

    `carry` names arguments that take a result in the next step: that of the same name, or
    the one at the same place, or as a dictionary {argument: result}. `stepped` names
    arguments and results that have one value for each step. `split` cuts arguments and
    results over axes of slices: {"x": "d", "w": (None, "model")}; names may be patterns.
    `static` names arguments that are values of Python.
    """

    def make(function: Any) -> Program:
        return Program(function, on, carry, stepped, split, static, framework, name)

    return make if function is None else make(function)
