# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by scripts/demo and scripts/check: installs what is missing and
# configures and builds a preset. Sourced, with the working directory at the top
# of the tree.

set -euo pipefail

packages=(
  # The compiler half: MLIR with its CMake files, mlir-tblgen, lit, FileCheck.
  libmlir-22-dev mlir-22-tools llvm-22-dev
  clang-22 lld-22 libclang-rt-22-dev clang-format-22 clang-tidy-22 ccache
  # The runtime half.
  libprotobuf-dev protobuf-compiler libabsl-dev libhwloc-dev zlib1g-dev
  libasio-dev libssl-dev libucx-dev
  # Tools and tests.
  libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev libbenchmark-dev
  g++ cmake ninja-build pkg-config git python3 python3-numpy python3-yaml iproute2
)
# What scripts/wheel and scripts/check need besides: the headers for the extension module,
# and what installs a wheel.
python_packages=(python3-dev python3-venv python3-pip)

say() { printf '==> %s\n' "$*"; }

# Installs the packages that are not there. Says nothing when none is missing.
install_packages() {
  local missing=() name
  for name in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^ii' ||
      missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "installing ${#missing[@]} packages: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    echo "error: run as root, or install these packages first" >&2
    exit 1
  fi
  local log
  log=$(mktemp)
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "error: installing packages failed; the whole log is $log" >&2
    exit 1
  fi
  rm -f "$log"
}

# build PRESET [TARGET...]: configures (when needed) and builds build/PRESET.
build() {
  local preset=$1
  shift
  if [ ! -f "build/$preset/build.ninja" ]; then
    say "configuring build/$preset"
    mkdir -p "build/$preset"
    if ! cmake --preset "$preset" >"build/$preset/configure.log" 2>&1; then
      tail -n 30 "build/$preset/configure.log" >&2
      exit 1
    fi
  fi
  # Ninja without work prints one line; keep that quiet.
  if ninja -C "build/$preset" -n "$@" | grep -q 'no work to do'; then
    return
  fi
  say "building build/$preset"
  ninja -C "build/$preset" "$@"
}
