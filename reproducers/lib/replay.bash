# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # variables of reproducers/build, which sources it
#
# Replaying the old makefiles in a release that has none (from 20.11 on): meson says what is compiled from what,
# and GNU make compiles it with what the makefiles of 20.08 had otherwise, which stands in replay.tsv. All other
# flags and constants are the tree's own: whoever kept the makefiles would have had to follow it there.
# Needs common.bash, meson.bash and make.bash.
#
# A row of replay.tsv:
#   drop    the flag goes from every compile line
#   add     the flag comes in front of the others; -DNAME only where the tree knows NAME
#   define  the constant gets the value (-: none) where the tree knows it and gives it the value that meson gave
#           it in 20.08 (-: none); where a newer tree has changed it, it stays
# The source is what 20.08 had in mk/ and config/. Its -DRTE_MACHINE_CPUFLAG_* are not there, because no release
# without makefiles knows them; they ask for the compiler's own __SSE4_2__ and so on.

replay_table() {
  printf '%s/lib/replay.tsv\n' "$here"
}

# replay_rows ACTION: what, value and meson's value of the table's rows of that kind.
replay_rows() {
  awk -F '\t' -v OFS='\t' -v action="$1" 'NR > 1 && $1 == action { print $2, $3, $4 }' "$(replay_table)"
}

# replay_known NAME...: those that the tree's C files mention.
replay_known() {
  grep -rohwF --include='*.[ch]' -f <(printf '%s\n' "$@") "$tree/lib" "$tree/drivers" "$tree/config" | sort -u || true
}

# replay_added: the flags that come in front, one a line.
replay_added() {
  local flag known
  while IFS=$'\t' read -r flag _; do
    if [[ $flag == -D* ]]; then
      known=$(replay_known "${flag#-D}")
      [ -n "$known" ] || continue
    fi
    printf '%s\n' "$flag"
  done < <(replay_rows add)
}

# replay_constants: of the table those that are to be changed in this tree: name, value.
replay_constants() {
  local name value then_meson now
  local -a names
  local -A known=() current=()
  mapfile -t names < <(replay_rows define | cut -f1)
  while IFS= read -r name; do known[$name]=1; done < <(replay_known "${names[@]}")
  while read -r _ name value; do current[$name]=$value; done < <(
    "$cc_path" "-I$dir/meson" "-I$tree/config" -include rte_config.h -dM -E -x c /dev/null | grep '^#define RTE_')
  while IFS=$'\t' read -r name value then_meson; do
    now=-
    [ -z "${current[$name]+set}" ] || now=${current[$name]:-(empty)}
    if [ -n "${known[$name]:-}" ] && [ "$now" = "$then_meson" ]; then printf '%s\t%s\n' "$name" "$value"; fi
  done < <(replay_rows define)
}

# replay_header: rte_config.h before the tree's own: it includes that, and then has the makefiles' constants.
replay_header() {
  local name value
  printf '/* The constants of this release, but for those that its makefiles had otherwise. */\n'
  printf '#ifndef MPPSDIFF_REPLAY_CONFIG_H\n#define MPPSDIFF_REPLAY_CONFIG_H\n#include_next <rte_config.h>\n'
  while IFS=$'\t' read -r name value; do
    printf '#undef %s\n' "$name"
    [ "$value" = - ] || printf '#define %s %s\n' "$name" "$value"
  done < <(replay_constants)
  printf '#endif\n'
}

# replay_folders: meson's build folder again, with the headers that meson has made but nothing compiled.
replay_folders() {
  mkdir -p "$dir/make"
  (cd "$dir/meson" && find . -type d -print0) | (cd "$dir/make" && xargs -0 mkdir -p) || return
  # With their times, or make would compile everything again.
  (cd "$dir/meson" && find . -name '*.h' -print0 | xargs -0 -r cp -p --parents -t "$dir/make") || return
  replay_header >"$dir/make/config/rte_config.h.new"
  if cmp -s "$dir/make/config/rte_config.h.new" "$dir/make/config/rte_config.h"; then
    rm -f "$dir/make/config/rte_config.h.new"
  else
    mv -f "$dir/make/config/rte_config.h.new" "$dir/make/config/rte_config.h"
  fi
}

# replay_commands: commands.tsv: meson's compile lines with the table's flags, the variant's behind them.
replay_commands() {
  meson_record_commands
  awk -F '\t' -v OFS='\t' -v added="$(replay_added | paste -sd ' ')" -v variant="${variant_of[c_args]:-}" '
    FILENAME == ARGV[1] { drop[$1] = 1; next }
    {
      n = split($3, word, " ")
      line = ""
      begun = ended = 0
      for (i = 1; i <= n; i++) {
        if (!begun && word[i] ~ /^-/) { begun = 1; line = line " " added }
        if (!ended && (word[i] == "-MD" || word[i] == "-o")) { ended = 1; if (variant != "") line = line " " variant }
        if (!(word[i] in drop)) line = line " " word[i]
      }
      print $1, $2, substr(line, 2)
    }
  ' <(replay_rows drop) "$dir/commands.tsv" >"$dir/commands.tsv.new"
  mv -f "$dir/commands.tsv.new" "$dir/commands.tsv"
}

# replay_generated: the sources that the build makes itself (what pmdinfogen says of a driver): source, archive
# it is made from, command. They are made again, from the objects compiled here.
replay_generated() {
  local source inputs command input archive
  local -a sources
  mapfile -t sources < <(cut -f2 "$dir/commands.tsv" | grep -v '^\(/\|\.\./\)')
  while IFS=$'\t' read -r source command inputs; do
    archive=''
    for input in $inputs; do
      case $input in
        *.a) archive=$input ;;
        *) [ ! -f "$dir/make/$input" ] && is_ninja_target "$input" || continue
          ninja -C "$dir/meson" "$input" >"$dir/ninja.log" 2>&1 && cp -p "$dir/meson/$input" "$dir/make/$input" || return ;;
      esac
    done
    [ -n "$archive" ] || { printf 'error: %s is made from no archive; this release builds it otherwise\n' "$source" >>"$dir/build.log"; return 1; }
    printf '%s\t%s\t%s\n' "$source" "$archive" "${command//"$dir/meson/"/"$dir/make/"}"
  done < <(graph commands "${sources[@]}")
}

is_ninja_target() { # FILE
  grep -qF "build $1:" "$dir/meson/build.ninja"
}

# replay_makefile: the makefile: every object by its compile line, every archive from its members.
replay_makefile() {
  local archive
  local -a made_from
  mapfile -t made_from < <(cut -f2 "$dir/generated" | sort -u)
  {
    cat "$dir/members"
    [ "${#made_from[@]}" -eq 0 ] || graph members "${made_from[@]}"
  } | awk -F '\t' -v commands="$dir/commands.tsv" -v generated="$dir/generated" '
    function escape(text) { gsub(/\$/, "$$", text); return text }
    BEGIN {
      print "# Made by reproducers/build; see reproducers/lib/replay.bash."
      print ".DELETE_ON_ERROR:\n.SUFFIXES:\nMAKEFLAGS += -r\nall:"
      while ((getline line < commands) > 0) {
        split(line, f, "\t")
        printf "%s: %s\n\t@echo \"  CC %s\"; %s && : >%s.cmd\n", f[1], f[2], f[1], escape(f[3]), f[1]
        printf "-include %s.d\n", f[1]
      }
      while ((getline line < generated) > 0) {
        split(line, f, "\t")
        printf "%s: %s\n\t@echo \"  GEN %s\"; %s\n", f[1], f[2], f[1], escape(f[3])
      }
    }
    { if (!($1 in members)) order[++n] = $1; members[$1] = members[$1] " " $2 }
    END {
      for (i = 1; i <= n; i++) printf "%s:%s\n\t@echo \"  AR %s\"; rm -f %s && ar crDs %s%s\nall: %s\n", order[i], members[order[i]], order[i], order[i], order[i], members[order[i]], order[i]
    }' >"$dir/make/Makefile"
}

# replay_forget_broken: objects of which the compile did not end; make would take them for whole ones.
replay_forget_broken() {
  local object
  while IFS= read -r object; do
    [ -f "$dir/make/$object.cmd" ] || rm -f "$dir/make/$object"
  done <"$dir/objects"
}

replay_compile() {
  local -a alone
  mapfile -t alone < <(make_alone)
  make_watched "$(wc -l <"$dir/objects")" supervise env "${alone[@]}" -C "$dir/make" -j "$jobs" all
}

# replay_build: configures with meson, compiles with make; leaves archives, ldlibs, members, objects and commands.tsv.
replay_build() {
  find_python
  meson_configure && meson_choose_targets && replay_folders && replay_commands &&
    replay_generated >"$dir/generated" && replay_makefile && replay_forget_broken && replay_compile
}
