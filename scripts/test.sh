#!/usr/bin/env bash
# Runs the checks of this repository; see usage below.
set -uo pipefail # no -e: a step that fails must not stop the ones after it

# The one place where the linter's version is written.
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Time given to each fuzz target with --all.
fuzztime=2s

# A test that hangs shall not hold up the others for long.
short_timeout=20m

# Go tests under an emulator are some ten to thirty times slower.
qemu_timeout=20m

usage() {
  cat <<'EOF'
usage: scripts/test.sh [--quick | --all]

Runs the checks of this repository, one line per step, with the whole output of
those that fail. Exits 1 if any failed, after having run them all.

  --quick  gofmt, vet, tests in short mode: what to run before every commit
  (none)   also go mod tidy, staticcheck, all tests, those of internal/seekabletest, the race detector, CGO_ENABLED=0,
           the noasm tag, builds for other platforms, the judgement of scripts/perf-gate.sh, shellcheck (if installed)
  --all    also the tests with each tier of kernels (PZ_SIMD), a comparison of the assembly with what
           its generator gives, the codecs' tests as 386 programs (32 bits) if this machine runs them,
           and under qemu (arm64, and s390x, which is big-endian), the GPU code on a GPU or on software
           Vulkan (mesa-vulkan-drivers, libvulkan1) and OpenGL (libegl1, libgl1-mesa-dri; to build
           libegl-dev, libgl-dev, pkg-config), and a short run of every fuzz target; shellcheck must be there

Set PZ_CORPUS to a directory of files to have the step "tests" use them as well;
the others make do with the data that the tests make themselves.
EOF
}

mode=default
case "$#:${1-}" in
  0:) ;;
  1:--quick) mode=quick ;;
  1:--all) mode=all ;;
  1:--help | 1:-h) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
failed=()

# step NAME COMMAND…: runs a command and says how it went.
step() {
  local name=$1 start=$SECONDS rc=0
  shift
  "$@" >"$tmp/log" 2>&1 </dev/null || rc=$?
  if ((rc == 0)); then
    printf 'ok    %-32s %4d s\n' "$name" $((SECONDS - start))
  else
    printf 'FAIL  %-32s %4d s\n' "$name" $((SECONDS - start))
    sed 's/^/      /' "$tmp/log"
    failed+=("$name")
  fi
}

# need COMMAND PACKAGE: fails with a hint if a command is missing.
need() {
  command -v "$1" >/dev/null && return
  echo "$1 is not installed; on Debian and Ubuntu: apt-get install $2"
  return 1
}

formatted() {
  local bad
  bad=$(gofmt -l .) || return 1
  [[ -z $bad ]] && return
  printf 'not formatted; run gofmt -w on:\n%s\n' "$bad"
  return 1
}

# concurrent_packages lists the packages that start goroutines or share anything between them: the others can have no races.
concurrent_packages() {
  grep -rlE --include='*.go' '(^|[[:space:]])go (func\(|[a-zA-Z_.]+\()|"sync["/]|t\.Parallel\(' . --exclude-dir=_asm --exclude-dir=seekabletest | xargs -n1 dirname | sort -u | grep -vx ./examples/profile # runs what the others have
}

race() {
  local packages
  mapfile -t packages < <(concurrent_packages)
  # Some ten times slower than without. Left out is what takes long and goes through the scheduler as others do: sizes, allocations, what other programs wrote, every length of a file.
  # It needs a C compiler, and go says so.
  CGO_ENABLED=1 PZ_CORPUS='' go test -race -short -skip 'Alloc|Density|Filtered|MostlyLiterals|SmallFiles|Tools|ReadGo|Truncation|NoDenseDevice|RecoverHostile|FlushedBeforeMore|StandardFormats|TestTar$' -timeout "$short_timeout" "${packages[@]}"
}

pure() {
  CGO_ENABLED=0 go build ./... && CGO_ENABLED=0 go vet ./... && CGO_ENABLED=0 PZ_CORPUS='' go test "$@" ./internal/cli ./gpu/... # what has a build with cgo as well; see tier
}

noasm() {
  # Of what has no kernels the tier portable tests the same code.
  go vet -tags noasm ./... && PZ_CORPUS='' go test -short -timeout "$short_timeout" -tags noasm ./simd ./rans ./lz77 ./lzseq ./pipeline
}

# seekable runs the tests that are a module of their own, because they need one that nothing else does.
seekable() {
  (cd internal/seekabletest && go mod tidy -diff && go vet ./... && go test -timeout "$short_timeout" ./...)
}

# platform OS ARCH: builds everything, and vet compiles the tests as well.
platform() {
  CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build ./... && CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go vet ./...
}

# byte_packages lists the packages of all that touches bytes, which another processor or word size can break, but for the library.
byte_packages() {
  local dirs=(lz77 lzseq rans fse huffman deflate zstd simd internal/inflate internal/pzfile internal/gzfile internal/zstfile internal/corpus) dir
  for dir in "${dirs[@]}"; do
    # Some of these are still to come.
    compgen -G "$dir/*_test.go" >/dev/null && echo "./$dir"
  done
  return 0
}

# Tests of the library that hold whole files to the same bytes: what another processor or tier could change. The others would be about the scheduler once more.
same_bytes='Golden|SameBytes|TestCorpus|Edges|BitFlips|RoundTrip|Standard'

# emulated ARCH EMULATOR: runs the tests of all that touches bytes on another processor.
emulated() {
  local packages
  need "$2" qemu-user || return
  mapfile -t packages < <(byte_packages)
  # Go's preemption signals and the emulator's threads do not always get along. What is measured rather than computed,
  # memory and allocations, says nothing about the processor that is emulated; what choosing settings, devices and long streams need of it others test.
  local -x CGO_ENABLED=0 GOARCH=$1 GODEBUG=asyncpreemptoff=1 PZ_CORPUS=''
  go test -short -skip 'Alloc|Memory|TestTime' -timeout "$qemu_timeout" -exec "$2" "${packages[@]}" &&
    go test -short -run "$same_bytes" -timeout "$qemu_timeout" -exec "$2" .
}

# emulated_tier NAME: the same on arm64, of what has kernels there, with faster ones switched off.
emulated_tier() {
  need qemu-aarch64 qemu-user || return
  CGO_ENABLED=0 GOARCH=arm64 GODEBUG=asyncpreemptoff=1 PZ_SIMD=$1 PZ_CORPUS='' \
    go test -short -count=1 -skip 'Alloc|Memory' -timeout "$qemu_timeout" -exec qemu-aarch64 ./simd ./lzseq
}

# runs_386 reports whether programs of 32 bits run here: the processor may be another one, and the kernel need not.
runs_386() {
  [[ $(go env GOHOSTOS GOHOSTARCH | tr '\n' ' ') =~ ^linux\ (amd64|386)\  ]] || return
  CGO_ENABLED=0 GOARCH=386 go test -c -o "$tmp/386" ./simd >/dev/null 2>&1 || return 0 # what does not compile shall fail
  "$tmp/386" -test.run '^$' >/dev/null 2>&1
}

# native_386 runs the same tests as emulated, with int of 32 bits and at full speed.
native_386() {
  local packages
  mapfile -t packages < <(byte_packages)
  local -x CGO_ENABLED=0 GOARCH=386 PZ_CORPUS=''
  # The scheduler's tests as well, which under an emulator would be about the emulator.
  go test -short -timeout "$short_timeout" "${packages[@]}" ./pipeline && go test -short -run "$same_bytes" -timeout "$short_timeout" .
}

# fuzz_targets prints a package and a name for every fuzz target there is.
fuzz_targets() {
  local list
  list=$(go test -list '^Fuzz' ./...) || { echo "$list"; return 1; }
  # The names come first, then the line of their package.
  awk '/^Fuzz/ { names[++n] = $1 }
       /^ok/ { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }' <<<"$list"
}

fuzz() {
  local rc
  for _ in 1 2 3; do
    rc=0
    go test -run '^$' -fuzz "^$2\$" -fuzztime "$fuzztime" "$1" >"$tmp/fuzz" 2>&1 || rc=$?
    # Up to Go 1.26 the end of -fuzztime may be reported as a failure of the target: https://go.dev/issue/75804.
    # Such a failure brings no input with it; try again.
    if ((rc == 0)) || grep -q 'Failing input' "$tmp/fuzz" || ! grep -qx ' *context deadline exceeded' "$tmp/fuzz"; then
      break
    fi
  done
  cat "$tmp/fuzz"
  return "$rc"
}

no_targets() {
  echo "$targets"
  return 1
}

# tier NAME: tests with the fastest kernels switched off, and without cgo. Not from the cache, which does not know of the variable.
tier() {
  local -x PZ_SIMD=$1 PZ_CORPUS='' CGO_ENABLED=0
  go test -short -count=1 -timeout "$short_timeout" ./simd ./rans ./lz77 ./lzseq ./pipeline && go test -short -count=1 -run "$same_bytes" -timeout "$short_timeout" .
}

# gpu tests the GPU code on software Vulkan and software OpenGL. With CI set a missing adapter is a failure.
gpu() {
  need gcc gcc && need pkg-config pkg-config || return
  pkg-config --exists egl || { echo 'the headers of EGL are missing; on Debian and Ubuntu: apt-get install libegl-dev libgl-dev'; return 1; }
  local both=webgpu,opengl,egl
  local -x CGO_ENABLED=1 CI=1 PZ_CORPUS=''
  go vet -tags webgpu ./gpu/... && go vet -tags opengl,egl ./gpu/... && go vet -tags "$both" ./... &&
    go run "$staticcheck" -tags "$both" ./gpu/... &&
    go test -short -timeout "$short_timeout" -tags "$both" ./gpu/... &&
    go test -short -timeout "$short_timeout" -tags "$both" -run 'GPU|Device|Backend' ./examples/profile
}

# gate tests how scripts/perf-gate.sh judges; nothing is measured.
gate() {
  need git git && need awk mawk && scripts/perf-gate-test.sh
}

scripts() {
  need shellcheck shellcheck && shellcheck scripts/*.sh simd/_asm/*.sh .ci/run
}

step gofmt formatted
step vet go vet ./...
if [[ $mode == quick ]]; then
  step 'tests (short)' go test -short -timeout "$short_timeout" ./...
else
  step 'go mod tidy' go mod tidy -diff
  step staticcheck go run "$staticcheck" ./...
  step tests go test -timeout 30m ./...
  step 'another seekable zstd' seekable
  step 'race detector' race
  step 'CGO_ENABLED=0' pure -short
  step 'noasm tag' noasm
  step linux/arm64 platform linux arm64
  step 'linux/s390x (big-endian)' platform linux s390x
  step 'linux/386 (32 bits)' platform linux 386
  step windows/amd64 platform windows amd64
  step darwin/arm64 platform darwin arm64
  step 'judgement of perf-gate' gate
  if [[ $mode == all ]] || command -v shellcheck >/dev/null; then
    step shellcheck scripts
  else
    echo 'left out: shellcheck is not installed'
  fi
fi
if [[ $mode == all ]]; then
  step 'PZ_SIMD=portable' tier portable
  step 'PZ_SIMD=avx2' tier avx2
  step 'assembly is as generated' simd/_asm/check.sh
  step 'GPU (webgpu, opengl tags)' gpu
  if runs_386; then
    step '386 (32 bits)' native_386
  else
    echo 'left out: 386 programs do not run on this machine'
  fi
  step 'qemu arm64' emulated arm64 qemu-aarch64
  step 'qemu arm64, PZ_SIMD=portable' emulated_tier portable
  step 'qemu s390x (big-endian)' emulated s390x qemu-s390x
  module=$(go list -m)
  if targets=$(fuzz_targets); then
    while read -r package name; do
      [[ -n $name ]] && step "${package#"$module"/} $name" fuzz "$package" "$name"
    done <<<"$targets"
  else
    step 'fuzz targets' no_targets
  fi
fi

if ((${#failed[@]} > 0)); then
  echo
  (IFS=,; echo "failed: ${failed[*]}")
  exit 1
fi
