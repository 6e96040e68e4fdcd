#!/usr/bin/env bash
# Builds pz and internal/bench and compares pz with other compressors; see --help.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

tags=
if [[ ${1-} == --gunzip ]] && echo '#include <libdeflate.h>' | "${CC-cc}" -E - >"$tmp/cc" 2>&1; then
  tags=libdeflate
fi
go -C "$repo" build -tags "$tags" -o "$tmp/bench" ./internal/bench
if [[ ${1-} == --frontier ]]; then
  revision=$(git -C "$repo" describe --always --dirty 2>/dev/null || echo unknown)
  "$tmp/bench" frontier --revision "$revision" --output "$repo/docs/generated" "${@:2}"
  exit
fi
go -C "$repo" build -o "$tmp/pz" ./cmd/pz
if [[ ${1-} == --gunzip ]]; then
  "$tmp/bench" gunzip --pz "$tmp/pz" "${@:2}"
  exit
fi
"$tmp/bench" files --pz "$tmp/pz" "$@"
