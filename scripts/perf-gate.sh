#!/usr/bin/env bash
# Fails if pz has become slower than a baseline or, with --against REV, than another revision; see
# --help and docs/TUNING.md. `bench gate` measures and judges; this script builds what it needs.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

die() { # STATUS MESSAGE...
  echo "perf-gate: ${*:2}" >&2
  exit "$1"
}

build() { # TREE PACKAGE PROGRAM
  if [[ -n $tags ]]; then
    CGO_ENABLED=1 go -C "$1" build -buildvcs=false -trimpath -tags "$tags" -o "$tmp/$3" "$2"
  else
    go -C "$1" build -buildvcs=false -trimpath -o "$tmp/$3" "$2"
  fi
}

# revision prints the commit of this tree, with -dirty if anything but the default baseline differs.
revision() {
  local commit changes
  commit=$(git -C "$repo" rev-parse --short HEAD 2>/dev/null) || { echo unknown; return; }
  changes=$(git -C "$repo" status --porcelain -- . ':(exclude)docs/generated/perf-gate-baseline.tsv')
  echo "$commit${changes:+-dirty}"
}

# cpuinfo prints the first value of a key in /proc/cpuinfo.
cpuinfo() { # KEY
  awk -F: -v key="$1" '{ name = $1; sub(/[ \t]+$/, "", name) }
    name == key { sub(/^[ \t]+/, "", $2); sub(/[ \t]+$/, "", $2); print $2; exit }' /proc/cpuinfo
}

# check_machine compares the machine of the baseline with this one, before anything is built. The
# program checks the rest: kernels and threads.
check_machine() {
  [[ -r $baseline ]] ||
    die 3 "no judgement: no baseline $baseline: write one with --update-baseline, or use --against REV"
  [[ -r /proc/cpuinfo ]] || return 0
  local key was now part value
  for key in cpu cpuid cores go; do
    case $key in
      cpu) now=$(cpuinfo 'model name') ;;
      cpuid)
        now=
        for part in 'cpu family' model stepping 'CPU implementer' 'CPU part' 'CPU revision'; do
          value=$(cpuinfo "$part")
          now+=${value:+${now:+, }$part $value}
        done
        ;;
      cores) now=$(nproc) ;;
      go) now=$(go -C "$repo" env GOVERSION) ;;
    esac
    was=$(awk -F'\t' -v key="# $key" '$1 == key { print $2; exit }' "$baseline")
    [[ -z $now || $was == "$now" ]] ||
      die 3 "no judgement: the baseline is from another machine: $key ${was:-unknown}, here $now:" \
        'use --against REV or --update-baseline'
  done
}

args=()
against=
device=
baseline=$repo/docs/generated/perf-gate-baseline.tsv
judges=1 # by the baseline
while (($# > 0)); do
  case $1 in
    --against | --device | --baseline)
      (($# > 1)) || die 2 "$1 needs a value; see --help"
      set -- "$1=$2" "${@:3}"
      continue
      ;;
    --against=*) against=${1#*=} judges= ;;
    --device=*) device=${1#*=} ;;
    --baseline=*) baseline=${1#*=} ;;
    --help | -h | --update-baseline | --self-test)
      judges=
      args+=("$1")
      ;;
    *) args+=("$1") ;;
  esac
  shift
done
[[ -z $judges ]] || check_machine

tags=
if [[ -n $device && $device != soft ]]; then
  tags=${PZ_GPU_TAGS:-webgpu,opengl,egl}
  # Mesa writes messages between the tables otherwise.
  export EGL_LOG_LEVEL="${EGL_LOG_LEVEL:-fatal}" NODEVICE_SELECT="${NODEVICE_SELECT:-1}"
fi
command=./cmd/pz
[[ -z $tags ]] || command=./gpu/pz
build "$repo" ./internal/bench bench || die 3 'this tree does not build'
if [[ -n $against ]]; then
  commit=$(git -C "$repo" rev-parse --verify --quiet "$against^{commit}") ||
    die 2 "--against: no revision $against"
  # An unpacked archive leaves nothing in the repository, even if this script is killed.
  mkdir "$tmp/tree"
  git -C "$repo" archive "$commit" | tar -x -C "$tmp/tree"
  build "$tmp/tree" "$command" old || die 3 "revision $against does not build"
  build "$repo" "$command" new || die 3 'this tree does not build'
  args=(--old "$tmp/old" --new "$tmp/new" --old-name "$against" ${args[@]+"${args[@]}"})
fi
"$tmp/bench" gate --revision "$(revision)" --baseline "$baseline" ${device:+--device "$device"} \
  ${args[@]+"${args[@]}"}
