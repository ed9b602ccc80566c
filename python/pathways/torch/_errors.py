# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of tracing, which name a place in the user's code."""

from __future__ import annotations

from pathways._trace_error import TraceError as TraceError
