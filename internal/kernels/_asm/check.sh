#!/usr/bin/env bash
# check.sh generates the assembly of packages kernels and simd for amd64. Without arguments it
# compares the result with the files in the packages, and fails if they differ. With --write it
# replaces them.
set -euo pipefail

case "$#:${1-}" in
  0:) write= ;;
  1:--write) write=1 ;;
  *) echo "usage: ${0##*/} [--write]" >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")"
root=$(cd ../../.. && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# generate GENERATOR DIRECTORY NAME: runs a generator, which writes NAME.s and NAME.go for the
# package in a directory of the module.
generate() {
  local generator=$1 directory=$2 name=$3
  go build -o "$tmp/$name" "$generator"
  # avo writes its command line into the first line of both files.
  (cd "$tmp" && "./$name" -pkg "${directory##*/}" -out "$name.s" -stubs "$name.go")
  sed -i '1s/ by command: .*\. DO NOT/ by internal\/kernels\/_asm. DO NOT/' \
    "$tmp/$name.s" "$tmp/$name.go"

  # avo writes a declaration on one line.
  awk '!/^\/\// {
    while (length($0) > 100 && match(substr($0, 1, 100), /.*, /)) {
      print substr($0, 1, RLENGTH - 1)
      $0 = "\t" substr($0, RLENGTH + 1)
    }
  }
  { print }' "$tmp/$name.go" | gofmt >"$tmp/wrapped.go"
  mv "$tmp/wrapped.go" "$tmp/$name.go"

  # With a register that only AVX-512 has, the assembler silently encodes an instruction of AVX-512.
  if ! awk '/^TEXT/ { avx2 = $2 ~ /AVX2/ }
            avx2 && /[XYZ](1[6-9]|2[0-9]|3[01])([^0-9]|$)|[ZK][0-7]([^0-9]|$)/ { print; bad = 1 }
            END { exit bad }' "$tmp/$name.s"; then
    echo "check.sh: an AVX2 function uses registers of AVX-512" >&2
    exit 1
  fi

  local file
  for file in "$name.s" "$name.go"; do
    if [[ -n $write ]]; then
      cp "$tmp/$file" "$root/$directory/$file"
    elif ! diff -u "$root/$directory/$file" "$tmp/$file"; then
      echo "check.sh: $directory/$file is not what internal/kernels/_asm generates;" \
        "run internal/kernels/_asm/check.sh --write" >&2
      exit 1
    fi
  done
}

generate . internal/kernels asm_amd64
generate ./parse internal/kernels asm_parse_amd64
generate ./tree internal/kernels asm_tree_amd64
generate ./multihash internal/kernels asm_multihash_amd64
generate ./zstd internal/kernels asm_zstd_amd64
generate ./simd simd asm_amd64
