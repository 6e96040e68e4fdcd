#!/usr/bin/env bash
# Compares pz with other compressors; see --help. The work is done by internal/bench, with --frontier by internal/frontier.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d)
child=
# A signal goes on to the program, which bash starts deaf to ^C, so that it removes its files, too.
stop() {
  if [[ -n $child ]]; then
    kill "$child" || true
    wait "$child" || true
  fi
  exit 130
}
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM HUP

# A word of its own, and first: another program, which measures in memory.
if [[ ${1-} == --frontier ]]; then
  shift
  go -C "$repo" build -o "$tmp/frontier" ./internal/frontier
  note=$(git -C "$repo" describe --always --dirty 2>/dev/null || echo unknown)
  "$tmp/frontier" --revision "$note" --output "$repo/docs/generated" "$@" &
  child=$!
  wait "$child"
  exit
fi

go -C "$repo" build -o "$tmp/bench" ./internal/bench
for arg in "$@"; do
  case $arg in
    -h | -help | --help)
      "$tmp/bench" --help
      exit
      ;;
  esac
done
go -C "$repo" build -o "$tmp/pz" ./cmd/pz
"$tmp/bench" --pz "$tmp/pz" "$@" &
child=$!
wait "$child"
