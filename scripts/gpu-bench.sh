#!/usr/bin/env bash
# Measures a GPU against the CPU; see usage below. The work is done by internal/gpubench.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: scripts/gpu-bench.sh [--program PATH] [OPTION]... FILE
       scripts/gpu-bench.sh --build PATH

Compares what the GPU gives with what the CPU gives, then measures transfers, each kernel, each
stage, Fused, and whole files on FILE, with batches of 1 to 256 blocks, and prints device, driver and
tables of medians.

  --build PATH    only build the program, for a machine without Go; needs Go and a C compiler
  --program PATH  use a program that was built so. The machine needs this script, the program,
                  libEGL, and a Vulkan driver with its loader (libvulkan.so.1) or one for OpenGL

The program knows WebGPU and OpenGL, which takes EGL's headers (libegl-dev, libgl-dev,
pkg-config); PZ_GPU_TAGS=webgpu leaves OpenGL out, and PZ_GPU_TAGS=opengl,egl WebGPU.
Without -gpu every way to the best GPU is measured, one after the other.

Other options are the program's:
  -gpu NAME, -block BYTES, -batch BLOCKS, -repeats TIMES, -again TIMES, -only STAGE, -whole=false
On software drivers use small ones: -block 131072 -batch 4 -repeats 3

"host MB/s" is what a processor does itself for blocks that are the GPU's, and to see that they are
right, without waiting for it and without what the driver does in between.
Where that is no faster than "CPU MB/s", no GPU can pay, however fast it is. It can be measured on a
software driver: -again 0 -whole=false -only rANS -block 1048576 -batch 4
EOF
}

build() {
  CGO_ENABLED=1 go -C "$(dirname "${BASH_SOURCE[0]}")/.." build -tags "${PZ_GPU_TAGS:-webgpu,opengl,egl}" -o "$(realpath -m "$1")" ./internal/gpubench
}

program=
case ${1-} in
  '' | -h | -help | --help) usage; exit ;;
  --build)
    (($# == 2)) || { usage >&2; exit 2; }
    build "$2"
    exit
    ;;
  --program)
    (($# > 2)) || { usage >&2; exit 2; }
    program=$2
    shift 2
    ;;
esac
if [[ -z $program ]]; then
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  program=$tmp/gpubench
  build "$program"
fi

if command -v nvidia-smi >/dev/null; then
  nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.current,pcie.link.width.current --format=csv,noheader || true
fi
# Mesa shall not write between the tables.
export EGL_LOG_LEVEL="${EGL_LOG_LEVEL:-fatal}" NODEVICE_SELECT="${NODEVICE_SELECT:-1}"
grep -m1 '^model name' /proc/cpuinfo 2>/dev/null || true
"$program" "$@"
