# SPDX-License-Identifier: BSD-3-Clause
# reproducers/lib/keyfile.bash: the one strict reader of data files.

setup() {
  load helpers
  cd "$BATS_TEST_TMPDIR" || exit 1
  cat >reader <<END
#!/usr/bin/env bash
set -euo pipefail
. "$KIT/reproducers/lib/common.bash"
. "$KIT/reproducers/lib/keyfile.bash"
file=\$1
shift
declare -A conf=([old]=kept) KEYFILE_LINES=()
status=0
keyfile_read "\$file" conf "\$@" || status=\$?
for key in \$(printf '%s\n' "\${!conf[@]}" | sort); do
  printf '%s=<%s>%s\n' "\$key" "\${conf[\$key]}" "\${KEYFILE_LINES[\$key]+:\${KEYFILE_LINES[\$key]}}"
done
exit "\$status"
END
}

# A specification with every type.
SPEC=('word:word:optional' 'words:words:optional' 'text:text:optional' 'int:int(-3-70000):optional'
  'number:number:optional' 'enum:enum(make|meson):optional' 'bool:bool:optional' 'flags:flags:optional'
  'sha:sha256:optional' 'url:url:optional')

# read_text TEXT [SPEC...]: the reader on a file with that text (printf escapes).
read_text() {
  local text=$1
  shift
  (($#)) || set -- "${SPEC[@]}"
  printf "$text" >data.conf
  run bash reader data.conf "$@"
}

# accepts KEY VALUE / rejects KEY VALUE [PART OF THE MESSAGE]: one value.
accepts() {
  printf '%s = %s\n' "$1" "$2" >data.conf
  run bash reader data.conf "${SPEC[@]}"
  [ "$status" -eq 0 ] || { echo "$1 = $2: $output"; return 1; }
  [[ $output == *"$1=<$2>:1"* ]] || { echo "$1 = $2: $output"; return 1; }
}

rejects() {
  printf '%s = %s\n' "$1" "$2" >data.conf
  run bash reader data.conf "${SPEC[@]}"
  [ "$status" -eq 2 ] || { echo "accepted: $1 = $2"; return 1; }
  [[ ${lines[0]} == "mppsdiff: data.conf:1: "*"; "*"${3-}"* ]] || { echo "$output"; return 1; }
  # On error the caller's array is left alone.
  [ "${lines[1]}" = 'old=<kept>' ]
  [ "${#lines[@]}" -eq 2 ]
}

@test "values, comments, blank lines, spaces, defaults, absent keys and line numbers" {
  read_text '# a comment\n\n  # another\nbuild = meson\nc_args=-O2   -g \nlast  =  x = y' \
    'build:enum(make|meson):required' 'c_args:flags:optional' 'baseline:word:default=meson-static' \
    'address:url:default=https://a.b/c' 'none:text:optional' 'last:text:optional'
  [ "$status" -eq 0 ]
  [ "$output" = 'address=<https://a.b/c>
baseline=<meson-static>
build=<meson>:4
c_args=<-O2   -g>:5
last=<x = y>:6
none=<>' ]
}

@test "an empty file is fine when nothing is required" {
  read_text ''
  [ "$status" -eq 0 ]
}

@test "nothing is evaluated" {
  read_text 'text = $(touch evil) `touch evil` ${HOME} ; touch evil * ~\n'
  [ "$status" -eq 0 ]
  [[ $output == *'text=<$(touch evil) `touch evil` ${HOME} ; touch evil * ~>'* ]]
  read_text 'int = a[$(touch evil)]\n'
  [ "$status" -eq 2 ]
  read_text 'a[$(touch evil)] = 1\n'
  [ "$status" -eq 2 ]
  [ ! -e evil ]
}

@test "types accept what they should" {
  accepts word meson-static_1.2+x
  accepts words 'gcc clang-14 a_b'
  accepts text 'Grüße, 漢字 😀 "quoted" in the middle = x'
  accepts text 'a#b'
  accepts int 0
  accepts int -3
  accepts int 70000
  accepts number 1.50
  accepts number -0.5
  accepts enum make
  accepts bool yes
  accepts bool no
  accepts flags '-fPIC'
  accepts flags '-Wl,--as-needed -DX=1:2 -I./a@b%c+d'
  accepts sha 27a3bb1f57e02eb68c7c0a6f8bbf9fb74ec198c5aab74ed602da5b71c492a476
  accepts url https://fast.dpdk.org/rel/dpdk-22.11.11.tar.xz
  accepts url https://example.org:8443/
}

@test "types reject what they should, and say what is allowed" {
  rejects word 'two words' 'one word of A-Z a-z 0-9'
  rejects word 'a/b'
  rejects words 'a $(id)'
  rejects int 70001 'a whole number from -3 to 70000'
  rejects int -4
  rejects int 08
  rejects int 0x10
  rejects int 1.0
  rejects int 99999999999999999999
  rejects int '1+1'
  rejects number 1. 'a decimal number'
  rejects number 1e3
  rejects number 1,5
  rejects enum cmake 'one of: make, meson'
  rejects enum 'make|meson'
  rejects enum Make
  rejects bool true 'yes or no'
  rejects flags 'fPIC' 'compiler flags, each beginning with -'
  rejects flags '-O2; id'
  rejects flags '-O2 -D"a b"'
  rejects flags '-O2 x'
  rejects sha 27A3bb1f57e02eb68c7c0a6f8bbf9fb74ec198c5aab74ed602da5b71c492a476 '64 hexadecimal digits'
  rejects sha 27a3
  rejects url http://example.org/ 'an https:// address'
  rejects url https://user:secret@example.org/
  rejects url 'https://example.org/a b'
  rejects url file:///etc/passwd
  rejects text '"in quotes"' 'written without'
  rejects text "'in quotes'"
  rejects text 'goes on \' 'no continuation'
  rejects text 'value # comment' 'a line of its own'
}

@test "an unknown key lists the known ones" {
  read_text 'word = a\nflavour = b\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == 'mppsdiff: data.conf:2: unknown key "flavour"; known are: word, words, text, int, number, enum, bool, flags, sha, url' ]]
}

@test "a repeated key names its first line" {
  read_text 'word = a\n#\nword = a\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == 'mppsdiff: data.conf:3: "word" again, first on line 1; each key is given once' ]]
}

@test "a missing required key says what it takes" {
  read_text '# nothing\n' 'build:enum(make|meson):required'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == 'mppsdiff: data.conf: "build" is missing; it is required and takes one of: make, meson' ]]
}

@test "an empty value and a line without = are errors" {
  read_text 'word =\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'data.conf:1: "word" has no value; '* ]]
  read_text 'word = a\n  continued\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'data.conf:2: not a line of the form key = value: "  continued"; '* ]]
  read_text '[section]\n'
  [ "$status" -eq 2 ]
  read_text 'Word = a\n'
  [ "$status" -eq 2 ]
}

@test "CRLF, BOM, NUL, tabs and control characters are named" {
  read_text 'word = a\r\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'data.conf:1: '*CRLF*'; '* ]]
  read_text '\xef\xbb\xbfword = a\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'data.conf:1: '*'byte order mark'*'; '* ]]
  read_text 'word = a\ntext = b\0c\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'data.conf:2: NUL byte; '* ]]
  read_text 'word = a\ntext = b\tc\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'data.conf:2: tab'*'; '* ]]
  read_text 'text = \033[2J\n'
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'data.conf:1: control character; '* ]]
  read_text '# \177\n'
  [ "$status" -eq 2 ]
  # A lone CR in the middle.
  read_text 'text = a\rb\n'
  [ "$status" -eq 2 ]
}

@test "invalid UTF-8 is refused, in every locale" {
  local bytes locale
  for bytes in '\xff' '\xc0\xaf' '\xe0\x80\x80' '\xed\xa0\x80' '\xf4\x90\x80\x80' '\xf5\x80\x80\x80' '\x80' \
    '\xc3' '\xe2\x82' '\xf0\x9f\x98' '\xc2\x85' '\xe2\x80\xae' '\xe2\x81\xa6'; do
    for locale in C C.UTF-8; do
      printf "text = a%b b\n" "$bytes" >data.conf
      LC_ALL=$locale run bash reader data.conf "${SPEC[@]}"
      [ "$status" -eq 2 ] || { echo "accepted $bytes in $locale"; return 1; }
      [[ ${lines[0]} == *'data.conf:1: not valid UTF-8'*'; '* ]]
    done
  done
  for locale in C C.UTF-8; do
    printf 'text = \xc2\xa0\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n' >data.conf
    LC_ALL=$locale run bash reader data.conf "${SPEC[@]}"
    [ "$status" -eq 0 ]
  done
}

@test "what is not a regular file is refused" {
  run bash reader . "${SPEC[@]}"
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == 'mppsdiff: .: is a folder; '* ]]
  run bash reader /dev/zero "${SPEC[@]}"
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'is a device'*'; '* ]]
  mkfifo pipe
  run timeout 60 bash reader pipe "${SPEC[@]}"
  [ "$status" -eq 2 ]
  ln -s loop loop
  run bash reader loop "${SPEC[@]}"
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'leads nowhere; '* ]]
  run bash reader absent "${SPEC[@]}"
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'no such file; '* ]]
}

@test "more than 64 KiB is refused, 64 KiB are read" {
  { head -c 65535 /dev/zero | tr '\0' '#'; echo; } >data.conf
  [ "$(stat -c %s data.conf)" -eq 65536 ]
  run bash reader data.conf "${SPEC[@]}"
  [ "$status" -eq 0 ]
  printf '#' >>data.conf
  run bash reader data.conf "${SPEC[@]}"
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'larger than 64 KiB; '* ]]
}

@test "what a message quotes is made safe and short" {
  printf 'text%0200d = a\n' 1 >data.conf
  run bash reader data.conf "${SPEC[@]}"
  [ "$status" -eq 2 ]
  printf 'word = %0200d/\n' 1 >data.conf
  run bash reader data.conf "${SPEC[@]}"
  [ "$status" -eq 2 ]
  [ "${#lines[0]}" -lt 200 ]
  printf 'word = \xc3\xa9\n' >data.conf
  run bash reader data.conf "${SPEC[@]}"
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == *'"word" is "??"; '* ]]
}

@test "keyfile_find finds by name only, and lists what there is" {
  # A kit of two variants.
  mkdir -p kit/reproducers/lib kit/reproducers/variants kit/scenarios/soft
  cp "$KIT"/reproducers/lib/{common,keyfile}.bash kit/reproducers/lib/
  touch kit/reproducers/variants/{meson-static,make-static}.conf kit/scenarios/soft/scenario.conf secret.conf
  cat >find <<'END'
set -euo pipefail
. kit/reproducers/lib/common.bash
. kit/reproducers/lib/keyfile.bash
"$@"
END
  run bash find keyfile_find variant meson-static
  [ "$status" -eq 0 ]
  [ "$output" = "$(pwd -P)/kit/reproducers/variants/meson-static.conf" ]
  run bash find keyfile_find scenario soft
  [ "$status" -eq 0 ]
  [ "$output" = "$(pwd -P)/kit/scenarios/soft/scenario.conf" ]
  run bash find keyfile_list variant
  [ "$output" = $'make-static\nmeson-static' ]
  local name
  for name in fast ../../../secret ../variants/meson-static /etc/passwd -x .conf 'a b' $'a\nb' '' 'meson-static.conf' '*' 'a..b' "$(printf '%065d' 0)"; do
    run bash find keyfile_find variant "$name"
    [ "$status" -eq 2 ] || { echo "found: $name"; return 1; }
    one_line_error 'known are: make-static, meson-static'
  done
}

@test "keyfile_error is the same one line, for a caller's own checks" {
  cat >call <<END
. "$KIT/reproducers/lib/common.bash"
. "$KIT/reproducers/lib/keyfile.bash"
keyfile_error "$KIT/reproducers/variants/x.conf" 7 "what; then"
END
  run bash call
  [ "$status" -eq 2 ]
  [ "$output" = 'mppsdiff: reproducers/variants/x.conf:7: what; then' ]
}

@test "a file that the kit wrote for its user is called what the user wrote, without a line" {
  cat >call <<END
. "$KIT/reproducers/lib/common.bash"
. "$KIT/reproducers/lib/keyfile.bash"
KEYFILE_NAMES[made.conf]=--a
declare -A conf
keyfile_read made.conf conf 'c_args:flags:required'
END
  echo 'c_args = O2' >made.conf
  run bash call
  [ "$status" -eq 2 ]
  [[ "$output" == 'mppsdiff: --a: "c_args" is "O2"; '* ]]
}

@test "every data file of the kit that others read is plain text of the right form" {
  local file
  for file in "$KIT"/reproducers/sources/*.conf; do
    run bash reader "$file" 'release:word:required' 'url:url:required' 'sha256:sha256:required' \
      'pinned_by:text:required' 'fallback:enum(none|distribution):default=none'
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    # The address ends in that release, and the file is called after it.
    [[ $output == *"release=<$(basename "$file" .conf)"* ]]
    [[ $output == *"/dpdk-$(sed -n 's/^release = //p' "$file").tar.xz>"* ]]
  done
}

@test "a file of 50 lines takes less than 50 ms of processor time" {
  local i spec=() best=999 took
  : >data.conf
  for i in $(seq 50); do
    echo "key$i = some text of about forty characters, é, $i" >>data.conf
    spec+=("key$i:text:required")
  done
  cat >timed <<END
. "$KIT/reproducers/lib/common.bash"
. "$KIT/reproducers/lib/keyfile.bash"
declare -A conf
TIMEFORMAT="%3U %3S"
time keyfile_read data.conf conf "\$@" || exit
END
  # The best of ten, so that a busy machine does not matter.
  for i in $(seq 10); do
    took=$(bash timed "${spec[@]}" 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 }')
    [ "$took" -ge "$best" ] || best=$took
  done
  echo "milliseconds: $best"
  [ "$best" -gt 0 ]
  [ "$best" -lt 50 ]
}
