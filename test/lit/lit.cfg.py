# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lit runs, and with which tools."""

import os
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "Pathways"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pathways_binary_root, "test", "lit")

llvm_config.use_default_substitutions()
python = getattr(config, "python_executable", "") or sys.executable
config.substitutions.append(("%python", f'"{python}"'))
config.substitutions.append(("%root", config.pathways_source_root))
config.substitutions.append(
    ("%llvm_include", os.path.join(config.llvm_tools_dir, "..", "include")))

llvm_config.with_environment("PATH", config.pathways_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
tool_dirs = [config.pathways_tools_dir, config.llvm_tools_dir]
tools = ["pw-opt", "mlir-tblgen"]
for optional in ("pw-run", "pw-translate"):
    if os.path.exists(os.path.join(config.pathways_tools_dir, optional)):
        config.available_features.add(optional)
        tools.append(ToolSubst(optional, unresolved="ignore"))
if os.path.exists(os.path.join(config.pathways_tools_dir, "libpathways_ucx.so")):
    config.available_features.add("ucx")
llvm_config.add_tool_substitutions(tools, tool_dirs)

# Sanitized tools run ten times slower; LLVM's allocator poisons what the
# library, which is not instrumented, never unpoisons.
if config.pathways_sanitize:
    config.available_features.add("sanitizer")
    llvm_config.with_environment("ASAN_OPTIONS", os.environ.get(
        "ASAN_OPTIONS", "allow_user_poisoning=0:detect_leaks=0"))
    llvm_config.with_environment("TSAN_OPTIONS", os.environ.get(
        "TSAN_OPTIONS", "ignore_noninstrumented_modules=1"))
