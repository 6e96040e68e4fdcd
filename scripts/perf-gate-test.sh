#!/usr/bin/env bash
# Tests the judgement of perf-gate.sh: a program that makes its numbers up stands in for examples/profile, so that it takes seconds
# and needs no calm machine. Most cases look at one pipeline on the CPU, for it is processes that cost time here. Whether the gate notices a real slow-down is shown by perf-gate.sh --self-test.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

repo=$tmp/repo
mkdir -p "$repo/scripts" "$repo/examples/profile" "$tmp/bin" "$tmp/tmp"
cp "$here"/perf-gate.sh "$here"/perf-gate-judge.sh "$repo/scripts"
touch "$repo/examples/profile/main.go"
export TMPDIR=$tmp/tmp # shall be empty after every run
export PATH=$tmp/bin:$PATH
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# The go command: a tree "builds" to a copy of its file program.
cat >"$tmp/bin/go" <<'GO'
#!/usr/bin/env bash
[[ $1 == env ]] && { echo "${FAKE_GO-go1.99}"; exit; }
dir=$2
while (($# > 1)); do [[ $1 == -o ]] && out=$2; shift; done
cp "$dir/program" "$out" || exit 1
chmod +x "$out"
GO
chmod +x "$tmp/bin/go"

# program SPEED [OVERHEAD [WAIT [CPU]]]: makes the tree's program. It is that fast in MB/s, give or take 2%, with overhead in percent, has to
# wait for the processor for that part of its time, and does that much per second of processor time.
program() {
  cat >"$repo/program" <<PROGRAM
#!/usr/bin/env bash
speed=$1 overhead=${2-1} wait=${3-0} cpu=${4-$1} hardware=${hardware-} deaf=${deaf-} lame=${lame-}
PROGRAM
  cat >>"$repo/program" <<'PROGRAM'
slow=0 size=20971520 iterations=
while (($# > 0)); do
  case $1 in
    --list)
      printf 'PIPELINE\tname=lzr\nPIPELINE\tname=lzseqr\nDEVICE\tname=soft\thardware=false\tpresent=true\n'
      printf 'MACHINE\tkernels=%s\n' "${FAKE_KERNELS-sse9}"
      [[ -z $hardware ]] || printf 'DEVICE\tname=card\thardware=true\tpresent=true\n'
      exit ;;
    --slow) [[ -n $deaf ]] || slow=$2 ;;
    --size) size=$2 ;;
    --iterations) iterations=$2 ;;
  esac
  shift
done
[[ -z $lame ]] || { echo 'no such luck' >&2; exit 1; }
count=0
[[ ! -r $COUNT ]] || read -r count <"$COUNT"
echo $((count + 1)) >"$COUNT"
exec awk -v n="$count" -v speed="$speed" -v slow="$slow" -v overhead="$overhead" -v wait="$wait" -v cpu="$cpu" -v size="$size" -v it="$iterations" '
  BEGIN {
    # Noise that is the same in every run of the test; every 9th measurement is hit by something.
    noise = 1 + ((n * 7919 % 41) - 20) / 1000
    if (n % 9 == 4) noise *= 0.6
    speed *= noise / (1 + slow / 100)
    cpu *= noise / (1 + slow / 100)
    bytes = size * it
    ns = bytes / cpu * 1000
    printf "SCHEDULER_STATS\truns=%d\ttotal_ns=1000\tstage_compute_ns=900\tqueue_wait_ns=80\tqueue_admin_ns=20\tgpu_handoff_ns=0\tgpu_try_send_full_count=3\tgpu_try_send_disconnected_count=0\tscheduler_overhead_ns=100\ttracked_thread_time_ns=1000\tscheduler_overhead_pct=%.4f\n", it, overhead + noise - 1
    printf "PROFILE_STATS\tmbps=%.3f\telapsed_ns=%.0f\tcpu_ns=%.0f\tcpu_wait_ns=%.0f\tsize=%d\titerations=%d\tcontent_bytes=%.0f\n", speed, bytes / speed * 1000, ns, ns * wait / (1 - wait), size, it, bytes
  }'
PROGRAM
}

failures=0
fail() {
  echo "FAIL $name: $*"
  sed 's/^/    /' "$tmp/log"
  failures=$((failures + 1))
}

# gate STATUS [ARGUMENT…]: runs the gate and compares its status.
gate() {
  local want=$1 rc=0
  shift
  rm -f "$tmp/count"
  COUNT=$tmp/count "$repo/scripts/perf-gate.sh" --threads 2 "$@" >"$tmp/log" 2>&1 || rc=$?
  ((rc == want)) || fail "status $rc, want $want, of $*"
  [[ -z $(ls -A "$TMPDIR") ]] || { fail "files are left behind"; rm -rf "${TMPDIR:?}"/*; }
}

# says TEXT: the last run has printed it.
says() {
  grep -qF -- "$1" "$tmp/log" || fail "does not say: $1"
}

# measured N: the last run has measured so often.
measured() {
  local n=0
  [[ ! -r $tmp/count ]] || read -r n <"$tmp/count"
  ((n == $1)) || fail "$n measurements, want $1"
}

baseline=$repo/docs/generated/perf-gate-baseline.tsv
cpu=(--cpu-only --pipelines lzseqr)

name='no git'
program 100
gate 2 --update-baseline
says 'clone it'
measured 0

git -C "$repo" init -q
commit() {
  git -C "$repo" add -A
  git -C "$repo" -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m "$1"
}
echo program >"$repo/.git/info/exclude" # it changes in every case, and is built rather than written
commit first

name='help'
program 100
gate 0 --help
mapfile -t options < <(grep -oE '^ +(-h \| )?--[a-z-]+\)' "$here/perf-gate.sh" | grep -oE -- '--[a-z-]+')
((${#options[@]} == 14)) || fail "${#options[@]} options found"
for option in "${options[@]}"; do
  says "  $option "
done
says 'Exit status'

name='wrong usage'
for args in '--repeats 4' '--repeats 0' '--repeats x' '--nosuch 1' '--nosuch' '--baseline' '--iterations 0' '--threads -1' \
  '--throughput-regression-pct -4' '--overhead-regression-abs x' '--size 0' '--size 2X' '--size M' '--size 99999999999G' '--pipelines nosuch --update-baseline' '--against HEAD --update-baseline'; do
  # shellcheck disable=SC2086
  gate 2 $args
  [[ $(grep -c . "$tmp/log") -le 2 ]] || fail "more than a line about $args"
done

name='baseline'
gate 3
says '--update-baseline'
measured 0
gate 0 --update-baseline
columns='mode pipeline size iterations repeats mbps_median scheduler_overhead_pct_median runs_median total_ns_median tracked_thread_time_ns_median stage_compute_ns_median queue_wait_ns_median queue_admin_ns_median gpu_handoff_ns_median gpu_try_send_full_count_median gpu_try_send_disconnected_count_median'
[[ $(grep -v '^#' "$baseline" | head -n 1) == "${columns// /$'\t'}" ]] || fail 'other columns'
[[ $(grep -cv '^#' "$baseline") == 7 ]] || fail 'not a heading and 6 cells'
awk -F '\t' '/^#/ { next } NF != 16 { exit 1 } $1 != "mode" && ($5 != 7 || $6 < 97 || $6 > 103 || $3 != 20971520) { exit 1 }' "$baseline" ||
  fail "rows: $(cat "$baseline")"
[[ $(awk -F '\t' '$1 == "cpu-decompress" { print $4 }' "$baseline" | sort -u) == 15 ]] || fail 'iterations to decompress'
cp "$baseline" "$tmp/good"
gate 0 --output "$tmp/table"
[[ $(grep -cv '^#' "$tmp/table") == 7 ]] || fail 'no table for --output'
says 'skipped: gpu'
grep -qx $'# revision\t'"$(git -C "$repo" rev-parse --short HEAD)" "$baseline" || fail 'the baseline does not name the commit'
for key in cpu cpuid kernels cores go threads; do
  grep -q "^# $key"$'\t.' "$baseline" || fail "the baseline does not tell $key"
done
gate 0 "${cpu[@]}" --update-baseline # it may be changed itself
cp "$tmp/good" "$baseline"

name='changes'
for file in scripts/more examples/profile/main.go; do
  echo change >>"$repo/$file"
  gate 2 --update-baseline
  says 'commit or stash first'
  measured 0
  gate 0 "${cpu[@]}" --output "$tmp/table"
  grep -q '^# revision.*-dirty$' "$tmp/table" || fail 'the table does not tell of the change'
  rm -f "$repo/scripts/more"
  git -C "$repo" checkout -q examples
done

name='throughput'
program 97
gate 0
program 95
gate 0 "${cpu[@]}" --throughput-regression-pct=6
gate 1 "${cpu[@]}" --repeats 3
says 'FAIL  cpu '
[[ $(grep -c '^FAIL' "$tmp/log") == 2 ]] || fail 'not two cells'
program 120
gate 0 "${cpu[@]}"

name='overhead'
program 100 2.8
gate 0 "${cpu[@]}"
program 100 3.2
gate 1 "${cpu[@]}" --repeats 3
gate 0 "${cpu[@]}" --overhead-regression-abs 0.05

name='another machine'
program 100
for line in 'cpu\tAbacus' 'cpuid\tfamily 1' 'kernels\tportable' 'cores\t1000' 'go\tgo1.1' 'threads\t77'; do
  sed -E "s/^# ${line%%\\*}\t.*/# $line/" "$tmp/good" >"$baseline"
  gate 3
  says 'use --against REV'
done
cp "$tmp/good" "$baseline"
FAKE_GO=go2.0 gate 3
FAKE_KERNELS=portable gate 3
measured 0

name='other work'
gate 3 --size 10M
says '--size 20971520 --iterations 5, here: --size 10485760 --iterations 5'
measured 0
gate 3 "${cpu[@]}" --iterations 4
says '--size 20971520 --iterations 5, here: --size 20971520 --iterations 4'
measured 0
gate 0 "${cpu[@]}" --size 20480kib
grep -v $'^soft\tlzseqr' "$tmp/good" >"$baseline"
gate 3
says 'soft lzseqr is not in the baseline'
measured 0
cp "$tmp/good" "$baseline"

name='busy machine'
program 60 5 0.5 100
gate 3 "${cpu[@]}" --repeats 1 --output "$tmp/table"
says 'other programs'
says 'has no rows'
grep -q '^# empty' "$tmp/table" || fail 'the table does not say that it is empty'
[[ $(grep -c '^# left out: cpu' "$tmp/table") == 2 ]] || fail 'the table does not say what it lacks'
gate 3 "${cpu[@]}" --repeats 1 --update-baseline
cmp -s "$tmp/good" "$baseline" || fail 'the baseline has been written'

name='program fails'
lame=1 program 100
gate 3
says 'no such luck'

name='device'
hardware=1 program 100
gate 0 --baseline "$tmp/new/dir/b" --update-baseline --repeats 1
[[ $(grep -c '^gpu' "$tmp/new/dir/b") == 4 ]] || fail 'no gpu modes'
gate 0 --baseline "$tmp/new/dir/b" --update-baseline --repeats 1 --cpu-only
! grep -qE '^(gpu|soft)' "$tmp/new/dir/b" || fail 'a device with --cpu-only'

program 100
: >"$repo/.git/info/exclude" # what is measured is the program of a commit now
commit old
for t in '100 0' '97 0' '98.5 0' '90 1' '110 0'; do
  read -r speed want <<<"$t"
  name="against, $speed for 100"
  program "$speed"
  gate "$want" "${cpu[@]}" --against HEAD
done
name='against, far too slow'
program 50
gate 1 --against HEAD
! grep -q '^ok' "$tmp/log" || fail 'a cell passes'
name='against, overhead'
program 100 4
gate 1 "${cpu[@]}" --against HEAD
name='against, busy machine'
program 100 9 0.5 100
gate 0 "${cpu[@]}" --against HEAD # judged by processor time, and overhead not at all
says 'machine busy'
program 100 9 0.5 90
gate 1 "${cpu[@]}" --against HEAD
name='against, a matter of noise'
program 95.5
gate 3 --against HEAD --repeats 1
program 95
gate 1 "${cpu[@]}" --against HEAD

name='against, what cannot be'
gate 2 --against nosuch
rm "$repo/program"
commit broken
program 100
gate 3 --against HEAD
says 'does not build'
[[ $(git -C "$repo" status --porcelain) == '?? program' ]] || fail 'the repository has changed'
[[ $(git -C "$repo" worktree list | wc -l) -eq 1 ]] || fail 'a worktree is left'

name='self-test'
program 100
gate 0 --self-test
deaf=1 program 100
gate 1 --self-test --repeats 3
says 'does not fail'

if ((failures > 0)); then
  echo "$failures failures"
  exit 1
fi
echo 'perf-gate-test: ok'
