# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens the session that the command line of an example asks for."""

from __future__ import annotations

import argparse

import pathways as pw


def open_session(topology: str) -> pw.Session:
    """Returns a session of `topology`, or of a running cluster for --connect=ADDRESS."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--world", choices=("threads", "sim"), default="threads")
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--connect", help="address of a running cluster")
    parser.add_argument("--key", help="file with the key of that cluster")
    given = parser.parse_args()
    if given.connect:
        return pw.connect(given.connect, key=given.key)
    return pw.Session(topology, world=given.world, processes=given.processes)
