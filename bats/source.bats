# SPDX-License-Identifier: BSD-3-Clause
# reproducers/source: trees from folders, tarballs, git and the distribution, with
# made-up DPDK trees of a few files and a cache of the test's own.

setup() {
  load helpers
  require_cmd tar git xz
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/ca che" TMPDIR=$BATS_TEST_TMPDIR
  store=$XDG_CACHE_HOME/mppsdiff/source
  kit "$KIT"
}

# kit ROOT: reproducers/source of that project in $tool.
kit() {
  tool=$1/reproducers/source
}

# own_kit: a copy of the kit's scripts, so that a test can add data files and tools.
own_kit() {
  mkdir -p 'own kit/reproducers'
  cp -R "$KIT/reproducers/lib" "$KIT/reproducers/source" 'own kit/reproducers/'
  mkdir -p 'own kit/reproducers/sources' tools
  kit "$PWD/own kit"
}

# tree FOLDER [RELEASE]: a made-up DPDK.
tree() {
  mkdir -p "$1/lib/eal" "$1/config"
  echo "${2-22.11.3}" >"$1/VERSION"
  printf "project('DPDK', 'C')\n" >"$1/meson.build"
  echo 'int main(void);' >"$1/lib/eal/eal.c"
  ln -sf ../lib/eal "$1/config/eal"
  printf '#!/bin/sh\n' >"$1/run.sh"
  chmod +x "$1/run.sh"
}

# tarball FILE [RELEASE]: a release of that.
tarball() {
  tree packed/dpdk-x "${2-22.11.3}"
  tar -C packed -cJf "$1" dpdk-x
  rm -r packed
}

# repository FOLDER: a git repository with an annotated tag v20.11 and a branch.
repository() {
  tree "$1" 20.11.0
  (
    cd "$1" || exit 1
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git init -q -b main .
    git add .
    git commit -q -m first
    git tag -a -m release v20.11
    echo 21.02.0 >VERSION
    git commit -q -am second
    git branch next
  )
}

# get NAME: a field of the last output.
get() {
  sed -n "s/^$1=//p" <<<"$output"
}

# clean: no work in progress and no half-made tree is left in the cache.
clean() {
  [ -z "$(find "$store" -maxdepth 1 -name 'mppsdiff.*')" ] || { ls "$store"; return 1; }
  local entry
  for entry in "$store"/*-*-*/; do
    [ -e "$entry" ] || continue
    [ -f "$entry/identity" ] && [ -f "$entry/tree/VERSION" ] || { echo "half made: $entry"; return 1; }
  done
}

@test "--help tells usage, files and exit status" {
  run "$tool" --help
  [ "$status" -eq 0 ]
  [[ $output == 'usage: reproducers/source'* ]]
  [[ $output == *'Exit status:'*'Example:'* ]]
  [ ! -e "$XDG_CACHE_HOME" ]
}

@test "wrong usage is one line and exit 2" {
  run "$tool" --frobnicate
  [ "$status" -eq 2 ]
  one_line_error '--dpdk, --error-file, --help, --offline, --print'
  run "$tool" --dpdk
  [ "$status" -eq 2 ]
  one_line_error '--dpdk needs a value'
  run "$tool" --print all --dpdk=.
  [ "$status" -eq 2 ]
  run "$tool" --print size
  [ "$status" -eq 2 ]
  one_line_error 'tree or identity'
  run "$tool" --dpdk nonsense
  [ "$status" -eq 2 ]
  one_line_error 22.11
  run "$tool" --dpdk 99.11
  [ "$status" -eq 2 ]
  one_line_error 'no source called "99.11"; known are: '
  run "$tool" --dpdk ./nowhere
  [ "$status" -eq 2 ]
  one_line_error ./nowhere
  run "$tool" --dpdk git:repo
  [ "$status" -eq 2 ]
  one_line_error 'git:REPOSITORY@TAG'
  run "$tool" --dpdk 'git:repo@--upload-pack=touch evil'
  [ "$status" -eq 2 ]
  run "$tool" --dpdk 'git:--upload-pack=touch evil@v1'
  [ "$status" -eq 2 ]
  run "$tool" --dpdk 'distro:1; touch evil'
  [ "$status" -eq 2 ]
  [ ! -e evil ]
}

@test "a folder: copied without .git and build folders, never written to, identity of its contents" {
  tree 'my dpdk'
  mkdir -p 'my dpdk/.git' 'my dpdk/build/meson-private' 'my dpdk/out/include' 'my dpdk/a[b/meson-private'
  touch 'my dpdk/.git/HEAD' 'my dpdk/build/x.o' 'my dpdk/out/.config' 'my dpdk/out/include/rte_config.h' 'my dpdk/a[b/y'
  find 'my dpdk' -printf '%p %s %T@ %m\n' | sort >before
  run "$tool" --dpdk 'my dpdk'
  [ "$status" -eq 0 ]
  [ "$(get release)" = 22.11.3 ]
  [ "$(get kind)" = directory ]
  [[ $(get id) =~ ^sha256:[0-9a-f]{64}$ ]]
  [ "$(get from)" = "$PWD/my dpdk" ]
  local made
  made=$(get tree)
  [[ $made == "$store/22.11.3-directory-"*/tree ]]
  [ "$(cd "$made" && find . -not -type d | sort | paste -sd ' ')" = './VERSION ./config/eal ./lib/eal/eal.c ./meson.build ./run.sh' ]
  [ -x "$made/run.sh" ]
  find 'my dpdk' -printf '%p %s %T@ %m\n' | sort | cmp - before
  clean
}

@test "a folder's identity ignores place, times, .git and builds; it sees contents, names, links and x bits" {
  tree one
  cp -R one two
  touch -d 2001-01-01 two/VERSION
  mkdir -p two/.git two/build/meson-private
  touch two/.git/x two/build/y
  local id
  id=$("$tool" --dpdk ./one --print identity)
  [ "$("$tool" --dpdk ./two --print identity)" = "$id" ]
  echo '// change' >>two/lib/eal/eal.c
  [ "$("$tool" --dpdk ./two --print identity)" != "$id" ]
  cp one/lib/eal/eal.c two/lib/eal/eal.c
  [ "$("$tool" --dpdk ./two --print identity)" = "$id" ]
  mv two/run.sh two/walk.sh
  [ "$("$tool" --dpdk ./two --print identity)" != "$id" ]
  mv two/walk.sh two/run.sh
  chmod -x two/run.sh
  [ "$("$tool" --dpdk ./two --print identity)" != "$id" ]
  chmod +x two/run.sh
  ln -sfn ../lib two/config/eal
  [ "$("$tool" --dpdk ./two --print identity)" != "$id" ]
}

@test "--print tree is only the path, and the same on the second run" {
  tree one
  local first
  first=$("$tool" --dpdk=./one --print=tree)
  [ -f "$first/VERSION" ]
  [ "$("$tool" --dpdk=./one --print=tree)" = "$first" ]
}

@test "releases are read from VERSION or, before 19.05, from rte_version.h" {
  local pair
  for pair in 20.08.0:20.08 22.11.11:22.11.11 26.07.0-rc1:26.07-rc1 19.05:19.05; do
    tree "t${pair#*:}" "${pair%%:*}"
    run "$tool" --dpdk "./t${pair#*:}"
    [ "$status" -eq 0 ]
    [ "$(get release)" = "${pair#*:}" ]
  done
  tree old
  rm old/VERSION
  mkdir -p old/lib/librte_eal/common/include
  printf '#define RTE_VER_YEAR 18\n#define RTE_VER_MONTH 11\n#define RTE_VER_MINOR 2\n#define RTE_VER_RELEASE 16\n' \
    >old/lib/librte_eal/common/include/rte_version.h
  run "$tool" --dpdk ./old
  [ "$status" -eq 0 ]
  [ "$(get release)" = 18.11.2 ]
}

@test "what is no DPDK tree is exit 2 and leaves nothing" {
  mkdir empty
  run "$tool" --dpdk ./empty
  [ "$status" -eq 2 ]
  one_line_error 'is not a DPDK tree'
  tree odd '../../evil'
  run "$tool" --dpdk ./odd
  [ "$status" -eq 2 ]
  mkdir -p packed/other
  touch packed/other/file
  tar -C packed -czf other.tar.gz other
  run "$tool" --dpdk other.tar.gz
  [ "$status" -eq 2 ]
  one_line_error 'is not a DPDK tree'
  clean
}

@test "a folder with a link out of it, a device or an unreadable file is refused" {
  tree one
  ln -s /etc/passwd one/lib/passwd
  run "$tool" --dpdk ./one
  [ "$status" -eq 1 ]
  one_line_error lib/passwd
  rm one/lib/passwd
  mkfifo one/lib/pipe
  run "$tool" --dpdk ./one
  [ "$status" -eq 2 ]
  one_line_error lib/pipe
  clean
}

@test "a tarball in every compression, with spaces in its name" {
  tarball 'a b.tar.xz'
  run "$tool" --dpdk 'a b.tar.xz'
  [ "$status" -eq 0 ]
  [ "$(get kind)" = tarball ]
  [ "$(get release)" = 22.11.3 ]
  [ "$(get id)" = "sha256:$(sha256sum <'a b.tar.xz' | cut -d ' ' -f 1)" ]
  [ "$(get from)" = "$PWD/a b.tar.xz" ]
  [ -x "$(get tree)/run.sh" ]
  xz -dc 'a b.tar.xz' | gzip >a.tar.gz
  run "$tool" --dpdk a.tar.gz
  [ "$status" -eq 0 ]
  xz -dc 'a b.tar.xz' >a.tar
  run "$tool" --dpdk ./a.tar
  [ "$status" -eq 0 ]
  clean
}

@test "a damaged tarball is one line and leaves nothing" {
  tarball a.tar.xz
  head -c 150 a.tar.xz >short.tar.xz
  run "$tool" --dpdk short.tar.xz
  [ "$status" -eq 1 ]
  one_line_error 'short.tar.xz is damaged or not a tarball'
  echo 'no tarball' >text.tar
  run "$tool" --dpdk text.tar
  [ "$status" -eq 1 ]
  [ -z "$(ls -d "$store"/*-tarball-* 2>/dev/null)" ]
  clean
}

@test "hostile tarballs are refused: absolute paths, .., links out, hard links, devices" {
  tree packed/dpdk-x
  tar -P -C packed --transform 's|^dpdk-x/VERSION|/tmp/evil-version|' -cf absolute.tar dpdk-x
  tar -P -C packed --transform 's|^dpdk-x/VERSION|dpdk-x/../../evil|' -cf dots.tar dpdk-x
  ln -s ../../../../../../etc packed/dpdk-x/out
  tar -C packed -cf link.tar dpdk-x
  rm packed/dpdk-x/out
  # Inside by its text, outside by way of another link.
  mkdir -p packed/dpdk-x/a/b
  ln -s ../.. packed/dpdk-x/a/b/up
  ln -s a/b/up/../../x packed/dpdk-x/out
  tar -C packed -cf chain.tar dpdk-x
  rm -r packed/dpdk-x/out packed/dpdk-x/a
  ln packed/dpdk-x/VERSION packed/dpdk-x/hard
  tar -C packed -cf hard.tar dpdk-x
  rm packed/dpdk-x/hard
  mkfifo packed/dpdk-x/pipe
  tar -C packed -cf device.tar dpdk-x
  local name
  for name in absolute dots link chain hard device; do
    run "$tool" --dpdk "$name.tar"
    [ "$status" -eq 1 ] || { echo "$name: $status $output"; return 1; }
    one_line_error "$name.tar is refused: "
  done
  [ ! -e evil ] && [ ! -e /tmp/evil-version ]
  [ -z "$(ls -d "$store"/*-tarball-* 2>/dev/null)" ]
  clean
}

@test "a tarball named like a pinned release must match its pin; both hashes are named" {
  tarball dpdk-22.11.11.tar.xz
  run "$tool" --dpdk ./dpdk-22.11.11.tar.xz
  [ "$status" -eq 1 ]
  one_line_error "expected $(sed -n 's/^sha256 = //p' "$KIT/reproducers/sources/22.11.conf")"
  one_line_error "found $(sha256sum <dpdk-22.11.11.tar.xz | cut -d ' ' -f 1)"
  one_line_error 22.11.11
}

# release_kit: a kit of its own with a release 21.02 at an address that a made-up curl
# serves from ./served (or fails when that is not there), and a curl that counts.
release_kit() {
  own_kit
  tarball dpdk-21.02.tar.xz 21.02.0
  cat >tools/curl <<END
#!/usr/bin/env bash
echo called >>"$PWD/curl-calls"
while [ "\$1" != --output ]; do shift; done
[ -e "$PWD/served" ] || exit 28
cp "$PWD/served" "\$2"
END
  chmod +x tools/curl
  PATH=$PWD/tools:$PATH
  cat >'own kit/reproducers/sources/21.02.conf' <<END
release = 21.02
url = https://example.org/rel/dpdk-21.02.tar.xz
sha256 = $(sha256sum <dpdk-21.02.tar.xz | cut -d ' ' -f 1)
pinned_by = this test
fallback = ${1-none}
END
}

@test "a release: fetched once, checked, cached; afterwards no network is needed" {
  release_kit
  cp dpdk-21.02.tar.xz served
  run --separate-stderr "$tool" --dpdk 21.02
  [ "$status" -eq 0 ]
  [ "$(get release)" = 21.02 ]
  [ "$(get kind)" = tarball ]
  [ "$(get from)" = https://example.org/rel/dpdk-21.02.tar.xz ]
  [ "$(get id)" = "sha256:$(sha256sum <dpdk-21.02.tar.xz | cut -d ' ' -f 1)" ]
  local first=$output
  rm served
  run --separate-stderr "$tool" --dpdk 21.02
  [ "$status" -eq 0 ]
  [ "$output" = "$first" ]
  run --separate-stderr "$tool" --dpdk 21.02 --offline
  [ "$output" = "$first" ]
  [ "$(wc -l <curl-calls)" -eq 1 ]
  # The same bytes as a local file are the same source.
  run --separate-stderr "$tool" --dpdk ./dpdk-21.02.tar.xz
  [ "$output" = "$first" ]
  clean
}

@test "a truncated or tampered download names both hashes and the address, nothing is kept" {
  release_kit distribution
  local good bad
  good=$(sha256sum <dpdk-21.02.tar.xz | cut -d ' ' -f 1)
  head -c 100 dpdk-21.02.tar.xz >served
  bad=$(sha256sum <served | cut -d ' ' -f 1)
  run "$tool" --dpdk 21.02
  [ "$status" -eq 1 ]
  [[ ${lines[-1]} == *"https://example.org/rel/dpdk-21.02.tar.xz does not match its sha256: expected $good, found $bad"* ]]
  [ -z "$(ls "$store/download")" ]
  clean
}

@test "a tampered tarball in the cache names both hashes and the file" {
  release_kit
  cp dpdk-21.02.tar.xz served
  "$tool" --dpdk 21.02 >/dev/null 2>&1
  # The tree was damaged, so the tarball is needed again, and it was tampered with.
  rm "$store"/21.02-tarball-*/tree/VERSION
  echo x >>"$store/download/dpdk-21.02.tar.xz"
  run "$tool" --dpdk 21.02
  [ "$status" -eq 1 ]
  [[ ${lines[-1]} == *"$store/download/dpdk-21.02.tar.xz does not match its sha256: expected "*', found '*'; remove it'* ]]
}

@test "a tree that was edited in the cache is made anew, offline" {
  release_kit
  cp dpdk-21.02.tar.xz served
  local made
  made=$("$tool" --dpdk 21.02 --print tree 2>/dev/null)
  rm served
  echo '// evil' >>"$made/lib/eal/eal.c"
  run "$tool" --dpdk 21.02 --offline --print tree
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == *'was changed since it was made; making it anew' ]]
  [ "${lines[-1]}" = "$made" ]
  [ "$(cat "$made/lib/eal/eal.c")" = 'int main(void);' ]
  # An added and a removed file are seen too.
  touch "$made/lib/more.c"
  "$tool" --dpdk 21.02 --offline >/dev/null 2>&1
  [ ! -e "$made/lib/more.c" ]
  rm "$made/run.sh"
  "$tool" --dpdk 21.02 --offline >/dev/null 2>&1
  [ -x "$made/run.sh" ]
  clean
}

@test "an address that does not answer, and --offline, are exit 1 with the ways out" {
  release_kit
  run "$tool" --dpdk 21.02
  [ "$status" -eq 1 ]
  [[ ${lines[-1]} == *'https://example.org/rel/dpdk-21.02.tar.xz cannot be fetched; give the tarball'* ]]
  run "$tool" --dpdk 21.02 --offline
  [ "$status" -eq 1 ]
  one_line_error --offline
  [ "$(wc -l <curl-calls)" -eq 1 ]
}

@test "a bad data file is exit 2 with file and line" {
  release_kit
  echo 'mirror = x' >>'own kit/reproducers/sources/21.02.conf'
  run "$tool" --dpdk 21.02
  [ "$status" -eq 2 ]
  one_line_error 'reproducers/sources/21.02.conf:6: unknown key "mirror"'
}

# apt_kit VERSION...: apt tools that know those versions of a source package, served as
# files, and an apt configuration with entries in both forms.
apt_kit() {
  release_kit distribution
  local version
  mkdir -p etc/parts packages
  printf 'deb [arch=amd64 signed-by=/k.gpg] http://one.example/debian stable main\n# deb http://off.example/debian x y\ndeb-src http://two.example/debian stable main\n' >etc/sources.list
  printf 'Types: deb\nURIs: http://three.example/debian\nSuites: stable\nComponents: main\nSigned-By:\n -----BEGIN\n .\n x\n\nEnabled: no\nTypes: deb\n deb-src\nURIs: http://four.example\nSuites: s\nComponents: c\n' >etc/parts/debian.sources
  printf 'deb http://five.example/debian stable main\n' >'etc/parts/more.list'
  cp -R etc etc.before
  cat >tools/apt-config <<END
#!/usr/bin/env bash
case \$3 in
*sourcelist*) echo "x='$PWD/etc/sources.list'" ;;
*sourceparts*) echo "x='$PWD/etc/parts/'" ;;
esac
END
  cat >tools/apt-cache <<END
#!/usr/bin/env bash
[ ! -e "$PWD/no-apt" ] || exit 100
for version in $*; do printf 'Package: dpdk\nVersion: %s\n\n' "\$version"; done
END
  cat >tools/apt-get <<END
#!/usr/bin/env bash
echo "\$*" >>"$PWD/apt-calls"
for word; do case \$word in Dir::Etc::sourceparts=*) cp -R "\${word#*=}/." "$PWD/seen/" ;; esac; done
[ ! -e "$PWD/no-apt" ] || exit 100
case \$* in *' source '*) cp "$PWD/packages/\${word#dpdk=}/"* . ;; esac
END
  chmod +x tools/*
  mkdir seen
  for version; do package "$version"; done
}

# package VERSION: a real source package made by hand (format 3.0, no patches).
package() {
  local version=$1 upstream=${1%-*} dir=packages/$1 file
  mkdir -p "$dir" work/debian/source
  tree "work/dpdk-$upstream" "$upstream"
  tar -C work -cJf "$dir/dpdk_$upstream.orig.tar.xz" "dpdk-$upstream"
  echo '3.0 (quilt)' >work/debian/source/format
  printf 'dpdk (%s) stable; urgency=low\n\n  * x\n\n -- a <a@b>  Mon, 01 Jan 2024 00:00:00 +0000\n' "$version" >work/debian/changelog
  printf 'Source: dpdk\nMaintainer: a <a@b>\nStandards-Version: 4.6.2\n\nPackage: dpdk\nArchitecture: any\nDescription: x\n' >work/debian/control
  tar -C work -cJf "$dir/dpdk_$version.debian.tar.xz" debian
  {
    printf 'Format: 3.0 (quilt)\nSource: dpdk\nBinary: dpdk\nArchitecture: any\nVersion: %s\nMaintainer: a <a@b>\nStandards-Version: 4.6.2\nChecksums-Sha256:\n' "$version"
    for file in "$dir"/*.tar.xz; do
      printf ' %s %s %s\n' "$(sha256sum <"$file" | cut -d ' ' -f 1)" "$(stat -c %s "$file")" "${file##*/}"
    done
    printf 'Files:\n'
    for file in "$dir"/*.tar.xz; do
      printf ' %s %s %s\n' "$(md5sum <"$file" | cut -d ' ' -f 1)" "$(stat -c %s "$file")" "${file##*/}"
    done
  } >"$dir/dpdk_$version.dsc"
  rm -r work
}

@test "distro: newest version, from source entries derived from both forms of the machine's" {
  require_cmd dpkg-source
  apt_kit 22.11.7-1 22.11.10-3 22.11.11-0+u1 22.11.9-2
  run --separate-stderr "$tool" --dpdk distro
  [ "$status" -eq 0 ]
  [ "$(get release)" = 22.11.11 ]
  [ "$(get kind)" = distribution ]
  [ "$(get id)" = "sha256:$(sha256sum <packages/22.11.11-0+u1/dpdk_22.11.11-0+u1.dsc | cut -d ' ' -f 1)" ]
  [ "$(get from)" = 'source package dpdk 22.11.11-0+u1' ]
  # Only source entries, none of the commented ones, options and keys kept.
  run ! grep -rqE '^deb |Types:.*deb( |$)|off\.example' seen
  [ "$(cat seen/*.list | sort)" = 'deb-src [arch=amd64 signed-by=/k.gpg] http://one.example/debian stable main
deb-src http://five.example/debian stable main
deb-src http://two.example/debian stable main' ]
  [ "$(cat seen/debian.sources)" = 'Types: deb-src
URIs: http://three.example/debian
Suites: stable
Components: main
Signed-By:
 -----BEGIN
 .
 x

Enabled: no
Types: deb-src
URIs: http://four.example
Suites: s
Components: c' ]
  # The machine's own configuration was only read.
  diff -r etc etc.before
  grep -q "Dir::State::lists=$store/apt/lists" apt-calls
  clean
}

@test "distro:VERSION picks that one; one it does not have is exit 1" {
  require_cmd dpkg-source
  apt_kit 22.11.7-1 22.11.11-0+u1
  run --separate-stderr "$tool" --dpdk distro:22.11.7
  [ "$status" -eq 0 ]
  [ "$(get release)" = 22.11.7 ]
  run --separate-stderr "$tool" --dpdk distro:22.11.11-0+u1
  [ "$(get release)" = 22.11.11 ]
  run "$tool" --dpdk distro:23.11
  [ "$status" -eq 1 ]
  [[ ${lines[-1]} == *'no source package of DPDK 23.11'* ]]
}

@test "a release whose address does not answer comes from the distribution if its file says so" {
  require_cmd dpkg-source
  apt_kit 21.02.5-1 22.11.11-0+u1
  run --separate-stderr "$tool" --dpdk 21.02
  [ "$status" -eq 0 ]
  [ "$(get release)" = 21.02.5 ]
  [ "$(get kind)" = distribution ]
  [[ $stderr == *'cannot be fetched; taking the distribution'* ]]
  # The second run asks nobody, and so does an offline one.
  local first=$output calls
  calls=$(cat curl-calls apt-calls | wc -l)
  run --separate-stderr "$tool" --dpdk 21.02
  [ "$output" = "$first" ]
  run --separate-stderr "$tool" --dpdk 21.02 --offline
  [ "$output" = "$first" ]
  [ "$(cat curl-calls apt-calls | wc -l)" -eq "$calls" ]
}

@test "a tampered file of a cached source package names both hashes and the file" {
  require_cmd dpkg-source
  apt_kit 22.11.11-0+u1
  "$tool" --dpdk distro >/dev/null 2>&1
  echo x >>"$store/download/dpdk_22.11.11-0+u1/dpdk_22.11.11.orig.tar.xz"
  touch "$(echo "$store"/22.11.11-distribution-*)/tree/more"
  run "$tool" --dpdk distro
  [ "$status" -eq 1 ]
  [[ ${lines[-1]} == *'dpdk_22.11.11.orig.tar.xz does not match its sha256: expected '*', found '* ]]
}

@test "apt without an answer: the cache serves distro, else exit 1" {
  require_cmd dpkg-source
  apt_kit 22.11.11-0+u1
  touch no-apt
  run "$tool" --dpdk distro
  [ "$status" -eq 1 ]
  [[ ${lines[-1]} == *'servers do not answer'* ]]
  rm no-apt
  "$tool" --dpdk distro >/dev/null 2>&1
  touch no-apt
  run --separate-stderr "$tool" --dpdk distro
  [ "$status" -eq 0 ]
  [ "$(get release)" = 22.11.11 ]
  run --separate-stderr "$tool" --dpdk distro --offline
  [ "$status" -eq 0 ]
}

@test "git: a tag's commit and tree, not the work tree's" {
  repository 'my repo'
  run --separate-stderr "$tool" --dpdk 'git:my repo@v20.11'
  [ "$status" -eq 0 ]
  [ "$(get release)" = 20.11 ]
  [ "$(get kind)" = git ]
  [ "$(get id)" = "commit:$(git -C 'my repo' rev-parse 'v20.11^{commit}')" ]
  [ "$(get from)" = "git:$PWD/my repo@v20.11" ]
  [ -x "$(get tree)/run.sh" ]
  [ ! -e "$(get tree)/.git" ]
  [ -z "$(git -C 'my repo' status --porcelain)" ]
  # A branch.
  run --separate-stderr "$tool" --dpdk "git:$PWD/my repo@next"
  [ "$(get release)" = 21.02 ]
  clean
}

@test "git: an address over the network is cached by its commit, offline by its name" {
  repository repo
  local url=file://$PWD/repo
  run --separate-stderr "$tool" --dpdk "git:$url@v20.11"
  [ "$status" -eq 0 ]
  local first=$output
  mv repo gone
  run --separate-stderr "$tool" --dpdk "git:$url@v20.11" --offline
  [ "$status" -eq 0 ]
  [ "$output" = "$first" ]
  run "$tool" --dpdk "git:$url@v20.11"
  [ "$status" -eq 1 ]
  one_line_error 'git cannot read the repository'
}

@test "git: unknown tags, no repository, a password in the address, a hook's environment" {
  repository repo
  run "$tool" --dpdk git:repo@v99
  [ "$status" -eq 2 ]
  one_line_error 'no tag or branch of that name'
  mkdir plain
  run "$tool" --dpdk git:plain@v1
  [ "$status" -eq 1 ]
  run "$tool" --dpdk git:https://user:secret@localhost:1/repo@v1
  [ "$status" -eq 1 ]
  [[ $output != *secret* ]]
  run env GIT_DIR=/nowhere GIT_WORK_TREE=/nowhere "$tool" --dpdk git:repo@v20.11
  [ "$status" -eq 0 ]
}

@test "two runs at once make one tree and both get it" {
  tarball a.tar.xz
  local i
  for i in 1 2 3 4; do
    "$tool" --dpdk a.tar.xz >"out$i" 2>"err$i" 3>&- &
  done
  wait
  for i in 1 2 3 4; do
    cmp "out$i" out1
    [ ! -s "err$i" ]
  done
  [ "$(ls -d "$store"/*-tarball-* | wc -l)" -eq 1 ]
  grep -q '^release=22.11.3$' out1
  clean
}

# A tar that stops while it unpacks, until ./go is there.
slow_tar() {
  mkdir -p slow
  cat >slow/tar <<END
#!/usr/bin/env bash
case "\$*" in *-xf*) echo \$\$ >"$PWD/unpacking"; while [ ! -e "$PWD/go" ]; do sleep 0.1; done ;; esac
exec $(type -P tar) "\$@"
END
  chmod +x slow/tar
}

# interrupted SIGNAL: the script gets it while it unpacks; its status in $status.
interrupted() {
  rm -f unpacking
  PATH=$PWD/slow:$PATH env --default-signal setsid "$tool" --dpdk a.tar.xz >out 2>&1 3>&- &
  local pid=$! tries
  for ((tries = 0; tries < 1200; tries++)); do
    [ ! -s unpacking ] || break
    sleep 0.05
  done
  [ -s unpacking ]
  kill -s "$1" "$pid"
  status=0
  wait "$pid" || status=$?
}

@test "INT and TERM while unpacking: 130 and 143, nothing is left, the next run works" {
  tarball a.tar.xz
  slow_tar
  local pair
  for pair in INT:130 TERM:143; do
    interrupted "${pair%:*}"
    [ "$status" -eq "${pair#*:}" ]
    [ -z "$(ls -d "$store"/*-tarball-* "$store"/mppsdiff.* 2>/dev/null)" ]
    # The unpacking tar went too.
    run ! kill -0 "$(cat unpacking)"
  done
  run "$tool" --dpdk a.tar.xz
  [ "$status" -eq 0 ]
  clean
}

@test "SIGKILL while unpacking: no half-made tree is visible, the next run cleans up" {
  tarball a.tar.xz
  slow_tar
  interrupted KILL
  [ "$status" -eq 137 ]
  [ -z "$(ls -d "$store"/*-tarball-* 2>/dev/null)" ]
  touch go
  run timeout 120 "$tool" --dpdk a.tar.xz
  [ "$status" -eq 0 ]
  clean
}

@test "an unwritable cache is one line and exit 2" {
  tarball a.tar.xz
  touch file
  XDG_CACHE_HOME=$PWD/file run "$tool" --dpdk a.tar.xz
  [ "$status" -eq 2 ]
  one_line_error XDG_CACHE_HOME
}

@test "a full disk is one line, exit 1, and nothing is left" {
  require_root
  mkdir small
  mount -t tmpfs -o size=256k none small 2>/dev/null || skip_or_fail "cannot mount a small tmpfs: run as root outside of a container"
  tree packed/dpdk-x
  head -c 400k /dev/zero >packed/dpdk-x/big
  tar -C packed -cJf big.tar.xz dpdk-x
  XDG_CACHE_HOME=$PWD/small run "$tool" --dpdk big.tar.xz
  local left
  left=$(find small -name 'mppsdiff.*' -o -name '*-tarball-*')
  umount small
  [ "$status" -eq 1 ]
  one_line_error 'cannot unpack big.tar.xz'
  [ -z "$left" ]
}

@test "the distribution's real source package: found, fetched, verified, unpacked" {
  command -v apt-get >/dev/null || skip_or_fail "no apt-get: run on Debian or Ubuntu"
  require_cmd dpkg-source
  unset XDG_CACHE_HOME
  # The user's cache: the package is 18 MB and the main job wants it anyway.
  run --separate-stderr "$tool" --dpdk distro
  [ "$status" -eq 0 ] || skip_or_fail "apt cannot reach a source package of DPDK: $stderr"
  [[ $(get id) =~ ^sha256:[0-9a-f]{64}$ ]]
  [ -f "$(get tree)/meson.build" ]
  [ "$(cat "$(get tree)/VERSION")" = "$(get release)" ] || [ "$(cat "$(get tree)/VERSION")" = "$(get release).0" ]
}

@test "--error-file gets the line of a failure, wherever it happens, and nothing when there is none" {
  run "$tool" --dpdk "git:$PWD/nowhere@v20.11" --error-file said
  [ "$status" -eq 1 ]
  one_line_error "git cannot read"
  [ "$(cat said)" = "${lines[0]#mppsdiff: }" ]
  tree dpdk
  run "$tool" --dpdk ./dpdk --error-file quiet
  [ "$status" -eq 0 ]
  [ ! -s quiet ]
}
