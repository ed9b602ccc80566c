# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension module: bases of the classes of the package (python/src).

Time limits are in nanoseconds; a negative one is none.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar

from ._array import Array as ArrayClass
from ._executable import Results as ResultsClass
from ._executable import Run as RunClass
from ._plan import Plan as PlanClass
from ._session import Session as SessionClass

_Path = str | bytes | os.PathLike[str]
_SessionT = TypeVar("_SessionT", bound=Session)
_PlanT = TypeVar("_PlanT", bound=Plan)
_ExecutableT = TypeVar("_ExecutableT", bound=Executable)
_SliceT = TypeVar("_SliceT", bound=ReservedSlice)
_PortTuple = tuple[str, str, tuple[int, ...], bool, int]

__version__: str

def _register(
    make_error: Callable[[int, str, str], BaseException],
    adapt: Callable[[Any, str | None, str], tuple[Any, str, Any]],
    describe: Callable[[Any, str | None, str], tuple[str, tuple[int, ...]]],
    lock: Callable[[Any], bool],
    unlock: Callable[[Any], None],
    run: type[Run],
    results: type[Results],
    array: type[Array],
    /,
) -> None: ...

def _saved_names(folder: bytes, /) -> str: ...
def _abandoned_calls() -> int: ...
def _from_dlpack(capsule: Any, /) -> View: ...

class Session:
    __slots__ = ("__weakref__",)

    @classmethod
    def _open(
        cls: type[_SessionT],
        name: str | None,
        topology: str | None,
        is_simulation: bool,
        workers: int,
        processes: int,
        priority: int,
        seed: int,
        weight: float,
        quota_bytes: int,
        trace_events: int,
        stall_timeout_ns: int,
        costs_only: bool,
        run_ahead: int,
        elastic: bool,
        link_costs: bool,
        kernel_timeout_ns: int,
        policy: str | None,
        faults: str | None,
        chaos: str | None,
        spill_folder: str | None,
        spill_bytes: int,
        /,
    ) -> _SessionT: ...
    @classmethod
    def _connect(
        cls: type[_SessionT],
        address: str,
        name: str | None,
        key: bytes,
        trust_loopback: bool,
        priority: int,
        weight: float,
        quota_bytes: int,
        run_ahead: int,
        elastic: bool,
        chaos: str | None,
        /,
    ) -> _SessionT: ...
    def _another(
        self: _SessionT,
        name: str,
        weight: float,
        priority: int,
        run_ahead: int,
        quota_bytes: int,
        elastic: bool,
        /,
    ) -> _SessionT: ...
    @property
    def closed(self) -> bool: ...
    @property
    def is_simulation(self) -> bool: ...
    def _topology(self) -> str: ...
    @property
    def costs_only(self) -> bool: ...
    def _write_trace(self, path: bytes, /) -> None: ...
    def _write_profile(self, plan: Plan, path: bytes, /) -> None: ...
    def _machines(self) -> str: ...
    def _statistics(self) -> str: ...
    def _suspend(self, folder: bytes | None, /) -> None: ...
    def _resume(self) -> None: ...
    def _drain(self, names: tuple[str, ...], limit_ns: int, /) -> None: ...
    def _undrain(self, names: tuple[str, ...], /) -> None: ...
    def _save(
        self, arrays: tuple[Array, ...], names: tuple[str, ...], folder: bytes, /
    ) -> None: ...
    def _restore(self, folder: bytes, /) -> ArrayClass: ...
    def _reserve(
        self,
        type: type[_SliceT],
        name: str | None,
        shape: tuple[int, ...],
        islands: int,
        kind: str | None,
        wait_ns: int,
        device_bytes: int,
        contiguous: bool,
        apart_from: tuple[ReservedSlice, ...],
        /,
    ) -> _SliceT: ...
    def _put(
        self, value: Any, policy: int, element: str | None, what: str, /
    ) -> ArrayClass: ...
    def _put_sharded(self, value: Any, sharding: str, /) -> ArrayClass: ...
    def _close(self) -> None: ...

class Plan:
    __slots__ = ("__weakref__",)

    @classmethod
    def _compile(
        cls: type[_PlanT],
        text: str,
        file_name: str | None,
        topology: str | None,
        mesh: str | None,
        program: str | None,
        kernel_cache: str | None,
        oversubscribe: bool,
        steps_in_flight: int,
        carry: str | None,
        stepped: str | None,
        elided: str | None,
        assign: str | None,
        slices: str | None,
        rounding: int,
        explain: int,
        profile: str | None,
        kernel_cache_bytes: int,
        schedule: str | None,
        label_costs: str | None,
        /,
    ) -> tuple[_PlanT, str]: ...
    @classmethod
    def _explain_schedules(
        cls,
        text: str,
        file_name: str | None,
        topology: str | None,
        mesh: str | None,
        program: str | None,
        kernel_cache: str | None,
        oversubscribe: bool,
        steps_in_flight: int,
        carry: str | None,
        stepped: str | None,
        elided: str | None,
        assign: str | None,
        slices: str | None,
        rounding: int,
        explain: int,
        profile: str | None,
        kernel_cache_bytes: int,
        schedule: str | None,
        label_costs: str | None,
        /,
    ) -> str: ...
    @classmethod
    def _read(cls: type[_PlanT], path: _Path, /) -> _PlanT: ...
    @classmethod
    def _parse(cls: type[_PlanT], data: bytes, /) -> _PlanT: ...
    def _write(self, path: _Path, /) -> None: ...
    def _bytes(self) -> bytes: ...
    def _program(self) -> str: ...
    def _arguments(self) -> tuple[_PortTuple, ...]: ...
    def _results(self) -> tuple[_PortTuple, ...]: ...
    def _describe(self) -> str: ...
    def _report(self) -> str: ...
    def _print(self) -> str: ...
    def _costs(self, topology: bytes | None, steps: int, /) -> str: ...

class ReservedSlice:
    __slots__ = ("__weakref__",)

    def _devices(self) -> str: ...
    def release(self) -> None: ...

class Executable:
    __slots__ = ("__weakref__",)

    plan: PlanClass
    session: SessionClass

    @classmethod
    def _load(
        cls: type[_ExecutableT],
        session: Session,
        plan: Plan,
        place: int,
        wait_ns: int,
        slice: ReservedSlice | None,
        oversubscribe: bool,
        await_devices: bool,
        /,
    ) -> _ExecutableT: ...
    def _launch(
        self,
        positional: tuple[Any, ...],
        named: dict[str, Any],
        steps: int,
        deadline_ns: int,
        first_step: int,
        priority: int | None,
        /,
    ) -> RunClass: ...
    def _describe(self) -> str: ...
    def _run_to_end(
        self,
        arrays: tuple[Array, ...],
        steps: int,
        first_step: int,
        mode: int,
        max_losses: int,
        checkpoint_every: int,
        checkpoint_dir: str | None,
        checkpoints_on_hosts: bool,
        resume: bool,
        wait_ns: int,
        oversubscribe: bool,
        /,
    ) -> tuple[list[ArrayClass], tuple[int, int, int, int, int, int, int, int]]: ...
    def _rebind(self, avoid: tuple[str, ...], /) -> None: ...
    def __call__(self, *arguments: Any, **named: Any) -> ResultsClass: ...

class Run:
    __slots__ = ("__weakref__",)

    executable: Any
    session: SessionClass
    _results: ResultsClass

    def _wait(self, limit_ns: int, /) -> None: ...
    def is_ready(self) -> bool: ...
    def cancel(self) -> None: ...

class Results:
    __slots__ = ()

    _run: RunClass
    _fields: tuple[str, ...]

    def __getattr__(self, name: str) -> ArrayClass: ...
    def __getitem__(self, key: int | str) -> ArrayClass: ...
    def __len__(self) -> int: ...

class Array:
    __slots__ = ("__weakref__",)

    session: SessionClass
    shape: tuple[int, ...]
    element: str
    nbytes: int

    def _wait(self, limit_ns: int, /) -> None: ...
    def _get(self, into: Any, /) -> None: ...
    def _get_shard(self, shard: int, shape: tuple[int, ...], into: Any, /) -> None: ...
    def _placement(self) -> str: ...
    def _view(self) -> View: ...
    def _dlpack(self, is_versioned: bool, policy: int, /) -> Any: ...
    def _save(self, folder: bytes, /) -> None: ...
    def delete(self) -> None: ...
    def is_ready(self) -> bool: ...

class View:
    element: str

class Events:
    __slots__ = ("__weakref__",)

    @classmethod
    def _create(cls) -> Events: ...
    def fileno(self) -> int: ...
    def notify(self, run: Run, tag: int, /) -> None: ...
    def take(self) -> list[tuple[int, BaseException | None]]: ...
