# SPDX-License-Identifier: BSD-3-Clause
# reproducers/setup, on made-up machines: a private PATH with everything but what a
# test takes away, and an apt-get that only writes down what it is told. The real
# machine is never changed.

setup() {
  load helpers
  cd "$BATS_TEST_TMPDIR" || exit 1
  tool=$KIT/reproducers/setup
  box=$BATS_TEST_TMPDIR/bin
  export MPPSDIFF_OS_RELEASE=$BATS_TEST_TMPDIR/os-release
  printf 'ID=debian\nVERSION_ID="12"\n' >"$MPPSDIFF_OS_RELEASE"
  export PKG_CONFIG_LIBDIR=$BATS_TEST_TMPDIR/pc PKG_CONFIG_PATH=
  mkdir -p "$box" pc
  machine
}

# machine: everything the kit asks for is there.
machine() {
  local name
  # What the script itself uses.
  for name in bash dirname env cat sort head tail sed mktemp rm sleep setpriv grep tr mkdir touch; do
    ln -sf "$(type -P "$name")" "$box/$name"
  done
  fake ld.lld 'LLD 14.0.6 (compatible with GNU linkers)'
  fake ld.mold 'mold 1.10.1 (compatible with GNU ld)'
  fake meson 1.0.1
  fake gnuplot 'gnuplot 5.4 patchlevel 4'
  fake bats 'Bats 1.8.2'
  fake gcc 'gcc (Debian 12.2.0-14) 12.2.0'
  fake clang 'Debian clang version 14.0.6'
  for name in make ninja ccache git curl xz dpkg-source jq zstd flock ip shellcheck clang-format script dpdk-testpmd; do
    fake "$name" 1.0
  done
  ln -sf "$(type -P pkg-config)" "$box/pkg-config"
  for name in libelf libdw gsl libmlx5; do
    printf 'Name: %s\nDescription: made up\nVersion: 1\n' "$name" >"pc/$name.pc"
  done
  apt 'exit 0'
}

# fake NAME VERSION: a command that succeeds at whatever it is asked.
fake() {
  printf '#!%s\necho "%s"\n' "$(type -P bash)" "$2" >"$box/$1"
  chmod +x "$box/$1"
}

# apt TEXT: an apt-get that notes its arguments and then does TEXT; a silent dpkg and apt-cache.
apt() {
  printf '#!%s\necho "apt-get $*" >>"%s/calls"\n%s\n' "$(type -P bash)" "$BATS_TEST_TMPDIR" "$1" >"$box/apt-get"
  printf '#!%s\n' "$(type -P bash)" >"$box/dpkg"
  printf '#!%s\n' "$(type -P bash)" >"$box/apt-cache"
  chmod +x "$box/apt-get" "$box/dpkg" "$box/apt-cache"
}

# try ARGUMENTS...: setup on the made-up machine.
try() {
  run env PATH="$box" "$tool" "$@"
}

# try_nobody ARGUMENTS...: the same as a user who may not install.
try_nobody() {
  require_root
  require_cmd setpriv
  chmod -R a+rX "$BATS_TEST_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_RUN_TMPDIR"
  mkdir -p kit
  cp -R "$KIT/reproducers" kit/
  run setpriv --reuid 65534 --regid 65534 --clear-groups env PATH="$box" TMPDIR=/tmp kit/reproducers/setup "$@"
}

@test "--help tells usage, files and exit status" {
  run "$tool" --help
  [ "$status" -eq 0 ]
  [[ $output == 'usage: reproducers/setup'* ]]
  [[ $output == *'Exit status:'* ]]
  [[ $output == *'Example:'* ]]
}

@test "wrong usage is one line and exit 2" {
  try --frobnicate
  [ "$status" -eq 2 ]
  one_line_error '--check, --for, --help'
  try --for nothing
  [ "$status" -eq 2 ]
  one_line_error 'run, check or all'
  try --for
  [ "$status" -eq 2 ]
  one_line_error '--for needs a value'
}

@test "a complete machine: exit 0, nothing is called" {
  try --for all
  [ "$status" -eq 0 ]
  [ "$output" = 'setup: everything for all is there' ]
  [ ! -e calls ]
}

@test "--check names everything that is missing at once, with the command, and changes nothing" {
  rm "$box/clang" "$box/ninja" "$box/jq" pc/gsl.pc
  try --check --for run
  [ "$status" -eq 2 ]
  one_line_error 'missing: clang, ninja, GSL, jq; install with: '
  one_line_error 'apt-get install -y --no-install-recommends clang ninja-build libgsl-dev jq'
  [ ! -e calls ]
}

@test "--for run does not ask for the tests' tools, --for check only for them" {
  rm "$box/bats" "$box/shellcheck" "$box/jq"
  try --check --for run
  [ "$status" -eq 2 ]
  one_line_error 'missing: jq;'
  try --check --for check
  [ "$status" -eq 2 ]
  one_line_error 'missing: bats, shellcheck;'
  try --check --for all
  [ "$status" -eq 2 ]
  one_line_error 'missing: jq, bats, shellcheck;'
}

@test "every row of the table is probed: taking one thing away names that thing" {
  local pair name
  for pair in make:make meson:meson ninja:ninja git:git curl:curl ccache:ccache xz:xz zstd:zstd flock:flock ip:ip \
    dpkg-source:dpkg-source gnuplot:gnuplot ld.lld:lld ld.mold:mold clang-format:clang-format script:script "dpdk-testpmd:the distribution's testpmd"; do
    name=${pair%%:*}
    mv "$box/$name" aside
    try --check --for all
    mv aside "$box/$name"
    [ "$status" -eq 2 ] || { echo "not missed: $name"; return 1; }
    [[ $output == *"missing: ${pair#*:}"* ]] || { echo "$name: $output"; return 1; }
  done
  for name in libelf libdw gsl libmlx5; do
    mv "pc/$name.pc" aside
    try --check --for run
    mv aside "pc/$name.pc"
    [ "$status" -eq 2 ] || { echo "not missed: $name"; return 1; }
  done
}

@test "a header the compilers cannot include is missed" {
  # This gcc and clang know no header called numa.h.
  printf '#!%s\nread -r line || :\n[[ $line != *numa.h* ]]\n' "$(type -P bash)" >"$box/gcc"
  cp "$box/gcc" "$box/clang"
  try --check
  [ "$status" -eq 2 ]
  one_line_error 'missing: libnuma; install with: '
  one_line_error libnuma-dev
}

@test "pyelftools is looked for in the python that runs meson, not in the PATH's" {
  # A meson without "runpython -c", run by a python of its own that lacks the module.
  fake python3 'the module is here'
  printf '#!%s\n' "$BATS_TEST_TMPDIR/inner-python" >"$box/meson"
  printf '#!%s\n[[ $1 == */meson && $2 == --version ]] && echo 0.60 || exit 1\n' "$(type -P bash)" >inner-python
  chmod +x inner-python "$box/meson"
  try --check
  [ "$status" -eq 2 ]
  one_line_error "missing: meson's python with pyelftools; "
  one_line_error python3-pyelftools
  # With the module it passes.
  printf '#!%s\n[[ $2 != --version ]] || echo 0.60\n' "$(type -P bash)" >inner-python
  try --check
  [ "$status" -eq 0 ]
}

@test "a version that is too old is said" {
  fake meson 0.53.2
  fake ld.lld 'LLD 12.0.1'
  try --check
  [ "$status" -eq 2 ]
  one_line_error 'lld (12.0.1 is older than 13)'
  one_line_error 'meson (0.53.2 is older than 0.57)'
}

@test "as root on Debian it installs what is missing, without recommended packages, and looks again" {
  require_root
  rm "$box/jq" "$box/clang"
  ln -sf "$(type -P cp)" "$box/cp"
  apt '[[ $* != *install* ]] || { cp "'"$box"'/make" "'"$box"'/jq"; cp "'"$box"'/make" "'"$box"'/clang"; }'
  try
  [ "$status" -eq 0 ]
  [[ $output == *'setup: everything for run is there' ]]
  [ "$(grep -c . calls)" -eq 1 ]
  grep -q -- 'install --no-install-recommends -- clang jq$' calls
}

@test "new package lists are asked for only when the machine's do not know a package" {
  require_root
  rm "$box/jq"
  ln -sf "$(type -P cp)" "$box/cp"
  apt '[[ $* != *install* ]] || cp "'"$box"'/make" "'"$box"'/jq"'
  printf '#!%s\nexit 1\n' "$(type -P bash)" >"$box/apt-cache"
  try
  [ "$status" -eq 0 ]
  [ "$(sed 's/.* //' calls)" = $'update\njq' ]
}

@test "an installation that fails is exit 1 with apt's words and the command" {
  require_root
  rm "$box/jq"
  apt 'echo "E: no route to the archive" >&2; exit 100'
  try
  [ "$status" -eq 1 ]
  [[ $output == *'no route to the archive'* ]]
  [[ ${lines[-1]} == *'apt-get install -y --no-install-recommends jq' ]]
}

@test "an installation after which something is still missing is exit 2" {
  require_root
  rm "$box/jq"
  try
  [ "$status" -eq 2 ]
  [[ ${lines[-1]} == *'missing: jq; install with: '* ]]
}

@test "not root: exit 2 with the sudo command, nothing is touched" {
  rm "$box/jq"
  try_nobody
  [ "$status" -eq 2 ]
  one_line_error 'missing: jq; install with: sudo apt-get install -y --no-install-recommends jq'
  [ ! -e calls ]
}

@test "not root but with a sudo that asks for nothing: installs" {
  rm "$box/jq"
  ln -sf "$(type -P cp)" "$box/cp"
  apt '[[ $* != *install* ]] || cp "'"$box"'/make" "'"$box"'/jq"'
  printf '#!%s\n[[ $1 == -n ]] || exit 1\nshift\n"$@"\n' "$(type -P bash)" >"$box/sudo"
  ln -sf "$(type -P true)" "$box/true"
  chmod +x "$box/sudo"
  : >calls
  chmod 666 calls
  chmod 777 "$box"
  try_nobody
  [ "$status" -eq 0 ]
  grep -q -- 'install --no-install-recommends -- jq$' calls
}

@test "on Fedora and RHEL it names the packages and installs nothing" {
  rm "$box/ninja" "$box/clang-format" pc/libelf.pc
  printf 'ID="rhel"\nID_LIKE="fedora"\n' >"$MPPSDIFF_OS_RELEASE"
  try --for all
  [ "$status" -eq 2 ]
  one_line_error 'dnf install ninja-build elfutils-libelf-devel clang-tools-extra'
  [ ! -e calls ]
}

@test "elsewhere it names what is missing" {
  rm "$box/jq" "$box/apt-get" "$box/dpkg-source"
  printf 'ID=arch\n' >"$MPPSDIFF_OS_RELEASE"
  try
  [ "$status" -eq 2 ]
  one_line_error 'missing: jq; install with: your package manager'
}

@test "the machine of this run has everything (or the test says what is missing)" {
  unset MPPSDIFF_OS_RELEASE PKG_CONFIG_LIBDIR PKG_CONFIG_PATH
  run "$tool" --check --for all
  [ "$status" -eq 0 ] || skip_or_fail "$output"
}
