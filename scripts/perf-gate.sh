#!/usr/bin/env bash
# Fails if the compressor has become slower, or its scheduler dearer; see usage below and docs/TUNING.md.
set -euo pipefail
export LC_ALL=C # numbers have points

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/perf-gate-judge.sh
source "$repo/scripts/perf-gate-judge.sh"

# The matrix. Sizes are such that an iteration is many blocks for each worker and a measurement some tenths of a second: long enough
# to be more than noise, and short enough that many fit between two disturbances.
pipelines=lzr,lzseqr
size=20M
iterations=5
decode_factor=3 # decompression is that much faster, so that it gets more iterations

throughput_pct=4
overhead_abs=0.02
repeats=7
threads=
cpu_only=
default_baseline=docs/generated/perf-gate-baseline.tsv
baseline=$repo/$default_baseline
output=
update=
against=
self_test=

usage() {
  cat <<'TEXT'
usage: scripts/perf-gate.sh [options]

Measures throughput and scheduler overhead of a fixed matrix, pipelines by modes, and compares the medians with a baseline; or,
with --against, with another revision in the same run, which is the one way that works on any machine.

  --throughput-regression-pct N  how much slower is too much, in percent (4)
  --overhead-regression-abs X    how much more scheduler overhead is too much, as a part of the workers' time: 0.02, the
                                 default, allows two percentage points
  --against REV      build that revision beside this tree (with this tree's examples/profile, so that both do the same work),
                     measure old, new, old, new ..., and judge the ratios
  --threads N        workers (all processors)
  --cpu-only         leave out the modes with a device
  --pipelines LIST   pipelines to measure (lzr,lzseqr)
  --size SIZE        content of an iteration (20M)
  --iterations N     iterations in a measurement (5; three times as many to decompress)
  --repeats N        measurements of each cell of the matrix, an odd number (7); more are made where the result is in doubt
  --baseline FILE    the baseline (docs/generated/perf-gate-baseline.tsv)
  --output FILE      write the table of what was measured
  --update-baseline  write that table to the baseline, and compare nothing; needs a tree that is as it was committed, for the table
                     names the commit
  --self-test        show that the gate fails with 10% more work, and passes with none
  --help             this text

Modes: cpu and cpu-decompress; soft, with the software device and automatic assignment; gpu and gpu-decompress, if there is a
device in hardware. Speeds are in millions of bytes of content per second, overhead is in percent of the workers' time.

Exit status: 0 no regression; 1 a regression; 2 wrong usage; 3 no judgement: the baseline is from another machine, or this one is
too busy; 130 interrupted.

How it judges. With --against every measurement of the new build has one of the old build beside it, and the median of the ratios of these
pairs counts, not the ratio of the medians, which is printed too: what disturbs the machine for longer than a pair hits both. A cell passes
as soon as it is 97.5% certain to be within the limit, and fails if the median is past the limit and so many pairs say "slower" that equal
builds would do it in less than 1 of 100 runs of the whole gate, whatever the noise is like. In between there are more pairs, up to
eight times --repeats. Pairs during which other programs had the processors do not count; if these are most, content per second of
processor time is judged in place of speed, and overhead is not. With a baseline medians are compared, of calm measurements only.
TEXT
}

die() { # STATUS MESSAGE
  echo "perf-gate: $2" >&2
  exit "$1"
}

# bytes SIZE: prints the number of bytes that examples/profile takes SIZE for, or nothing.
bytes() {
  local n=${1%%[!0-9]*} shift unit
  [[ $n =~ ^0*([1-9][0-9]{0,11})$ ]] || return 0
  unit=${1#"$n"}
  case ${unit^^} in
    '' | B) shift=0 ;;
    K | KB | KIB) shift=10 ;;
    M | MB | MIB) shift=20 ;;
    G | GB | GIB) shift=30 ;;
    *) return 0 ;;
  esac
  n=$((10#$n))
  ((n > 1 << 50 >> shift)) || echo $((n << shift)) # more fits into no memory
}

number='^[0-9]+(\.[0-9]+)?$'
positive='^[1-9][0-9]*$'

parse() {
  local flag asked
  while (($# > 0)); do
    flag=$1
    shift
    if [[ $flag == --*=* ]]; then
      set -- "${flag#*=}" "$@"
      flag=${flag%%=*}
    fi
    case $flag in
      -h | --help) usage; exit 0 ;;
      --cpu-only) cpu_only=1; continue ;;
      --update-baseline) update=1; continue ;;
      --self-test) self_test=1; continue ;;
    esac
    (($# > 0)) || die 2 "$flag needs a value, or is not known; see --help"
    case $flag in
      --throughput-regression-pct) throughput_pct=$1 ;;
      --overhead-regression-abs) overhead_abs=$1 ;;
      --against) against=$1 ;;
      --threads) threads=$1 ;;
      --pipelines) pipelines=$1 ;;
      --size) size=$1 ;;
      --iterations) iterations=$1 ;;
      --repeats) repeats=$1 ;;
      --baseline) baseline=$1 ;;
      --output) output=$1 ;;
      *) die 2 "unknown option $flag; see --help" ;;
    esac
    shift
  done
  [[ $throughput_pct =~ $number ]] || die 2 "--throughput-regression-pct: $throughput_pct is not a number"
  [[ $overhead_abs =~ $number ]] || die 2 "--overhead-regression-abs: $overhead_abs is not a number"
  [[ $iterations =~ $positive ]] || die 2 "--iterations: $iterations is not a number above 0"
  [[ $repeats =~ $positive && $((10#$repeats % 2)) == 1 ]] || die 2 "--repeats: $repeats is not an odd number"
  [[ -z $threads || $threads =~ $positive ]] || die 2 "--threads: $threads is not a number above 0"
  asked=$size
  size=$(bytes "$size")
  [[ -n $size ]] || die 2 "--size: $asked is not a size above 0, such as 512K or 20M"
  [[ -n $pipelines ]] || die 2 "--pipelines: none"
  [[ -z $against || -z $update ]] || die 2 "--against has no use for a baseline: leave out --update-baseline"
}

# build DIR PROGRAM: builds examples/profile of the tree DIR.
build() {
  go -C "$1" build -buildvcs=false -trimpath -o "$2" ./examples/profile
}

# build_revision REV PROGRAM: builds that revision. It is unpacked rather than checked out, so that nothing is left in the repository
# even if this script is killed.
build_revision() {
  local commit tree=$tmp/tree
  commit=$(git -C "$repo" rev-parse --verify --quiet "$1^{commit}") || die 2 "--against: there is no revision $1"
  mkdir "$tree"
  git -C "$repo" archive "$commit" | tar -x -C "$tree"
  # The program that measures has to be the same, or the content and the work may not be.
  rm -rf "$tree/examples/profile"
  mkdir -p "$tree/examples"
  cp -R "$repo/examples/profile" "$tree/examples/profile"
  if ! build "$tree" "$2" 2>"$tmp/log"; then
    git -C "$repo" archive "$commit" examples/profile 2>/dev/null | tar -x -C "$tree" 2>/dev/null || true
    build "$tree" "$2" 2>>"$tmp/log" || {
      cat "$tmp/log" >&2
      die 3 "revision $1 does not build, neither with this tree's examples/profile nor with its own"
    }
    echo "note: $1 does not build with this tree's examples/profile; its own measures it, which may not do the same work"
  fi
}

# machine prints what a baseline depends on, as key<tab>value. Machines of one name are many: hence the numbers of the model, as far as
# the system tells them, and the kernels in use. Clock and neighbours it cannot know.
machine() {
  local model='' id=''
  if [[ -r /proc/cpuinfo ]]; then
    model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
    # The first processor's; the names are those of amd64 and of arm64.
    id=$(awk -F '[ \t]*: *' '/^$/ { exit }
      $1 ~ /^(cpu family|model|stepping|CPU (implementer|variant|part|revision))$/ { printf "%s%s %s", sep, $1, $2; sep = ", " }' /proc/cpuinfo)
  else
    id=$(sysctl -n machdep.cpu.family machdep.cpu.model machdep.cpu.stepping 2>/dev/null | paste -sd ' ' -) || id=
  fi
  [[ -n $model ]] || model=$(sysctl -n machdep.cpu.brand_string 2>/dev/null) || model=$(uname -m)
  printf 'cpu\t%s\ncpuid\t%s\nkernels\t%s\ncores\t%s\ngo\t%s\n' "$model" "${id:-unknown}" \
    "$(sed -n 's/^MACHINE\tkernels=//p' <<<"$listing")" "$(getconf _NPROCESSORS_ONLN)" "$(go env GOVERSION)"
}

# modes prints the modes there are here.
modes() {
  echo cpu
  echo cpu-decompress
  [[ -z $cpu_only ]] || return 0
  echo soft
  if grep -q $'^DEVICE\t.*\thardware=true\tpresent=true' <<<"$listing"; then
    echo gpu
    echo gpu-decompress
  else
    echo 'skipped: gpu, for there is no device' >&2
  fi
}

# measure SIDE ROUND MODE PIPELINE: measures once, and adds a line to the samples.
measure() {
  local args=(--pipeline "$4" --size "$size" --threads "$threads" --print-scheduler-stats) n=$iterations fields field line
  local -A v=()
  case $3 in
    *-decompress)
      n=$((n * decode_factor))
      args+=(--decompress)
      ;;
  esac
  case $3 in
    cpu*) args+=(--backend cpu) ;;
    soft) args+=(--backend auto --gpu-device soft) ;;
    gpu*) args+=(--backend auto) ;;
  esac
  if [[ $1 == new && -n $injected ]]; then args+=(--slow "$injected"); fi
  "$tmp/$1" "${args[@]}" --iterations "$n" >"$tmp/lines" 2>"$tmp/log" || {
    cat "$tmp/log" >&2
    die 3 "$3 $4 cannot be measured"
  }
  while IFS=$'\t' read -ra fields; do
    for field in "${fields[@]:1}"; do v[${field%%=*}]=${field#*=}; done
  done <"$tmp/lines"
  line="$1"$'\t'"$2"$'\t'"$3"$'\t'"$4"
  for field in mbps scheduler_overhead_pct runs total_ns tracked_thread_time_ns stage_compute_ns queue_wait_ns queue_admin_ns gpu_handoff_ns \
    gpu_try_send_full_count gpu_try_send_disconnected_count cpu_ns cpu_wait_ns content_bytes size iterations; do
    line+=$'\t'${v[$field]-}
  done
  echo "$line" >>"$tmp/samples"
}

# changes prints what differs from the commit, baselines left out, which are written from it; it fails where git does not tell.
changes() {
  local prefix file=$baseline except=(":(exclude)$default_baseline")
  [[ $file == /* ]] || file=$PWD/$file
  [[ $file != "$repo"/* ]] || except+=(":(exclude)${file#"$repo"/}")
  prefix=$(git -C "$repo" rev-parse --show-prefix 2>/dev/null) && [[ -z $prefix ]] && git -C "$repo" rev-parse --quiet --verify HEAD >/dev/null &&
    git -C "$repo" status --porcelain -- . "${except[@]}"
}

# revision prints the commit that is measured, and whether it is that.
revision() {
  local diff
  diff=$(changes) || { echo unknown; return; }
  echo "$(git -C "$repo" rev-parse --short HEAD)${diff:+-dirty}"
}

# gate JUDGE SIDE…: measures all cells until each is judged. Returns 0, 1 if one has failed, 3 if one could not be judged.
gate() {
  local judge=$1 sides=("${@:2}") todo=("${matrix[@]}") next round=0 look last cell mode pipe side verdict state rc=0
  : >"$tmp/samples"
  for look in "${looks[@]}"; do
    last=
    [[ $look != "${looks[-1]}" ]] || last=1
    for ((; round < look; round++)); do
      for cell in "${todo[@]}"; do
        read -r mode pipe <<<"$cell"
        for side in "${sides[@]}"; do
          measure "$side" $((round + 1)) "$mode" "$pipe"
        done
      done
    done
    next=()
    for cell in "${todo[@]}"; do
      read -r mode pipe <<<"$cell"
      verdict=$("$judge" "$mode" "$pipe" "$last")
      state=${verdict%%$'\t'*}
      case $state in
        more) next+=("$cell"); continue ;;
        FAIL) rc=1 ;;
        doubt) ((rc == 1)) || rc=3 ;;
        ok) ;;
        *) die 3 "cannot judge $cell: $verdict" ;;
      esac
      printf '%-5s %-14s %-8s %s\n' "$state" "$mode" "$pipe" "${verdict#*$'\t'}"
    done
    ((${#next[@]} > 0)) || break
    todo=("${next[@]}")
  done
  return "$rc"
}

# check_baseline: refuses a baseline that has nothing to say about this machine, or about the work that was asked for.
check_baseline() {
  local key value was cell mode pipe was_size was_n factor
  while IFS=$'\t' read -r key value; do
    was=$(sed -n "s/^# $key\t//p" "$baseline")
    [[ $was == "$value" ]] ||
      die 3 "the baseline is from another machine or setting ($key: ${was:-unknown}, here: $value): use --against REV, which needs none, or --update-baseline"
  done < <(machine; printf 'threads\t%s\n' "$threads")
  for cell in "${matrix[@]}"; do
    read -r mode pipe <<<"$cell"
    read -r was_size was_n < <(awk -F '\t' -v mode="$mode" -v pipe="$pipe" '$1 == mode && $2 == pipe { print $3, $4 }' "$baseline") ||
      die 3 "$mode $pipe is not in the baseline: leave it out (--pipelines, --cpu-only), use --against REV, or --update-baseline"
    factor=1
    [[ $mode != *-decompress ]] || factor=$decode_factor
    [[ $was_size == "$size" && $was_n == $((iterations * factor)) ]] ||
      die 3 "the baseline is of other work ($mode $pipe with --size $was_size --iterations $((was_n / factor)), here: --size $size --iterations $iterations): give these, use --against REV, or --update-baseline"
  done
}

# run_self_test: gates this build against itself, as it is and with 10% more work.
run_self_test() {
  local rc=0
  matrix=("cpu lzseqr" "cpu-decompress lzseqr")
  cells=${#matrix[@]}
  cp "$tmp/new" "$tmp/old"
  echo 'the same build twice: shall pass'
  gate judge_pairs old new || rc=$?
  ((rc == 0)) || die 1 "self-test: the gate does not pass without a regression (status $rc)"
  echo 'with 10% more work: shall fail'
  injected=10
  gate judge_pairs old new | tee "$tmp/verdicts" || rc=$?
  ((rc == 1)) || die 1 "self-test: the gate does not fail with 10% more work (status $rc)"
  ! grep -q '^ok' "$tmp/verdicts" || die 1 'self-test: a cell passes with 10% more work'
  echo 'self-test passed'
}

main() {
  local list mode pipe diff rc=0
  parse "$@"
  [[ -n $threads ]] || threads=$(getconf _NPROCESSORS_ONLN)
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  injected=
  looks=("$repeats" $((2 * repeats + 1)) $((4 * repeats + 1)))
  [[ -n $against || -n $self_test ]] || calm=$calm_alone
  if [[ -n $update ]]; then
    diff=$(changes) || die 2 '--update-baseline: this tree is not a checkout of git, which could tell what was measured: clone it'
    [[ -z $diff ]] || die 2 "--update-baseline: the tree is not as committed: commit or stash first (git status; $(head -n 1 <<<"$diff"))"
  elif [[ -z $against && -z $self_test && ! -r $baseline ]]; then
    die 3 "there is no baseline $baseline: make one with --update-baseline, or use --against REV"
  fi

  build "$repo" "$tmp/new" || die 3 'this tree does not build'
  listing=$("$tmp/new" --list)
  matrix=()
  list=$(modes)
  for mode in $list; do
    for pipe in ${pipelines//,/ }; do
      grep -qx $'PIPELINE\tname='"$pipe" <<<"$listing" || die 2 "--pipelines: no pipeline is called $pipe"
      matrix+=("$mode $pipe")
    done
  done
  cells=${#matrix[@]}
  if [[ -z $against && -z $update && -z $self_test ]]; then check_baseline; fi
  # With pairs it goes on for longer: what is in doubt there can be decided.
  [[ -z $against && -z $self_test ]] || looks+=($((8 * repeats + 1)))

  if [[ -n $self_test ]]; then
    run_self_test
    return
  elif [[ -n $against ]]; then
    build_revision "$against" "$tmp/old"
    gate judge_pairs old new || rc=$?
  elif [[ -n $update ]]; then
    gate judge_new new || die 3 'a baseline made on a busy machine would let regressions pass: wait until it is calmer'
    mkdir -p "$(dirname "$baseline")"
    table >"$tmp/table"
    cp "$tmp/table" "$baseline"
    echo "written: $baseline"
  else
    gate judge_baseline new || rc=$?
  fi
  if [[ -n $output ]]; then
    table >"$output"
    ! grep '^# empty:' "$output" >&2 || echo "note: the table in $output has no rows" >&2
  fi
  case $rc in
    1) echo 'perf-gate: a regression' >&2 ;;
    3) echo 'perf-gate: no judgement; try again when the machine is calmer, or with more --repeats' >&2 ;;
  esac
  return "$rc"
}

main "$@"
