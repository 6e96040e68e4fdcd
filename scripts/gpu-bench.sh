#!/usr/bin/env bash
# Builds internal/bench with support for GPUs and measures a GPU against the CPU; see --help.
#
# Building needs a C compiler and, for OpenGL, the headers of EGL (libegl-dev, libgl-dev,
# pkg-config). PZ_GPU_TAGS=webgpu leaves OpenGL out, PZ_GPU_TAGS=opengl,egl WebGPU. A machine that
# runs a program built elsewhere needs this script, the program, libEGL, and a driver for Vulkan
# with its loader (libvulkan.so.1) or for OpenGL.
set -euo pipefail

build() {
  CGO_ENABLED=1 go -C "$(dirname "${BASH_SOURCE[0]}")/.." build -tags "${PZ_GPU_TAGS:-webgpu,opengl,egl}" \
    -o "$(realpath -m "$1")" ./internal/bench
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
program=$tmp/bench
case ${1-} in
  --build)
    build "${2:?--build needs a path}"
    exit
    ;;
  --program)
    program=${2:?--program needs a path}
    shift 2
    ;;
  *) build "$program" ;;
esac
if command -v nvidia-smi >/dev/null; then
  nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.current,pcie.link.width.current \
    --format=csv,noheader || true
fi
# Mesa writes messages between the tables otherwise.
export EGL_LOG_LEVEL="${EGL_LOG_LEVEL:-fatal}" NODEVICE_SELECT="${NODEVICE_SELECT:-1}"
"$program" gpu "$@"
