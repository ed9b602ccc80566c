# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The session in which programs run that are called as functions."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._session import Session

# Sessions whose `with` blocks are open here, the innermost one last.
_entered: contextvars.ContextVar[tuple[Session, ...]] = contextvars.ContextVar(
    "pathways_sessions", default=()
)
_lock = threading.Lock()
_own: list[Session] = []


def enter(session: Session) -> None:
    _entered.set((*_entered.get(), session))


def leave(session: Session) -> None:
    kept = list(_entered.get())
    if session in kept:
        kept.reverse()
        kept.remove(session)
        kept.reverse()
    _entered.set(tuple(kept))


def default_session() -> Session:
    """Returns the session of the innermost `with` block around the call, or else one for
    the devices of this machine, which is opened at the first call and stays open."""
    for session in reversed(_entered.get()):
        if not session.closed:
            return session
    from ._session import Session

    with _lock:
        if not _own or _own[0].closed:
            _own[:] = [Session()]
        return _own[0]
