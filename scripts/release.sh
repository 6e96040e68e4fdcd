#!/usr/bin/env bash
# Builds the files of a release. See usage below.
set -euo pipefail

# Builds .deb and .rpm packages. No other file names its version.
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0

platforms=(linux/amd64 linux/arm64 linux/386 linux/s390x darwin/amd64 darwin/arm64 windows/amd64
  freebsd/amd64)
module=github.com/gopz/compress
home=https://github.com/gopz/compress
summary='Parallel compressor for .pz, .gz and .zst files'

usage() {
  cat <<'USAGE'
usage: scripts/release.sh [--output DIR] [REVISION]
       scripts/release.sh --check [REVISION]

Builds the files of a release from a commit, by default HEAD: archives for eight platforms, .deb
and .rpm packages, a Homebrew formula, winget manifests, a list of all modules (SBOM) and
SHA256SUMS. A tag vN.N.N gives them their version. Uncommitted changes are left out. Needs git, GNU
tar and zip.

  --output DIR  write to DIR instead of dist; DIR must not exist or be empty
  --check       build twice, with different caches, time zones and modes of files, and compare. Then
                try the programs, the formula and the manifests (packaging/try-release.sh), and
                install the .deb in a chroot, try it and remove it; this needs root and mmdebstrap
USAGE
}

die() { # MESSAGE...
  echo "release: $*" >&2
  exit 1
}

say() { # MESSAGE...: on standard error, since most steps take a minute
  echo "release: $*" >&2
}

# compile GOOS GOARCH PROGRAM: builds pz without cgo and without anything of this machine.
compile() {
  say "building for $1/$2"
  env -u GOAMD64 -u GOARM64 -u GO386 -u GOEXPERIMENT GOFLAGS= GOWORK=off CGO_ENABLED=0 \
    GOOS="$1" GOARCH="$2" go -C "$tmp/source" build -trimpath -buildvcs=true -ldflags='-s -w' \
    -o "$3" ./cmd/pz
}

# modules PROGRAM...: prints path and version of the modules that the programs contain.
modules() {
  go version -m "$@" | awk -F'\t' '$2 == "dep" { print $3, $4 }' | sort -u
}

# licences PROGRAM: prints the licences of the modules in a program, and of Go's library.
licences() {
  local path version
  echo "pz contains the following modules and parts of Go's standard library."
  modules "$1" | while read -r path version; do
    printf '\n---- %s %s\n\n' "$path" "$version"
    # libcap/psx may be used under BSD 3-clause or the GPL. pz uses it under the first.
    (shopt -s nocaseglob && sed '/^GPL v2\.0:$/,$d' \
      "$(go -C "$tmp/source" list -m -f '{{.Dir}}' "$path")"/license*)
  done
  printf '\n---- Go\n\n'
  cat "$(go env GOROOT)/LICENSE"
}

# sbom PROGRAM...: prints the modules in the programs as CycloneDX.
sbom() {
  local path value name sum first=1
  cat <<JSON
{
  "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
  "metadata": {
    "timestamp": "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)",
    "component": {
      "type": "application", "bom-ref": "pz", "name": "pz", "version": "$version",
      "purl": "pkg:golang/$module@$version",
      "licenses": [{ "license": { "id": "BSD-3-Clause" } }]
    }
  },
  "components": [
JSON
  { modules "$@"; echo "std $(go env GOVERSION)"; } | while read -r path value; do
    [[ -n $first ]] || echo ','
    first=
    printf '    { "type": "library", "name": "%s", "version": "%s", "purl": "pkg:golang/%s@%s" }' \
      "$path" "$value" "$path" "$value"
  done
  for name; do
    sum=$(sha256sum <"$name")
    name=${name%/pz*}
    printf ',\n    { "type": "file", "name": "%s", "hashes": [{ "alg": "SHA-256", "content": "%s" }] }' \
      "pz ${name##*/}" "${sum%% *}"
  done
  printf '\n  ]\n}\n'
}

# sum_of FILE: prints the digest of a file in SHA256SUMS.
sum_of() { awk -v name="$1" '$2 == name { print $1 }' SHA256SUMS; }

formula() {
  cat <<RUBY
class Pz < Formula
  desc "$summary"
  homepage "$home"
  version "$number"
  license "BSD-3-Clause"

RUBY
  local os arch name block condition
  for os in darwin linux; do
    block=macos
    [[ $os == darwin ]] || block=linux
    echo "  on_$block do"
    for arch in arm64 amd64; do
      name=pz-$number-$os-$arch.tar.gz
      condition=intel
      [[ $arch == amd64 ]] || condition=arm
      cat <<RUBY
    on_$condition do
      url "$home/releases/download/$version/$name"
      sha256 "$(sum_of "$name")"
    end
RUBY
    done
    echo '  end'
  done
  cat <<'RUBY'

  def install
    bin.install "pz", "pzgrep", "pzless"
    bin.install_symlink "pz" => "unpz"
    bin.install_symlink "pz" => "pzcat"
    man1.install "pz.1"
    %w[unpz pzcat pzgrep pzless].each { |name| man1.install_symlink "pz.1" => "#{name}.1" }
    bash_completion.install "completions/pz.bash" => "pz"
    zsh_completion.install "completions/_pz"
    fish_completion.install "completions/pz.fish"
    %w[unpz pzcat].each do |name|
      bash_completion.install_symlink "pz" => name
      fish_completion.install_symlink "pz.fish" => "#{name}.fish"
    end
  end

  test do
    assert_equal "content", pipe_output("#{bin}/pz | #{bin}/unpz", "content", 0)
  end
end
RUBY
}

# winget DIR: writes the three manifests of a version.
winget() {
  local id=gopz.pz name=pz-$number-windows-amd64.zip sum
  sum=$(sum_of "$name")
  manifest() { # KIND: prints the lines that all manifests have; further ones are on standard input
    printf 'PackageIdentifier: %s\nPackageVersion: %s\n' "$id" "$number"
    cat
    printf 'ManifestType: %s\nManifestVersion: 1.6.0\n' "$1"
  }
  mkdir "$1"
  manifest version >"$1/$id.yaml" <<<'DefaultLocale: en-US'
  manifest defaultLocale >"$1/$id.locale.en-US.yaml" <<YAML
PackageLocale: en-US
Publisher: The pz authors
PackageName: pz
PackageUrl: $home
License: BSD-3-Clause
ShortDescription: $summary
YAML
  manifest installer >"$1/$id.installer.yaml" <<YAML
InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
  - RelativeFilePath: ${name%.zip}\\pz.exe
    PortableCommandAlias: pz
Installers:
  - Architecture: x64
    InstallerUrl: $home/releases/download/$version/$name
    InstallerSha256: ${sum^^}
YAML
}

# stage: makes the files that all archives share, in $work/common.
stage() {
  local source=$tmp/source common=$work/common
  mkdir -p "$common/completions"
  cp "$source"/{LICENSE,README.md,CHANGELOG.md} "$source"/packaging/{pz.magic,pz.xml} "$common"
  licences "$native" >"$common/THIRD_PARTY"
  "$native" --help=man >"$common/pz.1"
  "$native" --help=bash >"$common/completions/pz.bash"
  "$native" --help=zsh >"$common/completions/_pz"
  "$native" --help=fish >"$common/completions/pz.fish"
}

# same_times DIR: gives all files the time of the commit, and modes that do not depend on umask.
same_times() {
  chmod -R u=rwX,go=rX "$1"
  find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

archive() { # GOOS GOARCH
  local name=pz-$number-$1-$2
  cp -R "$work/common" "$work/$name"
  if [[ $1 == windows ]]; then
    cp "$work/bin/$1-$2/pz" "$work/$name/pz.exe"
    same_times "$work/$name"
    (cd "$work" && find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -Xq9@ "$out/$name.zip")
    return
  fi
  cp "$work/bin/$1-$2/pz" "$tmp"/source/packaging/{pzgrep,pzless} "$work/$name"
  ln -s pz "$work/$name/unpz"
  ln -s pz "$work/$name/pzcat"
  same_times "$work/$name"
  tar -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" |
    "$native" --format gz -9 -n >"$out/$name.tar.gz"
}

package() { # GOARCH
  local dir=$work/package-$1 kind
  cp -R "$work/common" "$dir"
  mkdir "$dir/bin"
  cp "$work/bin/linux-$1/pz" "$tmp"/source/packaging/{pzgrep,pzless} "$dir/bin"
  "$native" --format gz -9 -n --rm -q "$dir/pz.1"
  "$native" --format gz -9 -n --rm -q -o "$dir/changelog.gz" "$dir/CHANGELOG.md"
  cat "$dir/LICENSE" "$dir/THIRD_PARTY" >"$dir/copyright"
  cp "$tmp/source/packaging/lintian-overrides" "$dir"
  cat >"$dir/changelog.yaml" <<YAML
- semver: ${number/-/\~}-1
  date: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  packager: $(sed -n 's/^maintainer: //p' "$tmp/source/packaging/nfpm.yaml")
  changes: [{note: New release. changelog.gz lists the changes.}]
  deb: {urgency: medium, distributions: [unstable]}
YAML
  same_times "$dir"
  for kind in deb rpm; do
    say "packing a .$kind for $1"
    (cd "$dir" && PACKAGE_ARCH=$1 PACKAGE_VERSION=$version \
      "$tmp/tools/nfpm" package -f "$tmp/source/packaging/nfpm.yaml" -p "$kind" -t "$out" >/dev/null)
  done
}

# build DIR: writes all files of the release to an empty directory.
build() {
  local platform out=$1 work
  work=$(mktemp -d "$tmp/work.XXXX")
  native=$work/pz
  compile "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$native"
  version=$(go version -m "$native" | awk -F'\t' '$2 == "mod" { print $4 }')
  number=${version#v}
  [[ $number == [0-9]* ]] || die "no version in $native: $version"
  stage
  for platform in "${platforms[@]}"; do
    compile "${platform%/*}" "${platform#*/}" "$work/bin/${platform/\//-}/pz"
    archive "${platform%/*}" "${platform#*/}"
    [[ $platform != linux/* ]] || package "${platform#*/}"
  done
  cd "$out"
  sbom "$work"/bin/*/pz >"pz-$number.cdx.json"
  sha256sum -- * >"$work/sums"
  mv "$work/sums" SHA256SUMS
  # These name digests, so SHA256SUMS does not list them.
  formula >pz.rb
  winget "$out/winget"
  same_times "$out"
}

# try_deb FILE: installs a package in a chroot, tries it and removes it.
try_deb() {
  # shellcheck disable=SC2016 # mmdebstrap sets $1
  mmdebstrap --quiet --variant=apt --include=man-db,bash-completion,grep,less \
    --customize-hook="copy-in $1 /tmp" \
    --customize-hook="copy-in $tmp/source/packaging/try-deb.sh /tmp" \
    --customize-hook='chroot "$1" sh -eux /tmp/try-deb.sh' \
    "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" /dev/null
}

check() {
  local first=$tmp/first second=$tmp/second
  mkdir "$first" "$second"
  say 'first build'
  (umask 022; TZ=UTC build "$first")
  say 'second build, with a cache of its own'
  (umask 077; TZ=Asia/Tokyo GOCACHE=$tmp/cache build "$second")
  say 'comparing the two builds'
  diff -r "$first" "$second" || die 'two builds differ'
  echo "two builds are equal: $(wc -l <"$first/SHA256SUMS") files"
  say 'trying the programs, the formula and the manifests'
  "$tmp/source/packaging/try-release.sh" "$first"
  if ((EUID != 0)) || ! command -v mmdebstrap >/dev/null; then
    echo 'not tried: the .deb package, which needs root and mmdebstrap'
    return
  fi
  say 'installing the .deb in a chroot'
  try_deb "$(echo "$first"/*_"$(dpkg --print-architecture)".deb)"
  echo 'the .deb package installs, runs and is removed'
}

output=dist checks=
while (($# > 0)); do
  case $1 in
    --output) output=${2:?--output needs a directory}; shift ;;
    --check) checks=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
(($# <= 1)) || { usage >&2; exit 2; }

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for tool in git go tar zip; do
  command -v "$tool" >/dev/null || die "$tool is not installed"
done
commit=$(git -C "$repo" rev-parse --verify --quiet "${1-HEAD}^{commit}") || die "no revision ${1-}"
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
SOURCE_DATE_EPOCH=$(git -C "$repo" log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH GOTOOLCHAIN=local

# A clone has nothing but the commit, and Go writes its version into the programs.
git clone --quiet --shared --no-checkout "$repo" "$tmp/source"
git -C "$tmp/source" checkout --quiet --detach "$commit"
say "installing ${nfpm##*/}"
GOBIN=$tmp/tools GOFLAGS='' go install "$nfpm"

if [[ -n $checks ]]; then
  check
  exit
fi
mkdir -p "$output"
output=$(cd "$output" && pwd)
[[ -z $(ls -A "$output") ]] || die "$output is not empty"
build "$output"
ls -l "$output"
