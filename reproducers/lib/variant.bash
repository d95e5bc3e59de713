# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables shared with the scripts that source it
# Variants: reading their data files and judging what can exist. Needs common.bash and keyfile.bash.

# The keys of reproducers/variants/*.conf.
#   pic_flag    the PIC option every object's compile line must carry last; none: no such option
#   code_model  what the objects must turn out to be; default: what the compiler makes unasked
#   link        how the executable is linked; default: as the compiler does unasked
#   library     which of DPDK's libraries the executable is linked with
#   lto         link-time optimisation: meson's b_lto, and the same at the kit's own link
#   expected_error  the build is known to fail with these words, and the report says so; no failure of the run
#   c_args      flags for every object; with make they are its EXTRA_CFLAGS
# shellcheck disable=SC2034 # read by keyfile_read
VARIANT_KEYS=(
  'title:text:required'
  'question:text:required'
  'build:enum(meson|make):required'
  'meson_options:flags:optional'
  'c_args:flags:optional'
  'pic_flag:enum(none|-fPIC|-fPIE|-fno-pie|-fno-pic):required'
  'code_model:enum(default|absolute|pie|pic):required'
  'link:enum(default|no-pie|pie):default=default'
  'library:enum(static|shared):default=static'
  'lto:bool:default=no'
  'expected_error:text:optional'
)

# VARIANT_FILES[NAME]: the data file of a variant that does not lie in reproducers/variants.
# VARIANT_GIVEN[NAME]: what a command line gave for it, in one line.
declare -gA VARIANT_FILES=() VARIANT_GIVEN=()

# variant_file NAME: prints the path of its data file. 2 when there is none.
variant_file() {
  if [ -n "${VARIANT_FILES[$1]:-}" ]; then printf '%s\n' "${VARIANT_FILES[$1]}"; else keyfile_find variant "$1"; fi
}

# variant_load NAME: reads the variant into the associative array variant_of. Exit 2 on a bad file.
variant_load() {
  local file
  file=$(variant_file "$1") || exit 2
  declare -gA variant_of=()
  keyfile_read "$file" variant_of "${VARIANT_KEYS[@]}" || exit 2
  _variant_check "$file" || exit 2
}

# _variant_check FILE: 2 after one line when no compiler could build what the loaded file asks for.
_variant_check() {
  local key
  for key in c_args meson_options; do
    [[ "${variant_of[$key]:-}" =~ (-flto[^ ]*|-Db_lto[^ ]*) ]] || continue
    keyfile_error "$1" "${KEYFILE_LINES[$key]}" "${BASH_REMATCH[1]}: link-time optimisation is asked for with lto = yes, so that the link and the proof know of it"
    return
  done
  _variant_check_make "$1" || return
  # What is known to fail may be tried.
  [ -z "${variant_of[expected_error]}" ] && [ "${variant_of[library]}" = shared ] || return 0
  for key in c_args pic_flag code_model; do
    [[ " ${variant_of[$key]:-} " =~ \ (-fno-pi[ec]|-fno-PI[EC]|absolute)\  ]] || continue
    keyfile_error "$1" "${KEYFILE_LINES[$key]}" "${BASH_REMATCH[1]}: absolute code cannot go into shared libraries, which are loaded anywhere; leave it out, or set library = static"
    return
  done
  if [ "${variant_of[link]}" = no-pie ]; then
    keyfile_error "$1" "${KEYFILE_LINES[link]}" "no-pie: meson gives it to the shared libraries as well, and they have no fixed address; leave it out, or set library = static"
  fi
}

# _variant_check_make FILE: 2 after one line when the loaded file asks of make what only meson can do.
_variant_check_make() {
  [ "${variant_of[build]}" != meson ] || return 0
  if [ -n "${variant_of[meson_options]}" ]; then
    keyfile_error "$1" "${KEYFILE_LINES[meson_options]}" "\"meson_options\" with build = ${variant_of[build]}; leave the line out, or write build = meson"
  elif [ "${variant_of[library]}" = shared ]; then
    keyfile_error "$1" "${KEYFILE_LINES[library]}" "only meson builds shared libraries here; set build = meson, or library = static"
  elif [ "${variant_of[lto]}" = yes ]; then
    keyfile_error "$1" "${KEYFILE_LINES[lto]}" "lto = yes with build = ${variant_of[build]}; the makefiles know no link-time optimisation; leave the line out, or write build = meson"
  fi
}

# The variant whose keys stand for those that --a and --b do not give.
VARIANT_OWN_BASE=meson-static

# variant_own NAME FOLDER KEY=VALUE...: a variant from the option --NAME: writes its data file, FOLDER/NAME.conf, checks
# it like any other, and makes it known under its name. VARIANT_GIVEN[NAME] is what was given, in one line. Exit 2
# on a bad key or value.
variant_own() {
  local name=$1 file=$2/$1.conf word key words=''
  local -A value_of=()
  local -a order=()
  shift 2
  variant_load "$VARIANT_OWN_BASE"
  for word; do
    [[ $word != *[[:cntrl:]]* && $word =~ ^([a-z][a-z0-9_]*)\ *=\ *(.*)$ ]] ||
      die "--$name takes KEY=VALUE, not '$(_keyfile_show "$word")'; known keys: $(_keyfile_keys "${VARIANT_KEYS[@]}")"
    key=${BASH_REMATCH[1]}
    [ -z "${value_of[$key]+given}" ] || die "--$name gives $key twice; each key is given once"
    value_of[$key]=${BASH_REMATCH[2]}
    order+=("$key")
    case $key in title | question) ;; *) words+="${words:+; }$key=${BASH_REMATCH[2]}" ;; esac
  done
  variant_of[title]=${value_of[title]-$VARIANT_OWN_BASE${words:+ with $words}}
  variant_of[question]=${value_of[question]-What does ${words:-$VARIANT_OWN_BASE} cost?}
  for key in "${order[@]}"; do variant_of[$key]=${value_of[$key]}; done
  # First with what was given ahead, so that a flaw is found there and not in a title made of it.
  _variant_write "$file" "${order[@]}"
  # shellcheck disable=SC2004 # an associative array
  KEYFILE_NAMES[$file]=--$name
  keyfile_read "$file" variant_of "${VARIANT_KEYS[@]}" || exit 2
  _variant_check "$file" || exit 2
  _variant_write "$file"
  VARIANT_FILES[$name]=$file
  VARIANT_GIVEN[$name]=${words:-$VARIANT_OWN_BASE}
}

# _variant_write FILE KEY...: variant_of as a data file; the KEYs first, the others as VARIANT_KEYS has them. What later keys say
# when they are left out is left out.
_variant_write() {
  local file=$1 key spec
  local -A done_keys=()
  shift
  {
    for key; do printf '%s = %s\n' "$key" "${variant_of[$key]}"; done_keys[$key]=1; done
    for spec in "${VARIANT_KEYS[@]}"; do
      key=${spec%%:*}
      case $key=${variant_of[$key]:-} in library=static | lto=no) continue ;; esac
      [ -n "${done_keys[$key]:-}" ] || [ -z "${variant_of[$key]:-}" ] || printf '%s = %s\n' "$key" "${variant_of[$key]}"
    done
  } >"$file"
}

# variant_text: every key and value, for build keys. Keys that came later stand there only when they ask for
# something, so that the names of other builds stay what they were.
variant_text() {
  local key
  for key in $(printf '%s\n' "${!variant_of[@]}" | sort); do
    case $key=${variant_of[$key]} in
      title=* | question=* | expected_error=* | library=static | lto=no) ;;
      *) printf '%s=%s\n' "$key" "${variant_of[$key]}" ;;
    esac
  done
}

# variant_meson_arguments FLAGS: meson arguments of the loaded variant, one a line. FLAGS, which may be empty,
# go to the compiler as well. A variant of make has flags for make only.
variant_meson_arguments() {
  local option c_args=
  [ "${variant_of[build]}" != meson ] || c_args=${variant_of[c_args]:-}
  c_args+=${1:+ $1}
  for option in ${variant_of[meson_options]:-}; do printf '%s\n' "$option"; done
  [ -z "$c_args" ] || printf -- '-Dc_args=%s\n' "${c_args# }"
  # Without it meson's own link checks fail on -fno-pie objects and it configures another DPDK, silently.
  [ "${variant_of[link]}" != no-pie ] || printf -- '-Dc_link_args=-no-pie\n'
  [ "${variant_of[lto]}" = no ] || printf -- '-Db_lto=true\n'
  # A shared EAL loads every driver it finds below the prefix: there must be none, whatever is installed here.
  [ "${variant_of[library]}" != shared ] || printf '%s\n' -Ddefault_library=shared -Dprefix=/nonexistent
}

# need_linker NAME: exit 2, with its package, when that linker is not on the machine.
need_linker() {
  case $1 in
    lld | mold) need_cmd "ld.$1" "$1" ;;
    *) need_cmd "ld.$1" binutils ;;
  esac
}

# variant_check_linker CC LINKER: exit 2 when the loaded variant cannot be linked so; LINKER may be empty. Sets
# variant_linker, the one that meson has to use, empty for the compiler's own. After variant_check_compiler.
variant_check_linker() {
  variant_linker=''
  [ "${variant_of[lto]}" = yes ] || return 0
  lto_check_linker "$cc_version" "$2"
  if [[ $cc_version == *clang* ]]; then
    command -v "$("$cc_path" -print-prog-name=ld.lld)" >/dev/null ||
      die "$1 needs lld for link-time optimisation, since its objects are bitcode; install it: apt-get install $(compiler_package "$1" | sed 's/clang/lld/')"
    variant_linker=lld
  fi
}

# lto_check_linker CC_VERSION LINKER: exit 2 when that linker cannot optimise that compiler's objects. gcc's fat ones
# would even link, as if nothing had been asked for.
lto_check_linker() {
  case $1:$2 in
    *clang*: | *clang*:lld) ;;
    *clang*) die "clang's link-time optimisation needs lld, not $2, which cannot read its objects; leave --linker out, or give --linker lld" ;;
    *:lld) die "lld knows nothing of gcc's link-time optimisation and would link the objects as they were compiled; leave --linker out, or give bfd, gold or mold" ;;
  esac
}

# compilers_installed: the names of every gcc, gcc-N, clang and clang-N on the PATH, one a line; of several names of
# one binary the first, so gcc and not gcc-12.
compilers_installed() {
  local name file path
  local -A seen=()
  path=$(path_without_ccache)
  while IFS= read -r name; do
    file=$(PATH=$path command -v "$name") || continue
    file=$(readlink -f "$file")
    [ -z "${seen[$file]:-}" ] || continue
    seen[$file]=yes
    printf '%s\n' "$name"
  done < <(printf '%s\n' gcc clang; PATH=$path compgen -c | grep -xE '(gcc|clang)-[0-9]+' | sort -uV)
}

# compiler_package NAME: the Debian package that brings the compiler.
compiler_package() {
  printf '%s\n' "${1##*/}"
}

# variant_check_compiler CC: sets cc_path and cc_version; exit 2 when the compiler is missing.
variant_check_compiler() {
  [[ $1 =~ ^[A-Za-z0-9_./+-]+$ ]] || die "bad compiler name '$1'; give gcc, clang, gcc-N, clang-N or a path"
  cc_path=$(PATH=$(path_without_ccache) command -v "$1" || true)
  [ -n "$cc_path" ] || die "no compiler '$1' on this machine; install it: apt-get install $(compiler_package "$1")"
  cc_version=$("$cc_path" --version 2>/dev/null | sed -n 1p)
  [ -n "$cc_version" ] || die "'$cc_path --version' prints nothing; is it a compiler?"
}

# path_without_ccache: PATH less ccache's masquerading folders, which would hide the real compiler.
path_without_ccache() {
  printf '%s' "$PATH" | tr ':' '\n' | grep -v '/ccache' | paste -sd ':'
}

# variant_check_source TREE RELEASE: exit 2 when the variant cannot be built from that tree.
variant_check_source() {
  [ "${variant_of[build]}" != meson ] || [ -f "$1/meson.build" ] ||
    die "variant needs meson, and DPDK $2 has no meson.build"
}

# compiler_default_model CC_PATH: absolute or pie, what the compiler makes without any PIC option.
compiler_default_model() {
  local macros
  # Not through a pipe: grep would end it early and pipefail would call that a failure.
  macros=$("$1" -dM -E -x c /dev/null 2>/dev/null) || true
  case $macros in *__PIE__* | *__pie__*) printf 'pie\n' ;; *) printf 'absolute\n' ;; esac
}
