# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # variables of reproducers/build, which sources it
#
# Building with the release's own makefiles, which it has until 20.08: out of tree, only the libraries that
# the wanted drivers need. Releases without them are replayed. Needs common.bash, meson.bash and replay.bash.

has_makefiles() {
  [ -f "$tree/mk/rte.sdkroot.mk" ]
}

# build_mode: make, the release's own makefiles; replayed, their flags in a tree that has none; or meson.
build_mode() {
  if [ "${variant_of[build]}" = meson ]; then printf 'meson\n'
  elif has_makefiles; then printf 'make\n'
  else printf 'replayed\n'
  fi
}

# make_template: the configuration to begin with; linuxapp became linux in 19.05.
make_template() {
  local name toolchain=gcc
  # Not through a pipe: grep would end it early and pipefail would call that a failure.
  case $("$cc_path" -dM -E -x c /dev/null 2>/dev/null) in *__clang__*) toolchain=clang ;; esac
  for name in "x86_64-native-linux-$toolchain" "x86_64-native-linuxapp-$toolchain"; do
    if [ -f "$tree/config/defconfig_$name" ]; then printf '%s\n' "$name"; return; fi
  done
  printf 'error: config/ has no template x86_64-native-linux-%s\n' "$toolchain" >>"$dir/build.log"
  return 1
}

# make_flags: what goes to the compiler behind the makefiles' own flags. Newer compilers warn where the
# compilers of that time did not.
make_flags() {
  local -a flags
  mapfile -t flags < <(tree_flags)
  flags=(-Wno-error "${flags[@]}")
  [ -z "${variant_of[c_args]:-}" ] || flags+=("${variant_of[c_args]}")
  printf '%s\n' "${flags[*]}"
}

# make_alone: a line for env(1): make, without what the environment says to the makefiles (people who work with
# DPDK have RTE_SDK and RTE_TARGET set) or to make itself (make run is a make, too).
make_alone() {
  local name
  for name in MAKEFLAGS MAKELEVEL MFLAGS MAKEFILES RTE_SDK RTE_TARGET RTE_OUTPUT RTE_KERNELDIR RTE_DEVEL_BUILD CROSS ARCH BUILDDIR CFLAGS CPPFLAGS \
    LDFLAGS LDLIBS {CPU,EXTRA,HOST,HOST_EXTRA}_{CFLAGS,CPPFLAGS,LDFLAGS,LDLIBS,ASFLAGS} D O Q S T V; do
    printf '%s\n' -u "$name"
  done
  printf '%s\n' make --no-print-directory
}

# make_run ARGUMENT...: the release's makefiles, with the build's own folder, compiler and flags.
make_run() {
  local -a alone
  mapfile -t alone < <(make_alone)
  supervise env "${alone[@]}" -C "$tree" "O=$dir/make" "CC=ccache $cc_path" "EXTRA_CFLAGS=$(make_flags)" MAKE_PAUSE=n "$@"
}

# --- what to build ------------------------------------------------------------------------------

# make_switches: of every folder of a library, driver, application or kernel module what switches it on:
# key, folder.
make_switches() {
  local file
  for file in "$tree"/{lib,drivers,drivers/*,app,kernel/*,test}/Makefile; do
    [ -f "$file" ] || continue
    file=${file#"$tree"/}
    # shellcheck disable=SC2016 # make's dollar
    sed -n 's/^DIRS-\$(CONFIG_\([A-Z0-9_]*\)) *+= *\(.*[^ ]\) *$/\1 \2/p' "$tree/$file" |
      awk -v parent="${file%/Makefile}" '{ for (i = 2; i <= NF; i++) print $1 "\t" parent "/" $i }'
  done
}

# make_libraries: of every archive its folder: name, folder. A library's folder is the one in lib.
make_libraries() {
  find "$tree/lib" "$tree/drivers" -name Makefile -exec sed -n 's#^LIB *:\{0,1\}= *lib\(rte_[a-z0-9_]*\)\.a *$#\1#p;T;F' {} + |
    awk -v tree="$tree/" 'NR % 2 { name = $0; next } {
      path = substr($0, length(tree) + 1); sub(/\/Makefile$/, "", path)
      if (path ~ /^lib\//) { split(path, p, "/"); path = "lib/" p[2] }
      print name "\t" path }'
}

# make_headers: of every header of a library its folder: name, folder.
make_headers() {
  find "$tree/lib" -name 'rte_*.h' | sed -n "s#^$tree/\(lib/[^/]*\)/\(.*/\)\{0,1\}\([^/]*\)\$#\3\t\1#p"
}

# make_folders: the folders of the wanted drivers and of all they need, one a line: the libraries they are
# linked with, those that must be built before, and those of which a driver includes a header.
make_folders() {
  local folder name
  local -a queue=()
  local -A seen=() library=() header=()
  while IFS=$'\t' read -r name folder; do library[$name]=$folder; done < <(make_libraries)
  while IFS=$'\t' read -r name folder; do header[$name]=${header[$name]:-$folder}; done < <(make_headers)
  for name in ${drivers//,/ }; do queue+=("drivers/$name"); done
  while [ "${#queue[@]}" -gt 0 ]; do
    folder=${queue[0]}
    queue=("${queue[@]:1}")
    [ -n "$folder" ] && [ -z "${seen[$folder]:-}" ] && [ -d "$tree/$folder" ] || continue
    seen[$folder]=1
    printf '%s\n' "$folder"
    while IFS= read -r name; do queue+=("${library[$name]:-}"); done < <(
      find "$tree/$folder" -name Makefile -exec sed -n '/^LDLIBS/p' {} + | grep -oE -e '-lrte_[a-z0-9_]+' | sed 's/^-l//' | sort -u)
    case $folder in
      lib/*)
        while IFS= read -r name; do queue+=("lib/$name"); done < <(
          sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' "$tree/lib/Makefile" |
            sed -n "s/^DEPDIRS-${folder#lib/} *[:+]*= *//p" | tr -s ' \t' '\n' | sed '/^$/d')
        ;;
      drivers/*)
        while IFS= read -r name; do queue+=("${header[$name]:-}"); done < <(
          find "$tree/$folder" -name '*.[ch]' -exec sed -n 's/^# *include *[<"]\(rte_[a-z0-9_]*\.h\)[>"].*/\1/p' {} + | sort -u)
        ;;
    esac
  done
}

# make_missing: the first wanted driver that the release's makefiles do not know.
make_missing() {
  local name
  for name in ${drivers//,/ }; do
    if [ ! -f "$tree/drivers/$name/Makefile" ]; then printf '%s\n' "$name"; return; fi
  done
}

# make_edit FOLDERS-FILE: the configuration on stdin with all off that does not belong to these folders, and
# with what belongs to them on. What decides inside a library how it is compiled stays as it is.
make_edit() {
  awk -F '\t' '
    FILENAME == ARGV[1] { wanted[$1] = 1; next }
    FILENAME == ARGV[2] { if ($2 in wanted) on[$1] = 1; else off[$1] = 1; next }
    /^CONFIG_[A-Z0-9_]*=[yn]$/ {
      key = substr($0, 8, index($0, "=") - 8)
      if (key in on) value = "y"
      else if (key in off || key ~ /^RTE_LIBRTE_(PMD_.*|.*_PMD|COMMON_.*)$/ || key == "RTE_BUILD_SHARED_LIB") value = "n"
      else { print; next }
      print "CONFIG_" key "=" value
      next
    }
    { print }
  ' "$1" <(make_switches) -
}

# make_configure: the release's template, edited. A configuration that was interrupted is made again.
make_configure() {
  local template missing
  [ -f "$dir/make/.configured" ] && return
  missing=$(make_missing)
  [ -z "$missing" ] || { printf "error: driver %s was not configured: the release's makefiles have no such driver\n" "$missing" >>"$dir/build.log"; return 1; }
  template=$(make_template) || return
  rm -rf "$dir/make"
  make_run "T=$template" config >"$dir/configure.log" 2>&1 || return
  make_folders >"$dir/folders"
  make_edit "$dir/folders" <"$dir/make/.config" >"$dir/make/.config.new"
  mv -f "$dir/make/.config.new" "$dir/make/.config"
  : >"$dir/make/.configured"
}

# --- building -----------------------------------------------------------------------------------

# make_compile: libraries and drivers, neither kernel modules nor applications.
make_compile() {
  make_watched "$(make_sources)" make_run -j "$jobs" 'ROOTDIRS-y=buildtools lib drivers' 'ROOTDIRS-=' all
}

# make_watched TOTAL COMMAND...: make's output goes to make.log, and its "  CC object" lines are progress.
make_watched() {
  local watcher status=0
  watch_make "$1" &
  watcher=$!
  defer kill_quietly "$watcher"
  "${@:2}" >"$dir/make.log" 2>&1 3>&- || status=$?
  kill_quietly "$watcher"
  return "$status"
}

watch_make() { # TOTAL
  local lines
  [ -t 2 ] || return 0
  while sleep 0.5; do
    lines=$(grep -c '^  CC ' "$dir/make.log" 2>/dev/null) || continue
    progress "build ${source_of[release]} $variant ${cc##*/}" "$((lines < $1 ? lines : $1))" "$1"
  done
}

# make_sources: about how many objects there will be, for progress.
make_sources() {
  local folder
  while IFS= read -r folder; do
    find "$tree/$folder" -name '*.c' -not -path '*/freebsd/*' -not -path '*/bsdapp/*' -not -path '*/windows/*' \
      -not -path '*/arm/*' -not -path '*/ppc*'
  done <"$dir/folders" | wc -l
}

# make_link_line: what the release's makefiles link an application with, in their order, a word a line.
make_link_line() {
  local file
  local -a alone
  mapfile -t alone < <(make_alone)
  temp_dir file
  # shellcheck disable=SC2016 # make's dollars
  printf '%s\n' 'include $(RTE_SDK)/mk/rte.vars.mk' 'APP = none' 'SRCS-y := none.c' 'include $(RTE_SDK)/mk/rte.app.mk' \
    'link-line: ; @printf "%s\n" $(LDLIBS)' >"$file/Makefile"
  env "${alone[@]}" -s -C "$file" "RTE_SDK=$tree" "RTE_SRCDIR=$tree" "RTE_OUTPUT=$dir/make" "BUILDDIR=$dir/make/build" \
    BUILDING_RTE_SDK=1 S=app "CC=$cc_path" "EXTRA_CFLAGS=$(make_flags)" link-line 2>>"$dir/build.log"
}

# make_record: archives and ldlibs as the makefiles link an application, members and objects from the command
# lines that the makefiles keep beside each archive.
make_record() {
  local words
  words=$(make_link_line) || { printf 'error: the makefiles do not say what they link\n' >>"$dir/build.log"; return 1; }
  sed -n 's#^-lrte_\(.*\)#lib/librte_\1.a#p' <<<"$words" | awk '!seen[$0]++' >"$dir/archives"
  sed -n '/^-lrte_/d; s/^-Wl,-l/-l/; /^-l/p' <<<"$words" | awk '!seen[$0]++' >"$dir/ldlibs"
  [ -s "$dir/archives" ] || { printf 'error: the makefiles link no library of DPDK\n' >>"$dir/build.log"; return 1; }
  make_members >"$dir/members"
  cut -f2 "$dir/members" >"$dir/objects"
}

# make_members: archive, object.
make_members() {
  local archive file folder
  while IFS= read -r archive; do
    file=$(find "$dir/make/build" -name ".${archive#lib/}.cmd")
    folder=${file%/*}
    sed 's/^[^=]*= //' "$file" | tr ' ' '\n' | sed -n "/\.o\$/s#^#$archive\t${folder#"$dir/make/"}/#p"
  done <"$dir/archives"
}

# make_record_commands: commands.tsv from the lines that the makefiles keep beside each object.
make_record_commands() {
  local object
  while IFS= read -r object; do
    sed "s#^[^=]* = #$object\t#" "$dir/make/${object%/*}/.${object##*/}.cmd"
  done <"$dir/objects" | awk -F '\t' -v OFS='\t' '{ n = split($2, word, " "); print $1, word[n], $2 }' >"$dir/commands.tsv"
}

# makefiles_build: configures and compiles; leaves archives, ldlibs, members, objects and commands.tsv.
makefiles_build() {
  make_configure && make_compile && make_record && make_record_commands
}

# make_build: by the release's own makefiles, or replayed.
make_build() {
  if has_makefiles; then makefiles_build; else replay_build; fi
}
