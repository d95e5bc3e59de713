# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # variables of reproducers/build, which sources it
#
# Building with meson and ninja: only the archives that the wanted drivers need. Needs common.bash and variant.bash.

# disabled_drivers: the drivers to leave out, for trees that know only disable_drivers (before 21.05).
disabled_drivers() {
  local dir name
  for dir in "$tree"/drivers/*/*/; do
    [ -f "$dir/meson.build" ] || continue
    name=${dir#"$tree"/drivers/}
    name=${name%/}
    [[ ,$drivers, == *,$name,* ]] || printf '%s,' "$name"
  done
}

has_option() {
  grep -qs "option('$1'" "$tree/meson_options.txt"
}

# meson_arguments: one argument a line, those that this release knows.
meson_arguments() {
  if has_option enable_drivers; then
    printf '%s\n' "-Denable_drivers=$drivers"
  elif has_option disable_drivers; then
    printf '%s\n' "-Ddisable_drivers=$(disabled_drivers)"
  fi
  if [ "$testpmd" = yes ]; then
    if has_option enable_apps; then printf '%s\n' -Denable_apps=test-pmd; fi
  elif has_option disable_apps; then
    printf '%s\n' '-Ddisable_apps=*'
  fi
  if has_option tests; then printf '%s\n' '-Dtests=false'; fi
  if has_option enable_kmods; then printf '%s\n' '-Denable_kmods=false'; fi
  variant_meson_arguments "$(tree_flags)"
}

# find_python: newer releases run their scripts with the first python3 of the PATH. Where that one lacks
# pyelftools (pyenv, conda), the python that runs meson, which setup has checked, goes in front.
find_python() {
  local python
  ! python3 -c 'import elftools' >/dev/null 2>&1 || return 0
  python=$(meson runpython -c 'import sys; print(sys.executable)' 2>/dev/null) || return 0
  mkdir -p "$dir/bin" || return
  # A script and not a link: the python of a virtual environment knows itself by its own path.
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$dir/bin/python3" || return
  chmod +x "$dir/bin/python3" || return
  export PATH=$dir/bin:$PATH
}

# meson_patch: no release of DPDK says `pic: true` in its meson files (18.11 to 26.07), but a changed tree may, and then
# it does not listen to -Db_staticpic=false. Such a tree is copied, DIR/tree, with `pic: false` in those places;
# DIR/tree.diff is the change, which the proof keeps.
meson_patch() {
  local file
  local -a files
  [[ " ${variant_of[meson_options]} " == *' -Db_staticpic=false '* ]] || return 0
  mapfile -t files < <(cd "$tree" && grep -rlwE --include=meson.build 'pic *: *true' . | sort)
  [ "${#files[@]}" -gt 0 ] || return 0
  if ! [ -f "$dir/meson/.configured" ]; then
    rm -rf "$dir/tree" "$dir/tree.diff"
    # Hard links: only what is changed becomes a file of its own.
    cp -al "$tree" "$dir/tree" && find "$dir/tree" -type d -exec chmod u+w {} + || return
    for file in "${files[@]#./}"; do
      sed -i -E 's/\<pic *: *true\>/pic: false/' "$dir/tree/$file" || return
      diff -u --label "a/$file" --label "b/$file" "$tree/$file" "$dir/tree/$file" >>"$dir/tree.diff" || [ $? -eq 1 ] || return
    done
  fi
  tree=$dir/tree
}

# meson_configure: runs meson once. A configuration that was interrupted is thrown away and made again.
meson_configure() {
  local -a arguments
  [ -f "$dir/meson/.configured" ] && return
  rm -rf "$dir/meson"
  mapfile -t arguments < <(meson_arguments)
  [ -z "$variant_linker" ] || export CC_LD=$variant_linker
  CC="ccache $cc_path" supervise meson setup "$dir/meson" "$tree" "${arguments[@]}" >"$dir/configure.log" 2>&1 || return
  : >"$dir/meson/.configured"
}

# graph WHAT TARGET...: asks build.ninja without needing a new ninja. WHAT is
#   driver NAME...   the shared library targets of these drivers (class/name)
#   closure SO...    these shared libraries and all they link, in the order the tree defines them
#   members A...     the object files of these archives: archive, object; of shared libraries likewise
#   libs SO...       the system libraries on their link lines
#   link SO...       these shared libraries: file, the name it is loaded by, linker's arguments as the shell reads them
#   commands FILE... of files made by a command of its own: file, command, inputs
graph() {
  awk -v what="$1" -v targets="${*:2}" '
    function unescape(word) { gsub(/\$:/, ":", word); gsub(/\$ /, " ", word); return word }
    # Ninja writes "$$" for a dollar and "$ " for a space.
    function dollars(text,   out, i) {
      while ((i = index(text, "$"))) { out = out substr(text, 1, i - 1) substr(text, i + 1, 1); text = substr(text, i + 2) }
      return out text
    }
    function soname(text) { sub(/.*-Wl,-soname,/, "", text); sub(/ .*/, "", text); return text }
    /^build / {
      line = substr($0, 7); split_at = index(line, ": ")
      out = unescape(substr(line, 1, split_at - 1)); sub(/ .*/, "", out)
      inputs[out] = substr(line, split_at + 2); order[++count] = out; current = out
    }
    /^ LINK_ARGS = / { link_args[current] = substr($0, 14) }
    /^ COMMAND = / { command[current] = substr($0, 12) }
    END {
      n = split(targets, want, " ")
      if (what == "driver") for (i = 1; i <= n; i++) drivers(want[i])
      if (what == "members") for (i = 1; i <= n; i++) members(want[i], want[i])
      if (what == "link") for (i = 1; i <= n; i++) print want[i] "\t" soname(link_args[want[i]]) "\t" dollars(link_args[want[i]])
      if (what == "commands") for (i = 1; i <= n; i++) if (want[i] in command) print want[i] "\t" unescape(command[want[i]]) "\t" unescape(inputs[want[i]])
      if (what == "closure" || what == "libs") {
        for (i = 1; i <= n; i++) reach(want[i])
        for (i = 1; i <= count; i++) if (order[i] in reached) {
          if (what == "closure") print order[i]; else libs(order[i])
        }
      }
    }
    function drivers(name,   part, found, i, tail) {
      split(name, part, "/")
      for (i = 1; i <= count; i++) {
        tail = order[i]; sub(/^drivers\/librte_(pmd_)?/, "", tail); sub(/\.so[.0-9]*$/, "", tail)
        if (order[i] !~ /^drivers\/librte_.*\.so[.0-9]*$/) continue
        if (tail == part[1] "_" part[2] || (tail == part[2] && order[i] ~ /^drivers\/librte_pmd_/ && part[1] == "net")) { print order[i]; found = 1; break }
      }
      if (!found) { print "missing " name; }
    }
    function reach(so,   words, m, j) {
      if (so in reached) return
      reached[so] = 1
      m = split(link_args[so], words, " ")
      for (j = 1; j <= m; j++) if (words[j] ~ /^(lib|drivers)\/librte_.*\.so[.0-9]*$/) reach(words[j])
    }
    function libs(so,   words, m, j) {
      m = split(link_args[so], words, " ")
      for (j = 1; j <= m; j++)
        if (words[j] ~ /^-l/ || words[j] ~ /^\/.*\.(so|a)[.0-9]*$/ || words[j] ~ /^-L/) if (!(words[j] in seen)) { seen[words[j]] = 1; print words[j] }
    }
    function members(a, top,   words, m, j) {
      if (a in did) return
      did[a] = 1
      m = split(inputs[a], words, " ")
      for (j = 2; j <= m && words[j] !~ /^\|/; j++) {
        if (words[j] ~ /\.o$/) { if (!(words[j] in seen)) { seen[words[j]] = 1; print top "\t" words[j] } }
        else if (words[j] ~ /\.a$/) members(words[j], top)
      }
    }
  ' "$dir/meson/build.ninja"
}

# meson_choose_targets: writes `archives`, `ldlibs`, `members` and `objects` for the wanted drivers.
meson_choose_targets() {
  local so
  local -a wanted closure archives=()
  mapfile -t wanted < <(graph driver "${drivers//,/ }")
  for so in "${wanted[@]}"; do
    [[ $so == missing\ * ]] && { why_not_configured "${so#missing }"; return 1; }
  done
  mapfile -t closure < <(graph closure "${wanted[@]}")
  for so in "${closure[@]}"; do archives+=("${so%.so*}.a"); done
  printf '%s\n' "${archives[@]}" >"$dir/archives"
  graph libs "${closure[@]}" >"$dir/ldlibs"
  if [ "${variant_of[library]}" = shared ]; then
    graph link "${closure[@]}" >"$dir/shared-libraries"
    graph members "${closure[@]}" | sed 's/\.so[.0-9]*\t/.a\t/' >"$dir/members"
  else
    graph members "${archives[@]}" >"$dir/members"
  fi
  cut -f2 "$dir/members" >"$dir/objects"
  [ "$testpmd" = no ] || meson_record_testpmd
}

# meson_record_testpmd: how meson links testpmd: testpmd-link (target, arguments as the shell reads them) and
# testpmd-members (owner, object): its own objects, and those of each archive on its link line.
meson_record_testpmd() {
  local target arguments
  local -a archives
  target=$(testpmd_target)
  [ -n "$target" ] || { printf 'error: testpmd was not configured; see configure.log\n' >>"$dir/build.log"; return 1; }
  IFS=$'\t' read -r _ _ arguments < <(graph link "$target")
  printf '%s\t%s\n' "$target" "$arguments" >"$dir/testpmd-link"
  mapfile -t archives < <(tr ' ' '\n' <<<"$arguments" | grep -E '^(lib|drivers)/.*\.a$')
  graph members "$target" "${archives[@]}" >"$dir/testpmd-members"
}

# meson_shared_archives: of each shared library a thin archive of just its objects, for the proof, below
# DIR/shared under the name of the static one. A library with versioned functions has other objects than that.
meson_shared_archives() {
  local archive
  local -a members
  rm -rf "$dir/shared"
  mkdir -p "$dir/shared/lib" "$dir/shared/drivers"
  while IFS= read -r archive; do
    mapfile -t members < <(awk -F '\t' -v archive="$archive" '$1 == archive { print "../../meson/" $2 }' "$dir/members")
    (cd "$dir/shared/${archive%/*}" && ar qcT "${archive##*/}" "${members[@]}") >>"$dir/ninja.log" 2>&1 || return
  done <"$dir/archives"
}

# why_not_configured DRIVER: the reason meson gave for leaving a driver out.
why_not_configured() {
  local reason
  reason=$(sed -n "s#^[[:space:]]*$1:[[:space:]]*##p" "$dir/configure.log" | sed -n 1p)
  printf 'error: driver %s was not configured: %s\n' "$1" "${reason:-unknown reason, see configure.log}" >>"$dir/build.log"
}

# meson_compile: the archives or shared libraries and what they need, nothing else.
meson_compile() {
  local -a targets
  if [ "${variant_of[library]}" = shared ]; then
    mapfile -t targets < <(cut -f1 "$dir/shared-libraries")
  else
    mapfile -t targets <"$dir/archives"
  fi
  [ "$testpmd" = no ] || targets+=("$(testpmd_target)")
  watch_ninja &
  defer kill_quietly $!
  local watcher=$! status=0
  supervise env NINJA_STATUS='[%f/%t] ' ninja -C "$dir/meson" -j "$jobs" "${targets[@]}" >"$dir/ninja.log" 2>&1 3>&- || status=$?
  kill_quietly "$watcher"
  [ "$status" -ne 0 ] || [ "${variant_of[library]}" != shared ] || meson_shared_archives || status=$?
  return "$status"
}

# testpmd_target: testpmd's name in this release (testpmd until 19.05).
testpmd_target() {
  sed -n 's#^build \(app/\(dpdk-\)\?testpmd\):.*#\1#p' "$dir/meson/build.ninja" | sed -n 1p
}

# watch_ninja: shows progress from the log while ninja runs; nothing without a terminal.
watch_ninja() {
  local line
  [ -t 2 ] || return 0
  while sleep 0.5; do
    line=$(tail -n 1 "$dir/ninja.log" 2>/dev/null | tr '\r' '\n' | sed -n 's#^\[\([0-9]*\)/\([0-9]*\)\].*#\1 \2#p')
    # shellcheck disable=SC2086 # two numbers
    [ -z "$line" ] || progress "build ${source_of[release]} $variant ${cc##*/}" $line
  done
}

# meson_record_commands: commands.tsv, one row an object of the linked archives: object, source, command.
meson_record_commands() {
  jq -r --rawfile objects "$dir/objects" '
    ($objects | split("\n") | map(select(. != "")) | map({key: ., value: true}) | from_entries) as $want
    | .[] | select($want[.output]) | [.output, .file, .command] | @tsv
  ' "$dir/meson/compile_commands.json" >"$dir/commands.tsv"
}

# meson_build: configures and compiles; leaves archives, ldlibs, members, objects and commands.tsv.
meson_build() {
  find_python && meson_patch && meson_configure && meson_choose_targets && meson_compile && meson_record_commands
}
