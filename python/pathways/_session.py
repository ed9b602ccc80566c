# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions of clusters."""

from __future__ import annotations

import atexit
import os
import weakref
from types import TracebackType
from typing import Any, Literal, Protocol, TypeVar, overload, runtime_checkable

from . import _pathways
from ._array import Array
from ._default_session import enter, leave
from ._errors import InvalidArgument
from ._executable import Executable
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


class Session(_pathways.Session):
    """A tenant of a cluster in this process, which it opens.

    `topology` is "ISLANDSxHOSTSxDEVICES", a .textproto file, or None for this machine.
    `world` is "threads", or "sim" for a deterministic simulation in virtual time.
    `processes` is the number of processes of this machine in which hosts live; 0: this
    one. The end of a `with` block closes the session, and what it made: runs in flight are
    ended. Any thread may use a session. Errors: InvalidArgument, Refused.
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
    ) -> Session:
        if world not in ("threads", "sim"):
            raise InvalidArgument(f"there is no world {world!r}, only 'threads' and 'sim'")
        session = cls._open(
            name,
            topology,
            world == "sim",
            workers,
            processes,
            priority,
            seed,
            weight,
            quota_bytes,
            trace_events,
            0 if stall_timeout is None else nanoseconds(stall_timeout),
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
        **options: Any,
    ) -> Any:
        """Loads a plan, or compiles a program for this cluster and loads it.

        `timeout` is the longest wait, in seconds, for memory that other sessions hold;
        None: no limit. `options` are those of `compile`. Errors: InvalidArgument, Refused,
        and those of `compile`.
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
        return Executable._load(self, plan, _PLACES[place], limit)

    def put(self, value: Any, *, copy: bool | None = None) -> Array:
        """Makes an array of a value: an array of NumPy or DLPack, a number, or a list.

        A value of at most 64 KiB is copied. The memory of a larger array of NumPy is
        borrowed: the array is read-only until the devices have its values. `copy` True
        always copies; False never does, so that the caller must not change the memory,
        and is an error for values that need a conversion. Errors: InvalidArgument; Refused
        if memory is short.
        """
        return self._put(value, 0 if copy is None else 1 if copy else 2)

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the events so far as JSON for Perfetto.

        Errors: InvalidArgument for a session without `trace_events`; Unwritable.
        """
        self._write_trace(path)

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
        return f"<Session {'closed' if self.closed else 'of ' + repr(self.topology)}>"


def connect(
    address: str,
    *,
    key: str | os.PathLike[str] | None = None,
    trust_loopback: bool = False,
    name: str | None = None,
    weight: float = 1,
    priority: int = 0,
    quota_bytes: int = 0,
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
        weight,
        quota_bytes,
    )
    _open_sessions.add(session)
    return session


@atexit.register
def _close_sessions() -> None:
    """Ends all sessions before the interpreter takes its modules apart."""
    for session in list(_open_sessions):
        session.close()
