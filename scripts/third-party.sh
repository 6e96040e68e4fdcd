#!/usr/bin/env bash
# Tests programs of others with packages zstd and gzip in place of klauspost's. See usage below.
set -euo pipefail

# The programs: module and version, then the arguments of go test.
programs=(
  'github.com/apache/arrow-go/v18@v18.8.0 ./parquet/compress ./arrow/ipc'
  'github.com/cockroachdb/pebble/v2@v2.1.7 ./internal/compression'
  'github.com/containerd/containerd/v2@v2.4.2 ./pkg/archive/compression ./core/remotes/docker'
  'github.com/containers/storage@v1.59.1 ./pkg/archive ./pkg/chunked/...'
  'github.com/google/go-containerregistry@v0.22.1 ./internal/... ./pkg/v1/tarball'
  'github.com/mholt/archives@v0.1.5 .'
  'github.com/parquet-go/parquet-go@v0.32.0 ./compress/...'
  'github.com/prometheus/client_golang@v1.25.0 ./prometheus/promhttp/...'
  'github.com/segmentio/kafka-go@v0.4.51 ./compress ./gzip -skip=TestCompressedMessages'
  'github.com/twmb/franz-go@v1.22.3 ./pkg/kgo -run=ompress -skip=ConsumeMax'
  'github.com/valyala/fasthttp@v1.78.0 . -run=Zstd|Gzip|Compress|FS'
)

usage() {
  cat <<'USAGE'
usage: scripts/third-party.sh [WORD...]

Takes programs that import klauspost/compress/zstd, klauspost/compress/gzip or klauspost/pgzip from
the module proxy, and runs their tests. Then it changes those imports to packages zstd and gzip of
this module, and nothing else, and runs them again. Fails if a test has another result. Without
words it takes all programs, else those whose name contains one of them.
USAGE
}

if [[ ${1-} == -* ]]; then
  usage
  exit
fi

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
go_version=$(go list -C "$repo" -m -f "{{.GoVersion}}")
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT

# The programs may change their go.mod. cgo would need libraries of the system.
export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0

# results LOG ARGUMENT...: runs tests and prints the result of each test and package.
results() {
  local log=$1
  shift
  go test -count=1 -vet=off -v "$@" >"$log" 2>&1 </dev/null || true
  sed -nE 's/^ *--- (PASS|FAIL|SKIP): ([^ ]+).*/\1 \2/p; s/^(ok|FAIL|\?) *\t([^ \t]+).*/\1 \2/p' \
    "$log" | sort
}

# change_imports changes the imports in all files of the current directory.
change_imports() {
  local ours=github.com/gopz/compress
  grep -rlE --include='*.go' '"github.com/klauspost/(compress/(zstd|gzip)|pgzip)"' . | xargs sed -i -E \
    -e 's,"github.com/klauspost/compress/(zstd|gzip)","'$ours'/\1",' \
    -e 's,^(import +|\t)"github.com/klauspost/pgzip",\1pgzip "'$ours'/gzip",' \
    -e 's,"github.com/klauspost/pgzip","'$ours'/gzip",'
}

# compare MODULE ARGUMENT...: runs the tests of a program before and after.
compare() {
  local module=$1 source dir=$tmp/program
  shift
  source=$(go mod download -json "$module" | sed -nE 's/^\t"Dir": "(.*)",$/\1/p')
  rm -rf "$dir"
  cp -r "$source" "$dir"
  chmod -R u+w "$dir"
  cd "$dir"
  # Both runs have the same versions of all modules and of Go.
  go mod edit -go="$go_version" -require github.com/gopz/compress@v0.0.0 \
    -replace "github.com/gopz/compress=$repo"
  results "$tmp/before.log" "$@" >"$tmp/before"
  change_imports
  results "$tmp/after.log" "$@" >"$tmp/after"
  if ! diff "$tmp/before" "$tmp/after"; then
    tail -n 100 "$tmp/after.log"
    echo "$module: other results than before"
    return 1
  fi
  printf '%s: before and after %d passed, %d failed\n' "$module" \
    "$(grep -c '^PASS' "$tmp/after")" "$(grep -c '^FAIL Test' "$tmp/after")"
}

status=0
for program in "${programs[@]}"; do
  read -ra words <<<"$program"
  if (($# == 0)) || grep -qF "$(printf '%s\n' "$@")" <<<"${words[0]}"; then
    set +e # for the result of the subshell, in which a failed command still ends it
    (set -e; compare "${words[@]}")
    rc=$?
    set -e
    ((rc == 0)) || status=1
  fi
done
exit $status
