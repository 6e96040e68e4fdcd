#!/usr/bin/env bash
# Fails if pz has become slower than a baseline or, with --against REV, than another revision; see
# --help and docs/TUNING.md. `bench gate` measures and judges; this script builds what it needs.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

die() { # STATUS MESSAGE
  echo "perf-gate: $2" >&2
  exit "$1"
}

build() { # TREE PACKAGE PROGRAM
  go -C "$1" build -buildvcs=false -trimpath -o "$tmp/$3" "$2"
}

# revision prints the commit of this tree, with -dirty if anything but the default baseline differs.
revision() {
  local commit changes
  commit=$(git -C "$repo" rev-parse --short HEAD 2>/dev/null) || { echo unknown; return; }
  changes=$(git -C "$repo" status --porcelain -- . ':(exclude)docs/generated/perf-gate-baseline.tsv')
  echo "$commit${changes:+-dirty}"
}

args=()
against=
while (($# > 0)); do
  case $1 in
    --against)
      (($# > 1)) || die 2 '--against needs a revision; see --help'
      against=$2
      shift
      ;;
    --against=*) against=${1#*=} ;;
    *) args+=("$1") ;;
  esac
  shift
done

build "$repo" ./internal/bench bench || die 3 'this tree does not build'
if [[ -n $against ]]; then
  commit=$(git -C "$repo" rev-parse --verify --quiet "$against^{commit}") ||
    die 2 "--against: no revision $against"
  # An unpacked archive leaves nothing in the repository, even if this script is killed.
  mkdir "$tmp/tree"
  git -C "$repo" archive "$commit" | tar -x -C "$tmp/tree"
  build "$tmp/tree" ./cmd/pz old || die 3 "revision $against does not build"
  build "$repo" ./cmd/pz new || die 3 'this tree does not build'
  args=(--old "$tmp/old" --new "$tmp/new" --old-name "$against" ${args[@]+"${args[@]}"})
fi
"$tmp/bench" gate --revision "$(revision)" --baseline "$repo/docs/generated/perf-gate-baseline.tsv" \
  ${args[@]+"${args[@]}"}
