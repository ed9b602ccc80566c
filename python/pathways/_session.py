# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions of clusters."""

from __future__ import annotations

import atexit
import json
import os
import weakref
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Protocol, TypeVar, overload, runtime_checkable

from . import _pathways
from ._array import Array
from ._default_session import enter, leave
from ._errors import InvalidArgument, check_numbers
from ._executable import Executable
from ._placement import Sharding
from ._plan import Plan, Program, compile
from ._times import nanoseconds

Place = Literal["compiled", "anywhere", "present"]
_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


@runtime_checkable
class Loadable(Protocol[_T_co]):
    """What a session loads in a way of its own, such as the step of a training."""

    def __pathways_load__(self, session: Session, **options: Any) -> _T_co: ...


_PLACES: dict[str, int] = {"compiled": 0, "anywhere": 1, "present": 2}
_open_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _checked(weight: float) -> float:
    """Returns a weight. 0 is an error here, and the default in the C API."""
    if weight == 0:
        raise InvalidArgument("the weight is 0, expected 0.001 to 1000")
    return weight


class Session(_pathways.Session):
    """A tenant of a cluster in this process, which it opens.

    `topology` is "ISLANDSxHOSTSxDEVICES", a .textproto file, or None for this machine.
    `world` is "threads", or "sim" for a deterministic simulation in virtual time.
    `processes` is the number of processes of this machine in which hosts live; 0: this
    one. With `costs_only`, kernels of a simulation take virtual time and no memory, and
    arrays have shapes and no values. The other options are those of RunOptions and
    ClientOptions (include/pathways/Options.h), with times in seconds. The end of a `with`
    block closes the session, and what it made: runs in flight are ended. Any thread
    may use a session. Errors: InvalidArgument, Refused.
    """

    __slots__ = ()

    def __new__(
        cls,
        topology: str | None = None,
        *,
        world: Literal["threads", "sim"] = "threads",
        processes: int = 0,
        name: str | None = None,
        workers: int = 0,
        seed: int = 0,
        weight: float = 1,
        priority: int = 0,
        quota_bytes: int = 0,
        trace_events: int = 0,
        stall_timeout: float | None = None,
        costs_only: bool = False,
        run_ahead: int = 0,
        elastic: bool = False,
        link_costs: bool = False,
        kernel_timeout: float | None = None,
        policy: str | None = None,
        faults: str | None = None,
        chaos: str | None = None,
        spill_folder: str | os.PathLike[str] | None = None,
        spill_bytes: int = 0,
    ) -> Session:
        if world not in ("threads", "sim"):
            raise InvalidArgument(f"there is no world {world!r}, only 'threads' and 'sim'")
        if topology is not None and not isinstance(topology, str):
            raise TypeError(f"a topology is a str such as '2x1x4', not {topology!r}")
        if costs_only and world != "sim":
            raise InvalidArgument("costs_only=True needs world='sim'")
        check_numbers(31, workers=workers, processes=processes)
        check_numbers(
            quota_bytes=quota_bytes,
            trace_events=trace_events,
            stall_timeout=stall_timeout,
            run_ahead=run_ahead,
            kernel_timeout=kernel_timeout,
            spill_bytes=spill_bytes,
        )
        check_numbers(64, seed=seed)
        session = cls._open(
            name,
            topology,
            world == "sim",
            workers,
            processes,
            priority,
            seed,
            _checked(weight),
            quota_bytes,
            trace_events,
            0 if stall_timeout is None else nanoseconds(stall_timeout),
            costs_only,
            run_ahead,
            elastic,
            link_costs,
            0 if kernel_timeout is None else nanoseconds(kernel_timeout),
            policy,
            faults,
            chaos,
            None if spill_folder is None else os.fspath(spill_folder),
            spill_bytes,
        )
        _open_sessions.add(session)
        return session

    @property
    def topology(self) -> str:
        """The machines of the cluster, as `compile` takes them."""
        return self._topology()

    @overload
    def load(
        self,
        program: Plan | Program,
        *,
        place: Place = "compiled",
        timeout: float | None = None,
        **options: Any,
    ) -> Executable: ...

    @overload
    def load(
        self,
        program: Loadable[_T],
        *,
        place: Place = "compiled",
        timeout: float | None = None,
        **options: Any,
    ) -> _T: ...

    def load(
        self,
        program: Any,
        *,
        place: Place = "compiled",
        timeout: float | None = None,
        on: ReservedSlice | None = None,
        share: bool = False,
        await_devices: bool = False,
        **options: Any,
    ) -> Any:
        """Loads a plan, or compiles a program for this cluster and loads it.

        `timeout` is the longest wait, in seconds, for memory that other sessions hold;
        None: no limit. `on` is a reserved slice to load on. With `place` "present", devices
        that are lost or drained are replaced; with `share` as well, devices may be shared if
        there are too few. `await_devices` also waits for them. `options` are those of
        `compile`. Errors: InvalidArgument, Refused, and those of `compile`.
        """
        if place not in _PLACES:
            raise InvalidArgument(f"there is no place {place!r}, only {list(_PLACES)}")
        if isinstance(program, Loadable):
            return program.__pathways_load__(self, place=place, timeout=timeout, **options)
        if isinstance(program, Plan):
            if options:
                raise InvalidArgument(f"a plan is compiled: it takes no {list(options)}")
            plan = program
        else:
            plan = compile(program, self.topology, **options)
        limit = 0 if timeout is None else nanoseconds(timeout) or -1
        return Executable._load(self, plan, _PLACES[place], limit, on, share, await_devices)

    def put(self, value: Any, *, copy: bool | None = None) -> Array:
        """Makes an array of a value: an array of NumPy or DLPack, a number, or a list.

        A value of at most 64 KiB is copied. The memory of a larger array of NumPy is
        borrowed: the array is read-only until the devices have its values. `copy` True
        always copies; False never does, so that the caller must not change the memory,
        and is an error for values that need a conversion. Errors: InvalidArgument; Refused
        if memory is short.
        """
        return self._put(value, 0 if copy is None else 1 if copy else 2, None, "the value")

    def put_sharded(self, value: Any, sharding: Sharding) -> Array:
        """Makes an array on devices, divided by a sharding.

        A launch that wants it there does not move it. Errors: InvalidArgument, Refused.
        """
        return self._put_sharded(value, sharding.to_json())

    def save(self, arrays: Mapping[str, Array], folder: str | os.PathLike[str]) -> None:
        """Waits for several arrays, then writes them to one new folder, by their names.

        Errors: AlreadyExists, Unwritable, RunError; InvalidArgument for a name.
        """
        if not isinstance(arrays, Mapping):
            raise InvalidArgument(
                f"arrays to save are a dictionary from names to arrays, not a "
                f"{type(arrays).__name__}"
            )
        self._save(tuple(arrays.values()), tuple(arrays), os.fsencode(folder))

    def restore(self, folder: str | os.PathLike[str]) -> Array:
        """Makes an array of one that was saved: by Array.save, or by `save` in FOLDER/NAME.

        The folder must stay until the first launch with the array has ended. Errors:
        NotFound, Damaged, InvalidArgument.
        """
        return self._restore(os.fsencode(folder))

    def restore_all(self, folder: str | os.PathLike[str]) -> dict[str, Array]:
        """Makes arrays of all that `save` has written. Errors: those of `restore`."""
        return {name: self.restore(os.path.join(folder, name)) for name in saved_names(folder)}

    def another(
        self,
        name: str,
        *,
        weight: float = 1,
        priority: int = 0,
        quota_bytes: int = 0,
        run_ahead: int = 0,
        elastic: bool = False,
    ) -> Session:
        """Opens another session of the same cluster.

        It shares the devices by weight and priority. Errors: AlreadyExists if a session has
        that name; Refused; InvalidArgument.
        """
        check_numbers(quota_bytes=quota_bytes, run_ahead=run_ahead)
        session: Session = self._another(
            name, _checked(weight), priority, run_ahead, quota_bytes, elastic
        )
        _open_sessions.add(session)
        return session

    def reserve(
        self,
        *shape: int,
        name: str | None = None,
        islands: int = 0,
        kind: str | None = None,
        contiguous: bool = False,
        device_bytes: int = 0,
        apart_from: Iterable[ReservedSlice] = (),
        timeout: float | None = None,
    ) -> ReservedSlice:
        """Reserves devices, as a mesh of this shape, on other islands than `apart_from`.

        `device_bytes` are reserved of each device; 0: all of it. Waits for devices, at most
        `timeout` seconds. Errors: InvalidArgument, Refused.
        """
        limit = 0 if timeout is None else nanoseconds(timeout) or -1
        return self._reserve(
            ReservedSlice,
            name,
            shape,
            islands,
            kind,
            limit,
            device_bytes,
            contiguous,
            tuple(apart_from),
        )

    @property
    def devices(self) -> list[dict[str, Any]]:
        """The devices with the members of pathways::DeviceInfo. Waits for all hosts."""
        found: list[dict[str, Any]] = json.loads(self._machines())["devices"]
        return found

    @property
    def hosts(self) -> list[dict[str, Any]]:
        """The hosts with the members of pathways::HostInfo. Waits for all hosts."""
        found: list[dict[str, Any]] = json.loads(self._machines())["hosts"]
        return found

    def statistics(self) -> dict[str, Any]:
        """Returns counts of the cluster, with the members of pathways::Statistics."""
        found: dict[str, Any] = json.loads(self._statistics())
        return found

    def suspend(self, folder: str | os.PathLike[str] | None = None) -> None:
        """Gives devices and memory to other sessions until `resume`.

        Arrays go to files in a new folder, or to memory of this process. Errors:
        InvalidArgument, Refused, RunError, Unwritable, AlreadyExists.
        """
        self._suspend(None if folder is None else os.fsencode(folder))

    def resume(self) -> None:
        """Loads the programs again. Errors: InvalidArgument, Refused."""
        self._resume()

    def drain(self, *names: str, timeout: float | None = None) -> None:
        """Loads no program on these islands, hosts or devices until `undrain`.

        Waits until none is left there, at most `timeout` seconds. Errors: InvalidArgument;
        Refused when the time is over.
        """
        self._drain(names, nanoseconds(timeout))

    def undrain(self, *names: str) -> None:
        """Undoes `drain`. Errors: InvalidArgument."""
        self._undrain(names)

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the events so far as JSON for Perfetto.

        Errors: InvalidArgument for a session without `trace_events`; Unwritable.
        """
        self._write_trace(os.fsencode(path))

    def write_profile(self, plan: Plan, path: str | os.PathLike[str]) -> None:
        """Writes the measured costs of a program that has run, for `compile`.

        Errors: those of `write_trace`; InvalidArgument before it has run.
        """
        self._write_profile(plan, os.fsencode(path))

    def close(self) -> None:
        """Ends the session and its runs. Nothing that it made can be used any more."""
        self._close()

    def __enter__(self) -> Session:
        enter(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        leave(self)
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<Session closed>"
        topology = self.topology
        shown = topology if len(topology) <= 80 else topology[:77] + "..."
        return f"<Session of {shown!r}>"


class ReservedSlice(_pathways.ReservedSlice):
    """Devices that a session holds, to load programs on. They are given back with it."""

    __slots__ = ()

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices, row-major by the shape of the slice."""
        return tuple(self._devices().split())

    def __enter__(self) -> ReservedSlice:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<ReservedSlice {', '.join(self.devices)}>"


def saved_names(folder: str | os.PathLike[str]) -> list[str]:
    """Returns the names of the arrays that Session.save has written to a folder.

    Errors: NotFound, Damaged.
    """
    return _pathways._saved_names(os.fsencode(folder)).split()


def connect(
    address: str,
    *,
    key: str | os.PathLike[str] | None = None,
    trust_loopback: bool = False,
    name: str | None = None,
    weight: float = 1,
    priority: int = 0,
    quota_bytes: int = 0,
    run_ahead: int = 0,
    elastic: bool = False,
    chaos: str | None = None,
) -> Session:
    """Opens a session of a running cluster: HOST:PORT, unix:/PATH or unix:@NAME.

    `key` is the file with the cluster's key. Errors: InvalidArgument for the address or
    the key, AlreadyExists if a session has that name, Refused if nothing listens there.
    """
    session = Session._connect(
        address,
        name,
        b"" if key is None else os.fsencode(key),
        trust_loopback,
        priority,
        _checked(weight),
        quota_bytes,
        run_ahead,
        elastic,
        chaos,
    )
    _open_sessions.add(session)
    return session


@atexit.register
def _close_sessions() -> None:
    """Ends all sessions before the interpreter takes its modules apart."""
    for session in list(_open_sessions):
        session.close()
