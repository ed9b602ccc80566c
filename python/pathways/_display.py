# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures for notebooks: how an array is cut, and what a plan takes and returns.

They never wait, and never read values.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ._errors import Error

if TYPE_CHECKING:
    from ._array import Array
    from ._plan import Plan, Port

_WIDTH, _HEIGHT = 240, 140
_COLORS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1")
_MOST_SHARDS = 256


def type_text(element: str, shape: tuple[int, ...]) -> str:
    return "".join(f"{n}x" for n in shape) + element


def _rectangle(x: float, y: float, width: float, height: float, color: str, title: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{color}" fill-opacity="0.6" stroke="#333"><title>{html.escape(title)}</title>'
        "</rect>"
    )


def _cut(array: Array) -> str:
    """Draws the shards of the last two dimensions."""
    shards = array.shards
    if not shards:
        return ""
    rows, columns = ((1, 1) + array.shape)[-2:]
    drawn: dict[tuple[int, int, int, int], list[str]] = {}
    for shard in shards[:_MOST_SHARDS]:
        y, x = ((0, 0) + shard.offset)[-2:]
        height, width = ((1, 1) + shard.shape)[-2:]
        drawn.setdefault((x, y, width, height), []).append(shard.device)
    across, down = _WIDTH / max(1, columns), _HEIGHT / max(1, rows)
    parts = [
        _rectangle(
            x * across,
            y * down,
            width * across,
            height * down,
            _COLORS[i % len(_COLORS)],
            ", ".join(devices),
        )
        for i, ((x, y, width, height), devices) in enumerate(drawn.items())
    ]
    return (
        f'<svg width="{_WIDTH + 2}" height="{_HEIGHT + 2}" viewBox="-1 -1 {_WIDTH + 2} '
        f'{_HEIGHT + 2}">{"".join(parts)}</svg>'
    )


def array_html(array: Array) -> str:
    """Returns type, size and cut of an array."""
    try:
        state = "" if array.is_ready() else ", not ready"
        head = f"{type_text(array.element, array.shape)}, {array.nbytes:,} bytes{state}"
        where = array.sharding
        place = f"{len(set(where.devices))} devices" if where else "in this process"
        return f"<div><code>{html.escape(head)}</code>, {place}<br>{_cut(array)}</div>"
    except Error as error:
        return f"<div><code>Array</code>: {html.escape(str(error))}</div>"


def _rows(kind: str, ports: tuple[Port, ...]) -> str:
    return "".join(
        f"<tr><td>{kind}</td><td>{html.escape(port.name)}</td>"
        f"<td>{type_text(port.element, port.shape)}</td>"
        f"<td>{'each step' if port.stepped else ''}</td></tr>"
        for port in ports
    )


def plan_html(plan: Plan) -> str:
    """Returns a table of arguments and results."""
    return (
        f"<table><caption>{html.escape(plan.name)}</caption>"
        f"{_rows('argument', plan.arguments)}{_rows('result', plan.results)}</table>"
    )
