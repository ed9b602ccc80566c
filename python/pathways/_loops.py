# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waits of asyncio.

Each event loop has one reader, of the descriptor that is readable when runs have ended.
Arrays have no events: a thread waits for each one that is awaited.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import weakref
from collections.abc import Callable

from . import _pathways


class _Reader:
    """The reader of one loop. It is used on the thread of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._events = _pathways.Events._create()
        self._tags = itertools.count()
        self._futures: dict[int, asyncio.Future[None]] = {}
        loop.add_reader(self._events.fileno(), self._read)

    def watch(self, run: _pathways.Run, future: asyncio.Future[None]) -> None:
        tag = next(self._tags)
        self._events.notify(run, tag)
        self._futures[tag] = future

    def _read(self) -> None:
        for tag, error in self._events.take():
            _settle(self._futures.pop(tag), error)


# A loop refers to its reader, so that the reader lives as long as the loop.
_readers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Reader]
_readers = weakref.WeakKeyDictionary()


def _settle(future: asyncio.Future[None], error: BaseException | None) -> None:
    if future.done():  # cancelled: the run goes on
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


async def run_end(run: _pathways.Run) -> None:
    """Waits for the end of a run. Errors: RunError."""
    loop = asyncio.get_running_loop()
    reader = _readers.get(loop)
    if reader is None:
        reader = _readers[loop] = _Reader(loop)
    future: asyncio.Future[None] = loop.create_future()
    reader.watch(run, future)
    await future


async def in_thread(wait: Callable[[], object]) -> None:
    """Waits on a thread of its own, which does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def run() -> None:
        error = None
        try:
            wait()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(_settle, future, error)
        except RuntimeError:
            pass  # the loop is closed

    threading.Thread(target=run, name="pathways wait", daemon=True).start()
    await future
