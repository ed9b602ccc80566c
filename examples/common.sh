# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the examples' run scripts: finds pw-run. Sourced; sets $pw_run and
# $here, the folder of the script.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)

# The caller's choice, then the build of this tree, then an installed one.
pw_run=${PW_RUN:-$here/../../build/release/bin/pw-run}
if [ ! -x "$pw_run" ]; then
  if [ -n "${PW_RUN:-}" ]; then
    echo "error: PW_RUN is '$PW_RUN', which is not a program" >&2
    exit 2
  fi
  pw_run=$(command -v pw-run) || {
    echo "error: no pw-run; build it (scripts/demo) or set PW_RUN" >&2
    exit 2
  }
fi

# run_with DEFAULT_TOPOLOGY PROGRAM FLAGS... -- EXTRA...: runs PROGRAM with FLAGS
# and the caller's EXTRA flags, whose --topology, if any, replaces the default.
run_with() {
  local topology=$1 program=$2 flag
  shift 2
  local flags=()
  while [ "$1" != -- ]; do
    flags+=("$1")
    shift
  done
  shift
  for flag in "$@"; do
    case $flag in
      --topology | --topology=*) topology= ;;
    esac
  done
  exec "$pw_run" "$program" ${topology:+"--topology=$topology"} \
    "${flags[@]}" "$@"
}
