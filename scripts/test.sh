#!/usr/bin/env bash
# Runs the checks of this repository. See usage below.
set -uo pipefail # no -e: a failed step must not stop the following ones

# Version of the linter. No other file names it.
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Limits for one package, natively and under an emulator. With the race detector, and other programs
# beside it, the command's tests took more than ten minutes.
timeout=20m
qemu_timeout=60m

# The library and the tests of its public API.
library_packages=(. ./internal/blackbox/...)

# Packages that start goroutines or share memory between them, for the race detector. The command
# and the other black-box tests take long with it, and only --all runs them so.
race_packages=(. ./internal/blackbox/{devices,streams} ./gzip ./httpcompress ./pipeline/... ./gpu
  ./gpu/internal/host ./gpu/pz ./internal/blockcache ./httprange ./parity ./zstd ./examples/profile)

# Packages whose results could depend on byte order or word size. The match finders take long under
# an emulator, and only --all runs them there.
byte_packages=(./simd ./internal/kernels ./lzseq ./fse ./internal/codec/... ./internal/bitio
  ./internal/suffix ./internal/pzfile ./internal/gzfile ./internal/gzindex ./internal/gzaccess
  ./internal/zstfile ./internal/peertest ./parity ./zstd)
match_packages=(./lz77 ./internal/finder ./internal/match ./internal/optimal)

# Packages that have kernels in assembly or call them. Those of internal/blackbox compare digests of
# files.
kernel_packages=(./simd ./internal/cpu ./internal/kernels ./internal/codec/... "${match_packages[@]}"
  ./lzseq ./pipeline ./internal/peertest "${library_packages[@]}")

usage() {
  cat <<'USAGE'
usage: scripts/test.sh [--quick | --all | STEP...]

Runs the checks of this repository. Prints one line per step, and the output of the steps that
fail. The last line is "N passed, N failed". Exits 1 if a step failed.

  --quick  before a commit: gofmt, vet and the short tests
  (none)   what CI runs: --quick with all tests, linters, race detector, one 32-bit run,
           one big-endian emulator, GPU code on software drivers, Apache Beam
  --all    everything: also long tests, real files, every tier of kernels, every emulator,
           other platforms, nested modules, generated code, fuzzing
  STEP     only the named steps
  --list   print the steps of each mode

Environment:
  PZ_CORPUS  directory of real files for the step "long"
  CI         if set, a step fails instead of skipping when a program is missing
USAGE
}

mode=default
only=()
case ${1-} in
  '') ;;
  --quick | --all | --list) mode=${1#--} ;;
  -h | --help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
  *) only=("$@") ;;
esac
if [[ ${1-} == --* ]] && (($# > 1)); then
  usage >&2
  exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[[ $mode != all ]] || export CI=1 # nothing may be skipped
corpus=${PZ_CORPUS-}
unset PZ_CORPUS # real files take minutes

passed=0 skipped=0 failed=() collecting=
declare -A known=()

# selected FROM NAME: reports whether the step NAME runs. FROM is the first mode that has it.
selected() {
  if ((${#only[@]} > 0)); then
    [[ " ${only[*]} " == *" $2 "* ]]
    return
  fi
  case $mode in
    quick) [[ $1 == quick ]] ;;
    default) [[ $1 != all ]] ;;
    all) ;;
    list) printf '%-8s %s\n' "$1" "$2"; false ;;
  esac
}

# step FROM NAME COMMAND...: runs a command and prints the result. Status 77 means skipped.
step() {
  local from=$1 name=$2 start=$SECONDS rc=0
  shift 2
  known[$name]=1
  [[ -z $collecting ]] || return 0
  selected "$from" "$name" || return 0
  "$@" >"$tmp/log" 2>&1 </dev/null || rc=$?
  case $rc in
    0) ((passed++)); printf 'ok    %-20s %4d s\n' "$name" $((SECONDS - start)) ;;
    77) ((skipped++)); printf 'skip  %-20s %s\n' "$name" "$(tail -n 1 "$tmp/log")" ;;
    *)
      failed+=("$name")
      printf 'FAIL  %-20s %4d s\n' "$name" $((SECONDS - start))
      sed 's/^/      /' "$tmp/log"
      ;;
  esac
}

# need COMMAND PACKAGE: returns 77, or 1 if CI is set, without the command.
need() {
  command -v "$1" >/dev/null && return
  echo "$1 is not installed; on Debian and Ubuntu: apt-get install $2"
  [[ -n ${CI-} ]] && return 1
  return 77
}

formatted() {
  local bad
  bad=$(gofmt -l .) || return 1
  [[ -z $bad ]] && return
  printf 'not formatted; run gofmt -w on:\n%s\n' "$bad"
  return 1
}

tests() {
  if [[ $mode == quick ]]; then
    go test -short -timeout "$timeout" ./...
  else
    go test ./... # without flags, to share test results with the README's command
  fi
}

lint_scripts() {
  need shellcheck shellcheck || return
  find . -name '*.sh' -not -path './.git/*' -exec shellcheck {} + &&
    shellcheck .ci/run packaging/pzgrep packaging/pzless
}

# race PACKAGE...: runs short tests with the race detector.
race() {
  need gcc gcc || return
  CGO_ENABLED=1 go test -race -short -timeout "$timeout" "$@"
}

# runs_386 reports whether this machine runs 32-bit programs. The kernel may be built without them.
runs_386() {
  [[ $(go env GOHOSTOS GOHOSTARCH | tr '\n' ' ') =~ ^linux\ (amd64|386)\  ]] || return
  # A compile error is for the tests to report.
  CGO_ENABLED=0 GOARCH=386 go test -c -o "$tmp/386" ./internal/bitio >/dev/null 2>&1 || return 0
  "$tmp/386" -test.run '^$' >/dev/null 2>&1
}

# native_386 PACKAGE...: runs short tests as 32-bit programs.
native_386() {
  runs_386 || { echo 'this machine does not run 386 programs'; return 77; }
  CGO_ENABLED=0 GOARCH=386 go test -short -timeout "$timeout" "$@"
}

# emulated ARCH EMULATOR PACKAGE...: runs short tests on another processor.
emulated() {
  local arch=$1 emulator=$2
  shift 2
  need "$emulator" qemu-user || return
  # The emulator loses some of the signals with which Go preempts goroutines.
  CGO_ENABLED=0 GOARCH=$arch GODEBUG=asyncpreemptoff=1 \
    go test -short -timeout "$qemu_timeout" -exec "$emulator" "$@"
}

# windows runs short tests of the command and the library as programs for Windows.
windows() {
  need wine wine || return
  local -x CGO_ENABLED=0 GOOS=windows WINEDEBUG=-all TEST_OUTPUT=$tmp/output
  local -x CI='' # Wine does not find the programs of this system
  # A server that Wine starts outlives the test, and go test would wait for it at the end of a pipe.
  cat >"$tmp/wine" <<'SH'
#!/bin/sh
wine "$@" >"$TEST_OUTPUT" 2>&1
rc=$?
cat "$TEST_OUTPUT"
exit $rc
SH
  chmod +x "$tmp/wine"
  go test -c -o "$tmp/probe.exe" ./internal/bitio || return
  "$tmp/wine" "$tmp/probe.exe" -test.run '^$' || { echo 'Go needs Wine 10 or later'; return 77; }
  go test -short -p 1 -timeout "$timeout" -exec "$tmp/wine" ./internal/cli/... ./internal/testenv \
    "${library_packages[@]}"
}

# gpu runs the tests of the GPU packages on the best adapter, which may be a software driver.
gpu() {
  local tags=webgpu,opengl,egl
  need gcc gcc && need pkg-config pkg-config || return
  pkg-config --exists egl || need egl-headers 'libegl-dev libgl-dev' || return
  local -x CGO_ENABLED=1 CI=1 # a missing adapter is a failure
  go vet -tags "$tags" ./... && go run "$staticcheck" -tags "$tags" ./gpu/... &&
    go test -timeout "$timeout" -tags "$tags" \
      ./gpu ./gpu/internal/host ./gpu/opengl ./gpu/webgpu ./gpu/pz ./gpu/day
}

# gpu_drivers runs the tests of the GPU drivers on llvmpipe with 4, 8 and 16 lanes, as far as the
# processor has them, and with the validation layers of Vulkan.
gpu_drivers() {
  local bits layer=VK_LAYER_KHRONOS_validation log=$tmp/validation
  local run=(go test -count=1 -timeout "$timeout" -tags 'webgpu,opengl,egl')
  local -x CGO_ENABLED=1
  for bits in 128 256 512; do
    echo "$bits bits"
    LP_NATIVE_VECTOR_WIDTH=$bits "${run[@]}" ./gpu/webgpu ./gpu/opengl || return
  done
  if ! ls /usr/share/vulkan/explicit_layer.d/*khronos_validation.json >/dev/null 2>&1; then
    need validation-layers vulkan-validationlayers || return
  fi
  printf 'khronos_validation.%s\n' 'debug_action = VK_DBG_LAYER_ACTION_LOG_MSG' "log_filename = $log" \
    'report_flags = error,warn,perf,info' \
    'enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT' >"$tmp/vk_layer_settings.txt"
  # wgpu keeps the Vulkan object of a buffer for which there is no memory, and the layer reports
  # that.
  VK_LAYER_SETTINGS_PATH=$tmp/vk_layer_settings.txt VK_INSTANCE_LAYERS=$layer "${run[@]}" \
    -skip '^TestOutOfMemory$' ./gpu/webgpu || return
  [[ -s $log ]] || { echo "the validation layer has written nothing"; return 1; }
  ! grep 'Validation Error' "$log"
}

# long runs every test at full length, with real files if there are any.
long() {
  [[ -z $corpus ]] || local -x PZ_CORPUS=$corpus
  PZ_TEST=all go test -timeout 60m ./... && (cd integrations/beam && PZ_TEST=all go test -timeout 60m ./...)
}

# beam tests the nested module integrations/beam. The step "modules" vets it, which takes long on
# dependencies.
beam() { (cd integrations/beam && go test -vet=off -timeout "$timeout" ./...); }

# modules tests the nested modules, each of which has dependencies of its own.
modules() {
  local mod
  find . -mindepth 2 -name go.mod -not -path './.git/*' | while read -r mod; do
    echo "$mod"
    (cd "$(dirname "$mod")" && go mod tidy -diff && go vet ./... && go test ./...) || exit 1
  done
}

# tier NAME: tests with the faster kernels switched off.
tier() {
  # The test cache does not know of PZ_SIMD, hence -count=1.
  CGO_ENABLED=0 PZ_SIMD=$1 go test -short -count=1 -timeout "$timeout" "${kernel_packages[@]}"
}

emulated_portable() {
  local -x PZ_SIMD=portable
  emulated arm64 qemu-aarch64 -count=1 ./simd ./internal/cpu ./internal/kernels ./lzseq
}

noasm() {
  go vet -tags noasm ./... &&
    go test -short -timeout "$timeout" -tags noasm "${kernel_packages[@]}"
}

nocgo() {
  local -x CGO_ENABLED=0
  go vet ./... && go test -short -timeout "$timeout" ./internal/cli ./gpu/...
}

# platforms compiles everything, tests included, for other platforms.
platforms() {
  local p
  for p in linux/arm64 linux/s390x linux/386 windows/amd64 darwin/arm64 freebsd/amd64 wasip1/wasm; do
    echo "$p"
    CGO_ENABLED=0 GOOS=${p%/*} GOARCH=${p#*/} go vet ./... || return
  done
}

# release builds the files of a release twice and tries the .deb package.
release() {
  need zip zip && need mmdebstrap mmdebstrap || return
  scripts/release.sh --check
}

# steps runs the selected steps. The columns are the first mode that has the step, its name, and its
# command.
steps() {
  step quick gofmt formatted
  step quick vet go vet ./...
  step quick tests tests
  step default tidy go mod tidy -diff
  step default staticcheck go run "$staticcheck" ./...
  step default shellcheck lint_scripts
  step default race race "${race_packages[@]}"
  step default 386 native_386 "${byte_packages[@]}" "${match_packages[@]}"
  step default s390x emulated s390x qemu-s390x "${byte_packages[@]}"
  step default gpu gpu
  step default beam beam
  step all long long
  step all race-more race ./internal/blackbox/... ./internal/cli
  step all gpu-drivers gpu_drivers
  step all portable tier portable
  step all avx2 tier avx2
  step all noasm noasm
  step all nocgo nocgo
  step all platforms platforms
  step all windows windows
  step all 386-more native_386 "${library_packages[@]}" ./pipeline
  step all s390x-more emulated s390x qemu-s390x "${match_packages[@]}" "${library_packages[@]}"
  step all arm64 emulated arm64 qemu-aarch64 "${byte_packages[@]}" "${match_packages[@]}" \
    "${library_packages[@]}"
  step all arm64-portable emulated_portable
  step all modules modules
  step all assembly internal/kernels/_asm/check.sh
  step all release release
  step all third-party scripts/third-party.sh containerd containers/ franz parquet-go prometheus
  step all fuzz scripts/fuzz.sh --each 2s
}

if ((${#only[@]} > 0)); then
  collecting=1
  steps
  collecting=
  for name in "${only[@]}"; do
    [[ -n ${known[$name]-} ]] || { echo "no step $name; --list prints the steps" >&2; exit 2; }
  done
fi
steps
[[ $mode != list ]] || exit 0
((${#failed[@]} == 0)) || echo "failed: ${failed[*]}"
printf '%d passed, %d failed' "$passed" "${#failed[@]}"
((skipped == 0)) || printf ', %d skipped' "$skipped"
echo
((${#failed[@]} == 0))
