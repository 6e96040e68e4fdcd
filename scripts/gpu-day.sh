#!/usr/bin/env bash
# Builds gpu/day, the program that tests and measures GPUs: scripts/gpu-day.sh PATH
#
# Building needs a C compiler and the headers of EGL (libegl-dev, libgl-dev, pkg-config).
# PZ_GPU_TAGS=webgpu leaves OpenGL out. The program needs a driver for Vulkan with its loader
# (libvulkan.so.1), or one for OpenGL with libEGL; no Go, no network and no file. Run it:
#
#   ./day --output results.jsonl
set -euo pipefail

[[ $# == 1 ]] || {
  sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 2
}
path=$(realpath -m "$1")
CGO_ENABLED=1 go -C "$(dirname "${BASH_SOURCE[0]}")/.." build -trimpath -ldflags '-s -w' \
  -tags "${PZ_GPU_TAGS:-webgpu,opengl,egl}" -o "$path" ./gpu/day
size=$(stat -c %s "$path")
echo "$path: $((size / 1000000)) MB"
