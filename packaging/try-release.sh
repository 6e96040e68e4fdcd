#!/usr/bin/env bash
# usage: packaging/try-release.sh DIR
#
# Tries files of a release, which scripts/release.sh has written to DIR: the program of each
# platform that this machine can run or emulate, the Homebrew formula, the winget manifests, an .rpm
# package, and lintian on the .deb packages. Prints what it could not try. try-deb.sh installs a
# .deb package.
set -euo pipefail

packaging=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() { # MESSAGE...
  echo "try-release: $*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null; }

# unpack ARCHIVE: makes the directory of an archive the only one in $work/a.
unpack() {
  rm -rf "$work/a"
  mkdir "$work/a"
  if [[ $1 == *.zip ]]; then
    unzip -q "$1" -d "$work/a"
  else
    tar -C "$work/a" -xzf "$1"
  fi
}

# try_program COMMAND...: compresses and restores with the program of an archive, in the directory
# of the archive. It must write the same bytes as the program of this platform. The man page must be
# its own.
try_program() {
  local format
  for format in pz gz zst; do
    "$@" --format "$format" <"$work/content" >a.out 2>/dev/null
    cmp a.out "$work/content.$format"
    "$@" -dc <a.out 2>/dev/null | cmp - "$work/content"
  done
  "$@" --help=man 2>/dev/null | cmp - pz.1
}

# try_programs: tries the programs of all archives. The emulators lose some of the signals with
# which Go preempts goroutines.
try_programs() {
  local -x GODEBUG=asyncpreemptoff=1 WINEDEBUG=-all
  local archive platform host format run program
  local -A emulators=(
    [linux-amd64]=qemu-x86_64 [linux-arm64]=qemu-aarch64 [linux-386]=qemu-i386
    [linux-s390x]=qemu-s390x [windows-amd64]=wine
  )
  host=$(go env GOHOSTOS)-$(go env GOHOSTARCH)
  emulators[$host]='env'
  seq 400000 >"$work/content"
  unpack "$(echo pz-*-"$host".tar.gz)"
  program=$(echo "$work"/a/*/pz)
  for format in pz gz zst; do
    "$program" --format "$format" <"$work/content" >"$work/content.$format"
  done
  for archive in pz-*.tar.gz pz-*.zip; do
    platform=$(grep -oE '[a-z]+-[a-z0-9]+(\.tar\.gz|\.zip)$' <<<"$archive")
    platform=${platform%%.*}
    run=${emulators[$platform]-}
    if [[ -z $run ]] || ! has "$run"; then
      echo "not tried: $platform${run:+, which needs $run}"
      continue
    fi
    unpack "$archive"
    pushd "$work"/a/* >/dev/null
    program=./pz
    [[ -f pz ]] || program=./pz.exe
    if "$run" "$program" --version >/dev/null 2>&1; then
      try_program "$run" "$program"
      echo "runs: $platform"
    else
      echo "not tried: $platform, because $run does not run pz --version"
    fi
    popd >/dev/null
  done
}

# try_winget: checks that the manifests name the archive, its digest and the program in it.
try_winget() {
  local url program
  url=$(sed -n 's/.*InstallerUrl: //p' winget/*.installer.yaml)
  program=$(sed -n 's/.*RelativeFilePath: //p' winget/*.installer.yaml)
  sed -n 's/.*InstallerSha256: //p' winget/*.installer.yaml | tr A-F a-f |
    sed "s/\$/  ${url##*/}/" | sha256sum --check --quiet
  unzip -tqq "${url##*/}" "${program//\\//}"
  echo 'the winget manifest names the program in the archive'
}

# try_rpm: installs the .rpm of this processor into a directory, verifies and removes it.
try_rpm() {
  local root=$work/rpm rpm
  rpm=$(echo ./*."$(uname -m)".rpm)
  mkdir "$root"
  rpm --root "$root" --install --nodeps "$rpm"
  "$root/usr/bin/unpz" -c "$work/content.pz" | cmp - "$work/content"
  rpm --root "$root" --verify pz
  rpm --root "$root" --erase pz
  if [[ -n $(find "$root" -path '*/pz*') ]]; then
    die 'the .rpm package leaves files behind'
  fi
  echo 'the .rpm package installs, runs and is removed'
}

try_programs
if has unzip; then
  try_winget
else
  echo 'not tried: the winget manifests, which need unzip'
fi
if has ruby; then
  ruby "$packaging/try-formula.rb" pz.rb "$work/formula"
else
  echo 'not tried: the formula, which needs ruby'
fi
if has rpm && ((EUID == 0)); then
  try_rpm
else
  echo 'not tried: the .rpm package, which needs rpm and root'
fi
if has lintian; then
  lintian --allow-root --fail-on error,warning ./*.deb
  echo 'lintian has no findings'
else
  echo 'not tried: lintian'
fi
