#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that includes and links point the way the READMEs draw them.

Usage: include_direction.py [--self-test] [TREE]

Prints one line per violation, "file:line: what", and exits with 1 if there is
one. With --self-test, plants one violation of each kind in a small tree of its
own and checks that exactly those are found.
"""

import os
import re
import sys
import tempfile

# Parts of a tier may include those of earlier tiers, and not each other.
RUNTIME_TIERS = [
    ["base", "layout", "proto", "transport"],
    ["topology", "plan", "protocol", "world", "checkpoint",
     "transport/socket", "transport/testing", "transport/ucx"],
    ["faults", "store", "kernel", "trace"],
    ["binding"],
    ["program", "scheduler"],
    ["device", "staging", "resources"],
    ["executor"],
    ["controller"],
    ["client"],
    ["cluster"],
    ["node"],
]
# Exceptions: the world moves what the protocol describes, and a transport has locks.
RUNTIME_SIDEWAYS = {"world": {"protocol"}, "transport": {"base"}}
# Libraries whose names do not begin with the name of their part.
LIBRARY_PARTS = {"socket_transport": "transport/socket",
                 "transport_testing": "transport/testing",
                 "ucx_transport": "transport/ucx"}
# Folders of code generation include no file of each other, and the files beside them
# include none of theirs, except for the driver.
CODEGEN = "lib/Codegen/"
CODEGEN_FOLDERS = {"Contraction", "Loops", "Object", "Prepare"}
CODEGEN_DRIVER = CODEGEN + "Codegen.cpp"
COMPILER_TIERS = [
    ["Support"],
    ["Dialect/Pathways", "Dialect/Plan", "Dialect/StableHlo", "Dialect/Shardy"],
    ["Analysis"],
    ["Transforms", "Codegen", "Import"],
    ["Lowering", "Target"],
    ["API"],
    ["CApi"],
    ["tools"],
]
# What of the runtime the compiler may see; more for those who launch, and the
# ABI of generated code for those who generate it.
COMPILER_SEES = {"base", "layout", "proto", "topology", "plan"}
COMPILER_SEES_MORE = {
    "Codegen": {"kernel"},
    "Lowering": {"kernel"},
    "API": {"binding", "client", "cluster", "kernel", "node", "resources"},
    "tools": {"binding", "checkpoint", "client", "cluster", "faults", "kernel", "node", "scheduler", "trace",
              "transport", "transport/socket", "transport/testing", "world"},
}
RUNTIME_USES_LLVM = {"kernel"}
# Depends on nothing but the standard library.
STANDARD_ONLY = {"layout"}
# Installed headers that the runtime and the compiler share: values and options.
SHARED = {"pathways/HostArray.h", "pathways/Options.h"}
# Headers of the standard library under the names that C has for them.
C_STANDARD = {"stddef.h", "stdint.h"}
# How bytes are moved is known to the transport alone.
TRANSPORT_LIBRARIES = ("asio/", "asio.hpp", "openssl/", "ucp/", "ucs/")
HWLOC_USER = "runtime/topology/discovery.cc"
# And who hashes plans uses OpenSSL's SHA-256.
HASH_USER = "runtime/plan/plan_hash.cc"

SOURCES = (".h", ".cc", ".cpp", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def tier_of(tiers):
    return {part: i for i, parts in enumerate(tiers) for part in parts}


RUNTIME_TIER = tier_of(RUNTIME_TIERS)
COMPILER_TIER = tier_of(COMPILER_TIERS)


def runtime_part(path):
    """Part of "runtime/<part>/file" or "runtime/transport/<part>/file", or None."""
    words = path.split("/")
    if words[0] != "runtime" or len(words) < 3:
        return None
    folder = "/".join(words[1:3])
    return folder if len(words) > 3 and folder in RUNTIME_TIER else words[1]


def compiler_part(path):
    """Part of a source or include path of the compiler, or None."""
    words = path.split("/")
    if words[0] == "include":
        words = words[1:]
    if words[0] == "tools":
        return "tools"
    if words[0] not in ("lib", "pathways") or len(words) < 2:
        return None
    if words[1] == "Dialect" and len(words) > 3:
        return "Dialect/" + words[2]
    return words[1] if len(words) > 2 else "API"


def may_include(tier, tiers, user, used):
    return user == used or tiers[tier[used]] != tiers[tier[user]] and (
        tier[used] < tier[user])


def may_include_runtime(user, used):
    return (used in RUNTIME_SIDEWAYS.get(user, set()) or
            may_include(RUNTIME_TIER, RUNTIME_TIERS, user, used))


def is_standard(header):
    return header in C_STANDARD or "." not in header and "/" not in header


def check_runtime(path, part, header, is_quoted):
    if header.startswith(("mlir/", "pathways/")) and header not in SHARED:
        return f"the runtime includes '{header}' of the compiler"
    if header.startswith(("llvm/", "llvm-c/", "clang/")):
        if part not in RUNTIME_USES_LLVM:
            return (f"runtime/{part} includes '{header}'; only runtime/kernel "
                    "may use LLVM")
    if header.startswith("hwloc") and path != HWLOC_USER:
        return f"'{header}' may be included by {HWLOC_USER} alone"
    if (header.startswith(TRANSPORT_LIBRARIES) and not part.startswith("transport")
            and (path, header) != (HASH_USER, "openssl/evp.h")):
        return (f"runtime/{part} includes '{header}'; only runtime/transport "
                "may use Asio, OpenSSL and UCX")
    if header.startswith("absl/synchronization/"):
        return (f"runtime/{part} includes '{header}'; ThreadSanitizer does not "
                "see the installed library, use runtime/base/mutex.h")
    used = runtime_part(header)
    if part in STANDARD_ONLY and used != part and (
            is_quoted or not is_standard(header)):
        return (f"runtime/{part} includes '{header}'; it depends on the "
                "standard library alone")
    if used is None:
        return None
    if used not in RUNTIME_TIER:
        return f"'{header}' is of runtime/{used}, which has no tier here"
    if not may_include_runtime(part, used):
        return f"runtime/{part} includes '{header}' against the arrows"
    return None


def check_codegen(path, header):
    user = path[len(CODEGEN):].split("/")[0]
    used = header.split("/")[0]
    if used in CODEGEN_FOLDERS - {user} and path != CODEGEN_DRIVER:
        return (f"{path} includes '{header}'; only {CODEGEN_DRIVER} may include files "
                "of several folders of code generation")
    return None


def check_compiler(path, part, header):
    if path.startswith(CODEGEN) and header.split("/")[0] in CODEGEN_FOLDERS:
        return check_codegen(path, header)
    used = runtime_part(header)
    if used is not None:
        allowed = COMPILER_SEES | COMPILER_SEES_MORE.get(part, set())
        if used not in allowed:
            return (f"{part} includes '{header}'; of the runtime it may see "
                    f"{', '.join(sorted(allowed))}")
    if is_public(path) and not (is_standard(header) or is_public("include/" + header)):
        return (f"a public header includes '{header}', expected the standard "
                "library and other public headers alone")
    if header in SHARED:
        return None
    used = compiler_part(header) if header.startswith("pathways/") else None
    if used is None:
        return None
    if used not in COMPILER_TIER:
        return f"'{header}' is of {used}, which has no tier here"
    if not may_include(COMPILER_TIER, COMPILER_TIERS, part, used):
        return f"{part} includes '{header}' against the arrows"
    return None


def is_public(path):
    return os.path.dirname(path) == "include/pathways"


def check_include(path, header, is_quoted):
    """What is wrong with an include, or None."""
    words = path.split("/")
    if words[0] == "runtime":
        part = runtime_part(path)
        if part not in RUNTIME_TIER:
            return f"{path} is in a part which has no tier here"
        return check_runtime(path, part, header, is_quoted)
    if words[0] == "unittests":
        if words[1] == "runtime" and header not in SHARED and header.startswith(
                ("mlir/", "pathways/")):
            return f"a test of the runtime includes '{header}' of the compiler"
        return None
    part = compiler_part(path)
    if part not in COMPILER_TIER:
        return f"{path} is in a part which has no tier here"
    return check_compiler(path, part, header)


def check_links(path, text):
    """Violations of a CMakeLists.txt of the runtime, as (line, what)."""
    part = runtime_part(path)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0]
        for word in re.findall(r"[\w:]+", line):
            if word.startswith("MLIR"):
                yield number, f"the runtime names '{word}'"
            elif word.startswith("LLVM") and part not in RUNTIME_USES_LLVM:
                yield number, (f"runtime/{part} names '{word}'; only "
                               "runtime/kernel may use LLVM")
            elif part in STANDARD_ONLY and word == "target_link_libraries":
                yield number, (f"runtime/{part} links something; it depends "
                               "on the standard library alone")
            elif part and word.startswith("pathways::"):
                library = word[len("pathways::"):]
                used = LIBRARY_PARTS.get(library, library.split("_")[0])
                if used in RUNTIME_TIER and not may_include_runtime(
                        part, used):
                    yield number, (f"runtime/{part} links '{word}' against "
                                   "the arrows")


def files(tree):
    for root in ("include", "lib", "runtime", "tools", "unittests"):
        for folder, folders, names in os.walk(os.path.join(tree, root)):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, tree).replace(os.sep, "/")


def check_tree(tree):
    """All violations, as (path, line, what), and the number of files read."""
    found = []
    count = 0
    for path in files(tree):
        is_cmake = (path.startswith("runtime/") and
                    path.endswith("/CMakeLists.txt"))
        if not is_cmake and not path.endswith(SOURCES):
            continue
        count += 1
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            text = file.read()
        if is_cmake:
            found += [(path, *violation) for violation in check_links(path, text)]
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            what = check_include(path, match[1] or match[2], match[1] is not None)
            if what:
                found.append((path, number, what))
    return found, count


# Path, first line, and whether it is a violation.
PLANTED = [
    ("runtime/layout/a.cc", "#include <vector>", False),
    ("runtime/layout/b.cc", '#include "runtime/layout/layout.h"', False),
    ("runtime/layout/c.cc", '#include "absl/status/status.h"', True),
    ("runtime/layout/d.cc", '#include "pathways/HostArray.h"', True),
    ("runtime/layout/e.cc", "#include <sys/mman.h>", True),
    ("runtime/layout/CMakeLists.txt", "target_link_libraries(x PUBLIC y)", True),
    ("runtime/world/a.cc", '#include "runtime/topology/discovery.h"', True),
    ("runtime/world/c.cc", '#include "runtime/protocol/address.h"', False),
    ("runtime/protocol/a.cc", '#include "runtime/world/world.h"', True),
    ("runtime/protocol/CMakeLists.txt", "t(x pathways::world)", True),
    ("runtime/world/b.cc", '#  include "runtime/layout/layout.h"', False),
    ("runtime/transport/a.cc", "#include <asio/post.hpp>", False),
    ("runtime/world/d.cc", "#include <asio/post.hpp>", True),
    ("runtime/transport/d.cc", "#include <ucp/api/ucp.h>", False),
    ("runtime/world/e.cc", "#include <ucp/api/ucp.h>", True),
    ("runtime/plan/plan_hash.cc", "#include <openssl/evp.h>", False),
    ("runtime/plan/plan_hash.h", "#include <openssl/evp.h>", True),
    ("runtime/transport/b.cc", '#include "runtime/base/mutex.h"', False),
    ("runtime/transport/c.cc", '#include "runtime/world/clock.h"', True),
    ("runtime/transport/socket/a.cc", '#include "runtime/transport/frame.h"', False),
    ("runtime/transport/socket/b.cc", '#include "runtime/transport/ucx/a.h"', True),
    ("runtime/transport/e.cc", '#include "runtime/transport/testing/a.h"', True),
    ("runtime/transport/ucx/CMakeLists.txt", "t(x pathways::socket_transport)", True),
    ("runtime/store/a.cc", '#include "runtime/program/launch.h"', True),
    ("runtime/trace/a.cc", '#include "runtime/store/store.h"', True),
    ("runtime/trace/b.cc", '#include "runtime/world/world.h"', False),
    ("runtime/executor/a.cc", '#include "runtime/store/store.h"', False),
    ("runtime/executor/b.cc", '#include "mlir/IR/Operation.h"', True),
    ("runtime/executor/c.cc", '#include "pathways/Execute.h"', True),
    ("runtime/executor/h.cc", '#include "pathways/Options.h"', False),
    ("runtime/executor/d.cc", "#include <llvm/ADT/StringRef.h>", True),
    ("runtime/executor/e.cc", "#include <hwloc.h>", True),
    ("runtime/executor/g.cc", '#include "absl/synchronization/mutex.h"', True),
    ("runtime/executor/f.cc", '// #include "mlir/IR/Operation.h"', False),
    ("runtime/executor/CMakeLists.txt", "t(x pathways::client) # MLIR", True),
    ("runtime/store/CMakeLists.txt", "t(x pathways::base)", False),
    ("runtime/kernel/a.cc", '#include "llvm/Support/Error.h"', False),
    ("runtime/kernel/CMakeLists.txt", "t(x PUBLIC LLVM)", False),
    ("runtime/world/CMakeLists.txt", "t(x PUBLIC LLVM)", True),
    ("runtime/plan/CMakeLists.txt", "t(x PUBLIC MLIRIR)", True),
    ("runtime/topology/discovery.cc", "#include <hwloc.h>", False),
    ("runtime/client/a.cc", '#include "runtime/nowhere/a.h"', True),
    ("runtime/nowhere/a.cc", "#include <vector>", True),
    ("lib/Dialect/Plan/A.cpp", '#include "pathways/Dialect/Pathways/B.h"', True),
    ("lib/Dialect/Plan/B.cpp", '#include "pathways/Dialect/Plan/B.h"', False),
    ("lib/Dialect/StableHlo/A.cpp", '#include "pathways/Dialect/Shardy/B.h"', True),
    ("lib/Dialect/StableHlo/B.cpp", '#include "pathways/Support/B.h"', False),
    ("lib/Transforms/C.cpp", '#include "pathways/Dialect/StableHlo/B.h"', False),
    ("lib/Dialect/Plan/C.cpp", '#include "runtime/plan/verify.h"', False),
    ("lib/Transforms/A.cpp", '#include "pathways/Lowering/Passes.h"', True),
    ("lib/Transforms/B.cpp", '#include "runtime/world/world.h"', True),
    ("lib/Lowering/A.cpp", '#include "pathways/Transforms/Passes.h"', False),
    ("lib/Lowering/B.cpp", '#include "pathways/Compile.h"', True),
    ("lib/Lowering/C.cpp", '#include "runtime/client/client.h"', True),
    ("lib/Lowering/D.cpp", '#include "runtime/kernel/abi.h"', False),
    ("lib/Codegen/A.cpp", '#include "pathways/Transforms/Passes.h"', True),
    ("lib/Codegen/Codegen.cpp", '#include "Loops/A.h"', False),
    ("lib/Codegen/B.cpp", '#include "Loops/A.h"', True),
    ("lib/Codegen/Loops/A.cpp", '#include "Loops/A.h"', False),
    ("lib/Codegen/Loops/B.cpp", '#include "Paths.h"', False),
    ("lib/Codegen/Loops/C.cpp", '#include "Object/A.h"', True),
    ("lib/Target/PlanFile/A.cpp", '#include "pathways/Lowering/Passes.h"', True),
    ("lib/Target/PlanFile/B.cpp", '#include "pathways/Codegen/Codegen.h"', False),
    ("lib/API/A.cpp", '#include "runtime/client/client.h"', False),
    ("include/pathways/A.h", "#include <string>", False),
    ("include/pathways/C.h", '#include "pathways/HostArray.h"', False),
    ("include/pathways/D.h", '#include "runtime/plan/tables.h"', True),
    ("include/pathways/F.h", '#include "pathways/Lowering/Passes.h"', True),
    ("lib/Support/A.cpp", '#include "pathways/HostArray.h"', False),
    ("lib/Support/B.cpp", '#include "pathways/Plan.h"', True),
    ("include/pathways/E.h", '#include "runtime/base/mutex.h"', True),
    ("runtime/base/a.cc", '#include "absl/base/thread_annotations.h"', False),
    ("runtime/base/b.cc", '#include "runtime/proto/plan.pb.h"', True),
    ("include/pathways/B.h", '#include "absl/status/status.h"', True),
    ("include/pathways/Transforms/A.h", '#include "mlir/Pass/Pass.h"', False),
    ("tools/pw-opt/a.cpp", '#include "pathways/Lowering/Passes.h"', False),
    ("tools/pw-run/a.cc", '#include "runtime/program/launch.h"', True),
    ("unittests/runtime/base/a.cc", '#include "mlir/IR/Operation.h"', True),
    ("unittests/runtime/base/b.cc", '#include "runtime/base/a.h"', False),
]


def self_test():
    with tempfile.TemporaryDirectory() as tree:
        for path, line, _ in PLANTED:
            full = os.path.join(tree, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(line + "\n")
        found, count = check_tree(tree)
    want = {path for path, _, is_wrong in PLANTED if is_wrong}
    got = {path for path, _, _ in found}
    for path in sorted(want - got):
        print(f"{path}: the planted violation was not found")
    for path, _, what in found:
        if path not in want:
            print(f"{path}: found, but it is allowed: {what}")
    if count != len(PLANTED):
        print(f"read {count} files, expected {len(PLANTED)}")
    return want == got and count == len(PLANTED)


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return 0 if self_test() else 1
    tree = arguments[0] if arguments else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found, count = check_tree(tree)
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    if count == 0:
        print(f"{tree}: no sources found")
        return 1
    print(f"{count} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
