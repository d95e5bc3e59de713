#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# plots/bundle: one small file for a bug report, from the synthetic result of the report's tests.
# shellcheck disable=SC2016,SC2154 # scripts in single quotes; bats sets status, output, lines

load helpers

setup() {
  require_cmd zstd gnuplot jq
  bundle=$KIT/plots/bundle
  result="$BATS_TEST_TMPDIR/a \\n result"
  cp -r "$BATS_TEST_DIRNAME/fixtures/report" "$result"
  rm "$result/generate" "$result/look.js"
  "$KIT/plots/report" "$result" >/dev/null
  mkdir -p "$result/logs" "$result/proof/x-gcc" "$result/slices/log"
  seq 1000 >"$result/logs/x-gcc.log"
}

unpacked() { # FILE: unpacks into ./un and prints the folder
  mkdir "$BATS_TEST_TMPDIR/un"
  tar -C "$BATS_TEST_TMPDIR/un" -xf "$1"
  printf '%s\n' "$BATS_TEST_TMPDIR/un/a \\n result"
}

@test "--help names every option that the script takes" {
  documents_every_option "$bundle"
}

@test "bad usage is one line and exit 2" {
  run "$bundle"
  [ "$status" -eq 2 ]
  one_line_error "name a result folder"
  run "$bundle" /nonexistent
  [ "$status" -eq 2 ]
  one_line_error "holds no finished result"
  run "$bundle" --frobnicate "$result"
  [ "$status" -eq 2 ]
  one_line_error "unknown option"
  run "$bundle" --log-lines many "$result"
  [ "$status" -eq 2 ]
  one_line_error "--log-lines takes a number"
  run "$bundle" --out /nonexistent/x.tar.zst "$result"
  [ "$status" -eq 2 ]
  one_line_error "cannot write /nonexistent/x.tar.zst"
}

@test "packed, unpacked elsewhere and drawn again: the same figures, every sum right, under 1 MB" {
  local file=$BATS_TEST_TMPDIR/b.tar.zst dir
  run "$bundle" --out "$file" "$result"
  [ "$status" -eq 0 ]
  [ "$output" = "$file" ]
  [ "$(stat -c %s "$file")" -lt 1000000 ]
  dir=$(unpacked "$file")
  (cd "$dir" && sha256sum --quiet -c SHA256SUMS)
  [ "$(wc -l <"$dir/SHA256SUMS")" -eq "$(($(find "$dir" -type f | wc -l) - 1))" ]
  cp "$dir/report.txt" "$BATS_TEST_TMPDIR/sent.txt"
  "$KIT/plots/report" "$dir" >/dev/null
  cmp "$dir/report.txt" "$BATS_TEST_TMPDIR/sent.txt"
  # logs are cut to their heads
  [ "$(wc -l <"$dir/logs/x-gcc.log")" -eq 200 ]
}

@test "the same result gives the same bytes" {
  "$bundle" --out "$BATS_TEST_TMPDIR/one" "$result"
  touch "$result"/*
  "$bundle" --out "$BATS_TEST_TMPDIR/two" "$result"
  cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
}

@test "--redact: host, user, paths, MAC addresses and serials are gone from every file, the figures stay" {
  local dir text
  export HOME=$BATS_TEST_TMPDIR/home/me.too
  mkdir -p "$HOME" "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\n[ "$1" != -un ] || echo mallory; [ "$1" = -un ] || exec /usr/bin/id "$@"\n' >"$BATS_TEST_TMPDIR/bin/id"
  printf '#!/bin/sh\n[ "$1" = -n ] && echo lab7-secret.example || exec /bin/uname "$@"\n' >"$BATS_TEST_TMPDIR/bin/uname"
  chmod +x "$BATS_TEST_TMPDIR/bin"/*
  text="lab7-secret.example lab7-secret mallory $HOME/x $KIT/fwd 02:1a:2B:3c:4d:5e /home/eve/dpdk/lib.c"
  text+=" /srv/acme/tree/lib/x.c:3: error -I../../../srv/acme/tree/lib /opt/acme/bin/gcc -L/opt/acme/lib /usr/bin/gcc a/b https://doc.dpdk.org/guides/x"
  printf '%s\n' "$text" >"$result/logs/x-gcc.log"
  printf '%s\n' "$text" | gzip >"$result/proof/x-gcc/commands.tsv.gz"
  jq --arg t "$text" '.scenario.used = $t | .kit.command = $t | .dpdk[0].from = "/srv/acme/tree"' "$result/meta.json" >"$result/meta.new" && mv "$result/meta.new" "$result/meta.json"
  "$KIT/plots/report" "$result" >/dev/null
  grep -q lab7-secret "$result/report.html"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$bundle" --redact --out "$BATS_TEST_TMPDIR/r.tar.zst" "$result"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  dir=$(unpacked "$BATS_TEST_TMPDIR/r.tar.zst")
  for text in lab7-secret mallory me.too "$KIT" 02:1a:2B:3c:4d:5e /home/eve acme; do
    run grep -rF -- "$text" "$dir"
    [ "$status" -eq 1 ] || { echo "left: $text: $output"; return 1; }
    run grep -F -- "$text" <(gzip -dc "$dir/proof/x-gcc/commands.tsv.gz")
    [ "$status" -eq 1 ] || { echo "left in the gz: $text"; return 1; }
  done
  grep -q 'HOST HOST USER HOME/x KIT/fwd MAC /home/USER/dpdk/lib.c' "$dir/logs/x-gcc.log"
  # A tree and a compiler of one's own by their last names; what every machine has, and what is no path, stays.
  grep -qF 'PATH/x.c:3: error -I../../../SOURCE/lib PATH/gcc -LPATH/lib /usr/bin/gcc a/b https://doc.dpdk.org/guides/x' "$dir/logs/x-gcc.log"
  cmp "$result/effects.tsv" "$dir/effects.tsv"
  [ -s "$dir/forest.png" ] && [ -s "$dir/report.html" ]
}

@test "--redact: a host named like a word of a scenario stays, so that the command still names the scenario" {
  local dir
  mkdir -p "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\n[ "$1" = -n ] && echo vm.lab7.example || exec /bin/uname "$@"\n' >"$BATS_TEST_TMPDIR/bin/uname"
  chmod +x "$BATS_TEST_TMPDIR/bin/uname"
  echo 'on vm.lab7.example' >"$result/logs/x-gcc.log"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$bundle" --redact --out "$BATS_TEST_TMPDIR/r.tar.zst" "$result"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  dir=$(unpacked "$BATS_TEST_TMPDIR/r.tar.zst")
  grep -q '^on HOST$' "$dir/logs/x-gcc.log"
  jq -e '.kit.command | startswith("scenarios/connectx5-vm/run ")' "$dir/meta.json"
}
