#!/usr/bin/env bash
# Searches for inputs that make tests fail. See usage below.
set -uo pipefail # no -e: a failed target must not stop the following ones

usage() {
  cat <<'USAGE'
usage: scripts/fuzz.sh [--for TIME | --each TIME] [PACKAGE...]

Runs all fuzz targets of the packages in turn, and TestMutants of internal/refdec and
internal/peertest, which tries changed files with right checks. At the end it prints for each target
how many inputs it tried, how many of them reached new code, and how many made it fail. Exits 1 if
one failed.

  --for TIME   for all together; TestMutants gets a quarter of it; default 10m
  --each TIME  for each target
  PACKAGE      as for the go command; default ./...

TIME is a number and s, m or h, as in 8h. The go command writes an input that fails to the directory
testdata/fuzz of the package, and keeps those that reach new code in its cache for the next time.

Environment:
  GOMAXPROCS  how many inputs are tried at the same time; default: one for each processor
USAGE
}

# seconds TIME: prints a time in seconds.
seconds() {
  [[ $1 =~ ^([0-9]+)([smh])$ ]] || return
  case ${BASH_REMATCH[2]} in
    s) echo $((BASH_REMATCH[1])) ;;
    m) echo $((BASH_REMATCH[1] * 60)) ;;
    h) echo $((BASH_REMATCH[1] * 3600)) ;;
  esac
}

mode=--for time=600
case ${1-} in
  --for | --each)
    mode=$1
    time=$(seconds "${2-}") || { usage >&2; exit 2; }
    shift 2
    ;;
  -h | --help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
packages=("$@")
((${#packages[@]} > 0)) || packages=(./...)

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
tmp=$(mktemp -d) || exit 1
workers=${GOMAXPROCS:-$(getconf _NPROCESSORS_ONLN)}
failed=0 pids=()
touch "$tmp/table"

# finish prints the table of what has run so far.
finish() {
  printf '%-58s %12s %8s %8s\n' target inputs new failed
  cat "$tmp/table"
}
trap '((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'finish; exit 130' INT
trap 'finish; exit 143' TERM

# row TARGET INPUTS NEW FAILURES: adds a row to the table.
row() {
  printf '%-58s %12s %8s %8s\n' "$@" >>"$tmp/table"
  (($4 == 0)) || failed=1
}

# list_targets prints a line with package and name for each fuzz target.
list_targets() {
  local list
  list=$(go test -list '^Fuzz' "${packages[@]}") || { echo "$list" >&2; return 1; }
  # The names of a package come before its line.
  awk '/^Fuzz/ { names[++n] = $1 }
       /^ok/ { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }' <<<"$list"
}

# fuzz_target PACKAGE TARGET SECONDS: runs a fuzz target. Inputs are not minimised: on long ones Go
# spends the whole time on that.
fuzz_target() {
  local rc=0 log=$tmp/log inputs new
  for _ in 1 2 3; do
    rc=0
    go test -run '^$' -fuzz "^$2\$" -fuzztime "$3s" -fuzzminimizetime 1x -parallel "$workers" "$1" \
      >"$log" 2>&1 || rc=$?
    # Go up to 1.26 may report the end of -fuzztime as a failure, without a failing input:
    # https://go.dev/issue/75804.
    if ((rc == 0)) || grep -q 'Failing input' "$log" ||
      ! grep -qx ' *context deadline exceeded' "$log"; then
      break
    fi
  done
  ((rc == 0)) || { echo "$1 $2"; cat "$log"; }
  inputs=$(sed -n 's/.* execs: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  new=$(sed -n 's/.*new interesting: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  row "$1 $2" "${inputs:-0}" "${new:-0}" $((rc != 0))
}

# The packages with a TestMutants that has the flag -mutants.
with_mutants=(internal/refdec internal/peertest)

# try_mutants PACKAGE SECONDS: runs TestMutants of a package in as many processes as there are
# workers. Each has another seed.
try_mutants() {
  local i rc bad=0 inputs
  go test -c -o "$tmp/mutants" "./$1" || { row "$1 TestMutants" 0 0 1; return; }
  for ((i = 0; i < workers; i++)); do
    (cd "$1" && exec "$tmp/mutants" -test.run '^TestMutants$' -test.v -test.timeout 0 \
      -mutants "$2s" >"$tmp/mutants.$i" 2>&1) &
    pids+=($!)
  done
  for i in "${!pids[@]}"; do
    rc=0
    wait "${pids[i]}" || rc=$?
    ((rc == 0)) || { bad=$((bad + 1)); cat "$tmp/mutants.$i"; }
  done
  pids=()
  inputs=$(awk '{ for (i = 2; i <= NF; i++) if ($i == "mutants:") n += $(i - 1) } END { print n + 0 }' \
    "$tmp"/mutants.[0-9]*)
  row "$1 TestMutants" "$inputs" - "$bad"
}

list_targets >"$tmp/targets" || exit 1
count=$(wc -l <"$tmp/targets")
((count > 0)) || { echo 'these packages have no fuzz targets' >&2; exit 1; }
mutants=()
for package in "${with_mutants[@]}"; do
  ! grep -q "/$package " "$tmp/targets" || mutants+=("$package")
done
each=$time of_mutants=$time
if [[ $mode == --for ]] && ((${#mutants[@]} == 0)); then
  each=$((time / count))
elif [[ $mode == --for ]]; then
  of_mutants=$((time / 4 / ${#mutants[@]}))
  each=$(((time - of_mutants * ${#mutants[@]}) / count))
fi
((each > 0)) || each=1
for package in "${mutants[@]}"; do
  try_mutants "$package" "$of_mutants"
done
while read -r package target; do
  fuzz_target "$package" "$target" "$each" </dev/null
done <"$tmp/targets"
finish
exit "$failed"
