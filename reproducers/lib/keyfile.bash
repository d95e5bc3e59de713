# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The one reader of the kit's data files. It never sources and never evaluates
# what it reads, and starts no program. Source common.bash first.
#
#   # a comment has a line of its own
#   key = value
#
# UTF-8, LF line ends, at most 64 KiB, no quoting, no continuation, no repeated
# key, no empty value (leave the line out), keys only from the caller's list.
#
# The caller describes its keys with words of the form KEY:TYPE:PRESENCE.
# TYPE:
#   word           A-Z a-z 0-9 . _ + -
#   words          the same, several with spaces between
#   text           printable UTF-8
#   int(MIN-MAX)   whole number, decimal
#   number         decimal number
#   enum(a|b|...)  one of these
#   bool           yes or no
#   flags          compiler flags, each beginning with -
#   sha256         64 hexadecimal digits, lower case
#   url            https only
# PRESENCE: required, optional (the result holds an empty value when it is not
# there) or default=VALUE.
#
# Example:
#   declare -A conf
#   keyfile_read "$file" conf 'build:enum(make|meson):required' \
#     'c_args:flags:optional' 'baseline:word:default=meson-static' || exit
#   echo "${conf[build]} ${conf[c_args]}"

# Result in RESULT, an associative array declared by the caller, left alone on
# error. KEYFILE_LINES[key] is the line of each key that the file has, so that a
# caller's own checks can use keyfile_error as well.
keyfile_read() { # FILE RESULT SPEC...: 0, or 2 after one line on stderr
  # The C locale makes every pattern below count bytes.
  local LC_ALL=C
  local _kf_file=$1 _kf_data _kf_line _kf_key _kf_value _kf_spec _kf_type _kf_presence
  local -n _kf_result=$2
  local -i _kf_number=0
  local -A _kf_types=() _kf_values=() _kf_lines=()
  local -a _kf_rows=()
  shift 2

  for _kf_spec; do
    _kf_type=${_kf_spec#*:}
    _kf_types[${_kf_spec%%:*}]=${_kf_type%%:*}
  done

  _keyfile_slurp "$_kf_file" || return
  mapfile -t _kf_rows <<<"$_kf_data"

  for _kf_line in "${_kf_rows[@]}"; do
    _kf_number+=1
    _keyfile_check_line "$_kf_line" || return
    _kf_line=${_kf_line%"${_kf_line##*[! ]}"}
    [[ -z $_kf_line || $_kf_line =~ ^\ *\# ]] && continue
    if ! [[ $_kf_line =~ ^([a-z][a-z0-9_]*)\ *=\ *(.*)$ ]]; then
      _keyfile_fail "not a line of the form key = value: \"$(_keyfile_show "$_kf_line")\"; a line begins with its key (a-z 0-9 _), there is no continuation"
      return
    fi
    _kf_key=${BASH_REMATCH[1]}
    _kf_value=${BASH_REMATCH[2]}
    if [[ -z ${_kf_types[$_kf_key]-} ]]; then
      _keyfile_fail "unknown key \"$_kf_key\"; known are: $(_keyfile_keys "$@")"
      return
    fi
    if [[ -n ${_kf_lines[$_kf_key]-} ]]; then
      _keyfile_fail "\"$_kf_key\" again, first on line ${_kf_lines[$_kf_key]}; each key is given once"
      return
    fi
    if [[ -z $_kf_value ]]; then
      _keyfile_fail "\"$_kf_key\" has no value; write one or leave the line out"
      return
    fi
    _keyfile_check_value "$_kf_key" "${_kf_types[$_kf_key]}" "$_kf_value" || return
    _kf_values[$_kf_key]=$_kf_value
    _kf_lines[$_kf_key]=$_kf_number
  done

  _kf_number=0
  for _kf_spec; do
    _kf_key=${_kf_spec%%:*}
    [[ -n ${_kf_lines[$_kf_key]-} ]] && continue
    _kf_presence=${_kf_spec#*:*:}
    case $_kf_presence in
    required)
      _keyfile_fail "\"$_kf_key\" is missing; it is required and takes $(_keyfile_allowed "${_kf_types[$_kf_key]}")"
      return
      ;;
    default=*) _kf_values[$_kf_key]=${_kf_presence#default=} ;;
    *) _kf_values[$_kf_key]= ;;
    esac
  done

  # shellcheck disable=SC2034 # for the caller
  declare -gA KEYFILE_LINES=()
  for _kf_key in "${!_kf_lines[@]}"; do
    # shellcheck disable=SC2034
    KEYFILE_LINES[$_kf_key]=${_kf_lines[$_kf_key]}
  done
  _kf_result=()
  for _kf_key in "${!_kf_values[@]}"; do
    # shellcheck disable=SC2004 # an associative array
    _kf_result[$_kf_key]=${_kf_values[$_kf_key]}
  done
}

# KEYFILE_NAMES[FILE]: what messages call a file that the kit wrote for its user, e.g. the option it came from.
declare -gA KEYFILE_NAMES=()

keyfile_error() { # FILE LINE MESSAGE: prints the one line; LINE 0 is the file itself; returns 2
  local file=$1 place=
  if [[ -n $file && -n ${KEYFILE_NAMES[$file]:-} ]]; then
    _say "${KEYFILE_NAMES[$file]}: $3"
    return 2
  fi
  local root
  root=$(kit_root)
  file=${file#"$root"/}
  (($2 == 0)) || place=:$2
  _say "$(_keyfile_show "$file" 200)$place: $3"
  return 2
}

_keyfile_fail() { # MESSAGE: an error at keyfile_read's current line
  keyfile_error "$_kf_file" "$_kf_number" "$1"
}

_keyfile_slurp() { # FILE: its text in _kf_data
  local file=$1 limit=65536 status=0
  if [[ -d $file ]]; then
    _keyfile_fail "is a folder; a data file is a regular file"
  elif [[ -L $file && ! -e $file ]]; then
    _keyfile_fail "is a link that leads nowhere; a data file is a regular file"
  elif [[ ! -e $file ]]; then
    _keyfile_fail "there is no such file; give the path of a data file"
  elif [[ ! -f $file ]]; then
    _keyfile_fail "is a device, pipe or socket; a data file is a regular file"
  elif [[ ! -r $file ]]; then
    _keyfile_fail "is not readable; give yourself read permission"
  else
    # Reads up to a NUL, the limit or the end; only the end is a failure of read.
    IFS= read -r -d '' -n $((limit + 1)) _kf_data <"$file" || status=$?
    if ((${#_kf_data} > limit)); then
      _keyfile_fail "is larger than 64 KiB; a data file is a few lines of key = value"
    elif ((status == 0)); then
      _kf_number=1
      _kf_data=${_kf_data//[!$'\n']/}
      _kf_number+=${#_kf_data}
      _keyfile_fail "NUL byte; a data file is UTF-8 text"
    elif [[ $_kf_data == $'\xef\xbb\xbf'* ]]; then
      _kf_number=1
      _keyfile_fail "begins with a byte order mark; save it as UTF-8 without one"
    fi
  fi
}

_keyfile_check_line() { # LINE: encoding and control characters
  if [[ $1 == *$'\r' ]]; then
    _keyfile_fail "ends in CRLF (a Windows line end); save the file with LF line ends"
  elif [[ $1 == *$'\t'* ]]; then
    _keyfile_fail "tab character; use spaces"
  elif [[ $1 == *[$'\001'-$'\037\177']* ]]; then
    _keyfile_fail "control character; a data file is printable UTF-8 text"
  elif [[ $1 == *[!\ -~]* ]]; then
    _keyfile_is_utf8 "$1" ||
      _keyfile_fail "not valid UTF-8 or a character that does not print; a data file is printable UTF-8 text"
  fi
}

# Well-formed sequences of RFC 3629 without the C1 controls (U+0080 to U+009F) and
# without the marks that reorder the text around them (U+202A-E, U+2066-9).
_keyfile_is_utf8() { # TEXT
  local rest=$1 t=$'[\x80-\xbf]'
  while [[ $rest == *[!\ -~]* ]]; do
    rest=${rest#"${rest%%[!\ -~]*}"}
    case $rest in
    $'\xc2'[$'\x80'-$'\x9f']* | $'\xe2\x80'[$'\xaa'-$'\xae']* | $'\xe2\x81'[$'\xa6'-$'\xa9']*)
      return 1
      ;;
    [$'\xc2'-$'\xdf']$t*) rest=${rest:2} ;;
    $'\xe0'[$'\xa0'-$'\xbf']$t*) rest=${rest:3} ;;
    $'\xed'[$'\x80'-$'\x9f']$t*) rest=${rest:3} ;;
    [$'\xe1'-$'\xec\xee\xef']$t$t*) rest=${rest:3} ;;
    $'\xf0'[$'\x90'-$'\xbf']$t$t*) rest=${rest:4} ;;
    [$'\xf1'-$'\xf3']$t$t$t*) rest=${rest:4} ;;
    $'\xf4'[$'\x80'-$'\x8f']$t$t*) rest=${rest:4} ;;
    *) return 1 ;;
    esac
  done
}

_keyfile_check_value() { # KEY TYPE VALUE
  local key=$1 type=$2 value=$3 ok=
  case $type in
  word) [[ $value =~ ^[A-Za-z0-9._+-]+$ ]] && ok=1 ;;
  words) [[ $value =~ ^[A-Za-z0-9._+-]+(\ +[A-Za-z0-9._+-]+)*$ ]] && ok=1 ;;
  text)
    ok=1
    case $value in
    \"*\" | \'*\')
      _keyfile_fail "\"$key\" is in quotes; values are written without"
      return
      ;;
    *\\)
      _keyfile_fail "\"$key\" ends in a backslash; there is no continuation, write one long line"
      return
      ;;
    *\ \#*)
      _keyfile_fail "\"$key\" has a # after a space; a comment takes a line of its own"
      return
      ;;
    esac
    ;;
  int\(*\)) _keyfile_is_int "$value" "$type" && ok=1 ;;
  number) [[ ${#value} -le 30 && $value =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)?$ ]] && ok=1 ;;
  enum\(*\))
    type=${type#enum(}
    # No value of the list holds a bar, so neither may the value.
    [[ $value != *'|'* && "|${type%)}|" == *"|$value|"* ]] && ok=1
    type="enum($type"
    ;;
  bool) [[ $value == yes || $value == no ]] && ok=1 ;;
  flags) [[ $value =~ ^-[A-Za-z0-9=_+,./:@%-]+(\ +-[A-Za-z0-9=_+,./:@%-]+)*$ ]] && ok=1 ;;
  sha256) [[ $value =~ ^[0-9a-f]{64}$ ]] && ok=1 ;;
  url) [[ $value =~ ^https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~%/+-]*)?$ ]] && ok=1 ;;
  *)
    _keyfile_fail "the kit asks for \"$key\" with the unknown type \"$type\"; this is a fault of the kit"
    return
    ;;
  esac
  [[ -n $ok ]] ||
    _keyfile_fail "\"$key\" is \"$(_keyfile_show "$value")\"; it takes $(_keyfile_allowed "$type")"
}

_keyfile_is_int() { # VALUE int(MIN-MAX)
  local range
  # Eighteen digits fit the shell's arithmetic; a leading 0 would mean octal.
  [[ $1 =~ ^(0|-?[1-9][0-9]{0,17})$ && $2 =~ ^int\((-?[0-9]+)-(-?[0-9]+)\)$ ]] || return 1
  # [[ ]] has set BASH_REMATCH for the second match.
  range=("${BASH_REMATCH[@]:1}")
  (($1 >= range[0] && $1 <= range[1]))
}

_keyfile_allowed() { # TYPE: prints what a value may be, in words
  local list
  case $1 in
  word) list='one word of A-Z a-z 0-9 . _ + -' ;;
  words) list='words of A-Z a-z 0-9 . _ + - with spaces between' ;;
  text) list='printable text' ;;
  int\(*\))
    list=${1#int(}
    list=${list%)}
    [[ $list =~ ^(-?[0-9]+)-(-?[0-9]+)$ ]]
    list="a whole number from ${BASH_REMATCH[1]} to ${BASH_REMATCH[2]}"
    ;;
  number) list='a decimal number such as 1.5' ;;
  enum\(*\))
    list=${1#enum(}
    list=${list%)}
    list="one of: ${list//|/, }"
    ;;
  bool) list='yes or no' ;;
  flags) list='compiler flags, each beginning with -, of A-Z a-z 0-9 = _ + , . / : @ % -' ;;
  sha256) list='64 hexadecimal digits in lower case' ;;
  url) list='an https:// address' ;;
  esac
  printf '%s' "$list"
}

_keyfile_keys() { # SPEC...: prints the keys
  local spec list=
  for spec; do
    list+=", ${spec%%:*}"
  done
  printf '%s' "${list#, }"
}

_keyfile_show() { # TEXT [LENGTH]: prints it safe for a terminal, shortened
  local LC_ALL=C
  local text=${1//[!\ -~]/?} length=${2:-60}
  if ((${#text} > length)); then
    text=${text:0:length}...
  fi
  printf '%s' "$text"
}

# --- finding data files by name -----------------------------------------------

_keyfile_place() { # KIND: sets _kf_folder and _kf_suffix, what stands around a name
  _kf_suffix=.conf
  case $1 in
  variant) _kf_folder=$(kit_root)/reproducers/variants ;;
  source) _kf_folder=$(kit_root)/reproducers/sources ;;
  scenario)
    _kf_folder=$(kit_root)/scenarios
    _kf_suffix=/scenario.conf
    ;;
  *) fail "there is no kind of data file called $1; this is a fault of the kit" ;;
  esac
}

keyfile_list() { # KIND (variant, source, scenario): prints the names there are
  local _kf_folder _kf_suffix file
  _keyfile_place "$1"
  for file in "$_kf_folder"/*"$_kf_suffix"; do
    [[ -f $file ]] || continue
    file=${file#"$_kf_folder/"}
    printf '%s\n' "${file%"$_kf_suffix"}"
  done
}

# Only a plain name is looked up, never a path, so that nothing outside of the
# kit's folders is read.
keyfile_find() { # KIND NAME: prints the file's path, or 2 after one line on stderr
  local kind=$1 name=$2 list _kf_folder _kf_suffix
  _keyfile_place "$kind"
  if [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$ && $name != *..* &&
    -e $_kf_folder/$name$_kf_suffix ]]; then
    printf '%s\n' "$_kf_folder/$name$_kf_suffix"
    return 0
  fi
  list=$(keyfile_list "$kind")
  _say "there is no $kind called \"$(_keyfile_show "$name")\"; known are: ${list//$'\n'/, }"
  return 2
}
