#!/usr/bin/env bash
# check.sh generates the assembly of package simd for amd64. Without arguments it compares the
# result with the files in the package, and fails if they differ. With --write it replaces them.
set -euo pipefail

case "$#:${1-}" in
  0:) write= ;;
  1:--write) write=1 ;;
  *) echo "usage: ${0##*/} [--write]" >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# generate PACKAGE NAME: runs the generator in PACKAGE, which writes NAME.s and NAME.go.
generate() {
  go build -o "$tmp/$2" "$1"
  # avo writes its command line into the first line of both files.
  (cd "$tmp" && "./$2" -pkg simd -out "$2.s" -stubs "$2.go")
  sed -i '1s/ by command: .*\. DO NOT/ by simd\/_asm. DO NOT/' "$tmp/$2.s" "$tmp/$2.go"

  # avo writes a declaration on one line.
  awk '!/^\/\// {
    while (length($0) > 100 && match(substr($0, 1, 100), /.*, /)) {
      print substr($0, 1, RLENGTH - 1)
      $0 = "\t" substr($0, RLENGTH + 1)
    }
  }
  { print }' "$tmp/$2.go" | gofmt >"$tmp/wrapped.go"
  mv "$tmp/wrapped.go" "$tmp/$2.go"

  # With a register that only AVX-512 has, the assembler silently encodes an instruction of AVX-512.
  if ! awk '/^TEXT/ { avx2 = $2 ~ /AVX2/ }
            avx2 && /[XYZ](1[6-9]|2[0-9]|3[01])([^0-9]|$)|[ZK][0-7]([^0-9]|$)/ { print; bad = 1 }
            END { exit bad }' "$tmp/$2.s"; then
    echo "check.sh: an AVX2 function uses registers of AVX-512" >&2
    exit 1
  fi

  local file
  for file in "$2.s" "$2.go"; do
    if [[ -n $write ]]; then
      cp "$tmp/$file" "../$file"
    elif ! diff -u "../$file" "$tmp/$file"; then
      echo "check.sh: simd/$file is not what simd/_asm generates; run simd/_asm/check.sh --write" >&2
      exit 1
    fi
  done
}

generate . asm_amd64
generate ./parse asm_parse_amd64
generate ./tree asm_tree_amd64
generate ./multihash asm_multihash_amd64
generate ./zstd asm_zstd_amd64
