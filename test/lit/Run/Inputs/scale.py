# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scale.py PW_RUN FOLDER: one program for 4 and for 4096 devices. The plan must
# have the same tables and, within a tenth, the same bytes; both runs must give
# the right result.

import json
import pathlib
import subprocess
import sys

LAYERS = 8


def program(shards):
    a = f'!pw.array<{shards}xf32, @front, [{{"d"}}]>'
    b = f'!pw.array<{shards}xf32, @back, [{{"d"}}]>'
    lines = [
        f'pw.slice @front mesh <"d" = {shards}>',
        f'pw.slice @back mesh <"d" = {shards}> apart_from [@front]',
        "func.func private @inc(%x: tensor<1xf32>) -> tensor<1xf32>",
        "    attributes {pw.local_view, pw.pointwise} {",
        "  %c = arith.constant dense<1.0> : tensor<1xf32>",
        "  %r = arith.addf %x, %c : tensor<1xf32>",
        "  return %r : tensor<1xf32>",
        "}",
        "func.func private @sum(%x: tensor<1xf32>) -> tensor<1xf32>",
        "    attributes {pw.local_view, pw.pointwise} {",
        '  %r = pw.all_reduce %x add over ["d"] : tensor<1xf32>',
        "  return %r : tensor<1xf32>",
        "}",
        f'pw.program @p(%x: {a}) -> ({b} {{pw.name = "y"}}) {{',
    ]
    last = "%x"
    for i in range(LAYERS):
        lines.append(f"  %a{i} = pw.call @inc({last}) : ({a}) -> {a}")
        last = f"%a{i}"
    lines.append(f"  %t = pw.reshard {last} : {a} -> {b}")
    lines.append(f"  %s = pw.call @sum(%t) : ({b}) -> {b}")
    lines.append(f"  pw.return %s : {b}")
    lines.append("}")
    return "\n".join(lines) + "\n"


def run(pw_run, folder, topology, shards):
    source = folder / f"scale{shards}.mlir"
    stats = folder / f"scale{shards}.json"
    source.write_text(program(shards))
    subprocess.run(
        [
            pw_run,
            source,
            f"--topology={topology}",
            "--world=sim",
            "--input=x=0.5",
            f"--expected=y={shards * (LAYERS + 0.5)}",
            f"--stats=@{stats}",
        ],
        check=True,
    )
    return json.loads(stats.read_text())


def main():
    pw_run, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    small = run(pw_run, folder, "2x1x2", 2)
    large = run(pw_run, folder, "2x256x8", 2048)
    assert len(small["devices"]) == 4, len(small["devices"])
    assert len(large["devices"]) == 4096, len(large["devices"])
    for table in ("slices", "layouts", "kernels", "buffers", "actions", "edges"):
        assert small["plan"][table] == large["plan"][table], (table, small, large)
    ratio = large["plan"]["bytes"] / small["plan"]["bytes"]
    assert 0.9 < ratio < 1.1, ratio
    # A host knows its own shards: as many tables for each, however many there are.
    def per_shard(stats, key):
        return max(h[key] / h["own_shards"] for h in stats["hosts"] if h["own_shards"])

    for key in ("action_shards", "queue_entries"):
        assert per_shard(large, key) <= per_shard(small, key), key
    print("scale: same tables")


main()
