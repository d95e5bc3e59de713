#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What every scenario's `run` is: source, build, link, prove, measure, judge, report. Each step is an
# executable of its own; this script only hands files from one to the next.
set -euo pipefail
scenarios=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kit=$(dirname "$scenarios")
# shellcheck source=../reproducers/lib/common.bash
. "$kit/reproducers/lib/common.bash"
# shellcheck source=../reproducers/lib/keyfile.bash
. "$kit/reproducers/lib/keyfile.bash"
# shellcheck source=../reproducers/lib/variant.bash
. "$kit/reproducers/lib/variant.bash"
# shellcheck source=../reproducers/lib/testpmd.bash
. "$kit/reproducers/lib/testpmd.bash"
# shellcheck source=../reproducers/lib/machine.bash
. "$kit/reproducers/lib/machine.bash"
# shellcheck source=../reproducers/lib/plan.bash
. "$kit/reproducers/lib/plan.bash"
# shellcheck source=../reproducers/lib/proof.bash
. "$kit/reproducers/lib/proof.bash"
# shellcheck source=../reproducers/lib/crosscheck.bash
. "$kit/reproducers/lib/crosscheck.bash"

SCENARIO_KEYS=(
  'title:text:required'
  'command:text:required'
  'testbed_cpu:text:required'
  'testbed_os:text:required'
  'testbed_nic:text:required'
  'nic:enum(connectx4lx|connectx5|connectx5vf):optional'
  'rx_burst:words:optional'
  'tx_burst:words:optional'
  'frame_bytes:int(60-1518):default=64'
  'variants:words:default=meson-static meson-static-nopic meson-static-nopie'
  'baseline:word:default=meson-static-nopic'
)

usage() {
  cat <<USAGE
usage: scenarios/$name/run [options]

Build DPDK's variants, forward packets through each, and report the difference.

  --a=KEY=VALUE       a baseline of your own without writing a file, to measure --b against: KEY as in the files of
                      reproducers/variants, what is not given as in meson-static; again for another key
  --b=KEY=VALUE       the same for the variant that is compared with it; without --a, with meson-static
  --baseline=VARIANT  what the others are compared with (default: the scenario's)
  --cc=LIST           compilers, comma-separated: gcc, clang, gcc-N, clang-N or a path, or all there are on the
                      PATH (default gcc,clang)
  --device=NAME       software: the software ConnectX, driven by the real mlx5 driver; ring: net_ring
                      ports with real frames; null: net_null (default: software where it can run)
  --dpdk=LIST         DPDK: a release, directory, tarball, distro or git:REPO@TAG (default 22.11);
                      several, comma-separated, are measured in turns, each against its own baseline
  --epochs=N          fresh starts of every process, 1 to 1000 (default 8, quick 4)
  --forwarder=NAME    what forwards: kit, the kit's own; testpmd, the release's own with the scenario's command;
                      both, each variant through both in the same rounds, and the report says whether they
                      agree (default kit)
  --function-sections compile every function into a section of its own, so that layouts shuffle functions
                      and not whole files; a change of its own, and the report says so
  --gate=PERCENT      exit 1 when a variant is slower than the baseline by more, beyond doubt; where
                      the interval does not tell, a warning
  --half-width=P      stop at a look where every interval is narrower than +-P percent (default: never)
  --help              this text
  --junit=FILE        also write JUnit XML for a continuous integration
  --layouts=N         seeded link orders of each variant, 0 to 100 (default 8, quick 4)
  --localise          also say which library, object file and function carries each difference, in
                      instructions per packet (exact) and in cycles (over layouts)
  --linker=LIST       bfd, gold, lld or mold for the binaries as built (default: the compiler's); several,
                      comma-separated, are a further axis: each variant is linked by each of them, layouts
                      too, and compared with its own baseline
  --looks=N           how often the run is looked at, its end included: fixed before it, after equal parts of
                      the epochs; intervals and verdicts account for it (default: up to 4 with
                      --half-width or --until-decided, else 1)
  --margin=PERCENT    differences within it are called the same (default 1)
  --max-wait=PERCENT  leave out slices whose forwarding thread waited for a CPU for more of its time: for
                      machines with other work to do (default: not looked at)
  --no-huge           forward without hugepages; the report says so
  --offline           never look for DPDK's source beyond this machine
  --perf-events=LIST  what the kernel counts beside the slices, or none (default: cycles, instructions
                      and misses where the machine has a PMU; see reproducers/measure --help)
  --quick             fewer epochs, rounds and layouts: a first look in a minute
  --results=DIR       where results go (default results/ in the kit)
  --rounds=N          rounds an epoch, 2 to 100000 (default 24, quick 12)
  --seed=N            seed of every random order (default 1)
  --slice-ms=N        length of a slice, 1 to 1000 ms (default 10)
  --strict            with --gate: exit 3 when the interval of a variant does not tell
  --summary=FILE      also append Markdown, as GitHub's step summary wants it
  --until-decided     stop at a look where every variant has a verdict
  --variants=LIST     files of reproducers/variants, comma-separated, or all (default: the scenario's)

The result is a folder DIR/<utc>-$name with the report, the plots and everything they were made of.
A run that was interrupted goes on where it stopped when called again with the same options.

Exit status: 0 done, 1 a variant could not be built or run, or the gate failed, 2 wrong usage, 3 the
gate cannot tell (--strict).

Example: scenarios/$name/run --quick --cc gcc --variants meson-static,meson-static-nopic
USAGE
}

parse_options() {
  baseline='' ccs=gcc,clang device='' dpdks=22.11 epochs='' forwarder=kit function_sections=no gate='' half_width=0 layouts='' linkers=''
  looks='' margin=1 max_wait='' huge=yes offline=no quick=no results=$kit/results rounds='' seed=1 slice_ms=10 until_decided=no variants=''
  junit='' strict=no summary='' localise=no perf_events=''
  own_a=() own_b=()
  given=("$@")
  while [ $# -gt 0 ]; do
    if [[ $1 == --*=* ]]; then set -- "${1%%=*}" "${1#*=}" "${@:2}"; fi
    case $1 in
      --a) need_value "$@"; own_a+=("$2"); shift 2 ;;
      --b) need_value "$@"; own_b+=("$2"); shift 2 ;;
      --baseline) need_value "$@"; baseline=$2; shift 2 ;;
      --cc) need_value "$@"; ccs=$2; shift 2 ;;
      --device) need_value "$@"; device=$2; shift 2 ;;
      --dpdk) need_value "$@"; dpdks=$2; shift 2 ;;
      --epochs) need_value "$@"; epochs=$2; shift 2 ;;
      --forwarder) need_value "$@"; forwarder=$2; shift 2 ;;
      --function-sections) function_sections=yes; shift ;;
      --gate) need_value "$@"; gate=${2%\%}; shift 2 ;;
      --half-width) need_value "$@"; half_width=${2%\%}; shift 2 ;;
      --help) usage; exit 0 ;;
      --junit) need_value "$@"; junit=$2; shift 2 ;;
      --layouts) need_value "$@"; layouts=$2; shift 2 ;;
      --linker) need_value "$@"; linkers=$2; shift 2 ;;
      --localise) localise=yes; shift ;;
      --looks) need_value "$@"; looks=$2; shift 2 ;;
      --margin) need_value "$@"; margin=${2%\%}; shift 2 ;;
      --max-wait) need_value "$@"; max_wait=${2%\%}; shift 2 ;;
      --no-huge) huge=no; shift ;;
      --offline) offline=yes; shift ;;
      --perf-events) need_value "$@"; perf_events=$2; shift 2 ;;
      --quick) quick=yes; shift ;;
      --results) need_value "$@"; results=$2; shift 2 ;;
      --rounds) need_value "$@"; rounds=$2; shift 2 ;;
      --seed) need_value "$@"; seed=$2; shift 2 ;;
      --slice-ms) need_value "$@"; slice_ms=$2; shift 2 ;;
      --strict) strict=yes; shift ;;
      --summary) need_value "$@"; summary=$2; shift 2 ;;
      --until-decided) until_decided=yes; shift ;;
      --variants) need_value "$@"; variants=$2; shift 2 ;;
      *) die "unknown argument '$1'; see scenarios/$name/run --help" ;;
    esac
  done
  if [ "$quick" = yes ]; then
    : "${epochs:=4}" "${layouts:=4}" "${rounds:=12}"
  else
    : "${epochs:=8}" "${layouts:=8}" "${rounds:=24}"
  fi
}

# percent NAME VALUE: exit 2 unless VALUE is a number of percent.
percent() {
  [[ $2 =~ ^[0-9]{1,3}(\.[0-9]{1,6})?$ ]] || die "--$1 takes percent, 0 to 999, not '$2'"
}

# check_device: settles the device; where the software NIC cannot run, ring takes its place, with a warning.
check_device() {
  local reason instead=ring
  warnings=()
  # The frames on net_ring ports are put there by the kit's forwarder.
  [ "$forwarder" = kit ] || instead=null
  case $device in
    ring | null) return ;;
    *) ;;
  esac
  if [ -z "${scenario_of[nic]}" ] || [ "${#tp_devices[@]}" -eq 0 ]; then
    [ -z "$device" ] || die "scenario $name names no NIC (nic, and -w or -a in its command); use --device ring"
    device=$instead
  elif reason=$("$kit/reproducers/softnic" --check 2>&1); then
    device=software
  else
    [ -z "$device" ] || die "${reason#mppsdiff: }"
    device=$instead
    warnings+=("the software ConnectX cannot run here: ${reason#mppsdiff: }; net_$instead ports took its place, and they run no NIC driver")
  fi
}

# has_forwarder NAME: whether that one, kit or testpmd, is measured.
has_forwarder() {
  [ "$forwarder" = both ] || [ "$forwarder" = "$1" ]
}

# check_forwarder: what testpmd cannot do is said before anything is built.
check_forwarder() {
  local variant
  case $forwarder in kit | testpmd | both) ;; *) die "unknown forwarder '$forwarder'; known: kit testpmd both" ;; esac
  has_forwarder testpmd || return 0
  [ "$device" != ring ] || die "--device ring with --forwarder $forwarder: frames circulate on net_ring ports through the kit's forwarder alone; use --device null or software"
  [ "$localise" = no ] || [ "$forwarder" = both ] || die "--localise with --forwarder testpmd: it traces the kit's forwarder; use --forwarder both"
  [ "$(machine_cpus | wc -l)" -gt 1 ] || die "--forwarder $forwarder: testpmd needs two CPUs, its prompt one and its forwarding another; use --forwarder kit"
  for variant in "${variant_list[@]}"; do
    variant_load "$variant"
    [ "${variant_of[build]}" = meson ] || die "--forwarder $forwarder: $variant is built by make, and the kit builds testpmd by meson only; leave it out of --variants"
    [ "${variant_of[library]}" = static ] || die "--forwarder $forwarder: $variant is shared libraries, and testpmd loads its drivers by itself there; leave it out of --variants"
  done
}

# own_variants: --a and --b become two variants like all others, their data files in $work/variants.
own_variants() {
  question='Does this way of building DPDK cost packets per second?'
  [ "${#own_b[@]}" -gt 0 ] || [ "${#own_a[@]}" -eq 0 ] || die "--a is what --b is compared with; give --b too"
  [ "${#own_b[@]}" -gt 0 ] || return 0
  [ -z "$variants$baseline" ] || die "--a and --b are the variants, and a is the baseline; leave out --variants and --baseline"
  mkdir "$work/variants"
  variant_own a "$work/variants" "${own_a[@]}"
  variant_own b "$work/variants" "${own_b[@]}"
  [ "$(variant_load a && variant_text)" != "$(variant_load b && variant_text)" ] || die "--a and --b are the same variant; nothing to compare"
  variants=a,b baseline=a
  question="Does b (${VARIANT_GIVEN[b]}) cost packets against a (${VARIANT_GIVEN[a]})?"
}

check_options() {
  local variant cc spec
  in_range epochs "$epochs" 1 1000
  in_range layouts "$layouts" 0 100
  in_range rounds "$rounds" 2 100000
  in_range seed "$seed" 0 999999999
  in_range slice-ms "$slice_ms" 1 1000
  percent margin "$margin"
  [ -z "$max_wait" ] || percent max-wait "$max_wait"
  [ -z "$looks" ] || in_range looks "$looks" 1 "$PLAN_LOOKS_MOST"
  percent half-width "$half_width"
  # 0.0 is no rule either
  [[ $half_width =~ [1-9] ]] || half_width=0
  plan_looks "$epochs" "$looks" "$half_width" "$until_decided"
  looks=$PLAN_LOOKS
  [ -z "$gate" ] || percent gate "$gate"
  case $device in '' | software | ring | null) ;; *) die "unknown device '$device'; known: software ring null" ;; esac
  check_linkers
  own_variants
  variants=${variants:-${scenario_of[variants]}}
  [ "$variants" != all ] || variants=$(keyfile_list variant | paste -sd,)
  IFS=', ' read -r -a variant_list <<<"$variants"
  if [ "$ccs" = all ]; then
    mapfile -t cc_list < <(compilers_installed)
    [ "${#cc_list[@]}" -gt 0 ] || die "--cc all: no gcc and no clang on the PATH; install one: apt-get install $(compiler_package gcc)"
  else
    IFS=, read -r -a cc_list <<<"$ccs"
  fi
  IFS=, read -r -a dpdk_list <<<"$dpdks"
  for spec in "${dpdk_list[@]}"; do
    [ -n "$spec" ] || die "--dpdk takes names separated by one comma each, not '$dpdks'"
    [ "$(printf '%s\n' "${dpdk_list[@]}" | grep -cxF -- "$spec")" -eq 1 ] || die "--dpdk names '$spec' twice; a release is measured once"
  done
  baseline=${baseline:-${scenario_of[baseline]}}
  check_forwarder
  # Everything is read before anything runs, so that a bad file loses nothing.
  for variant in "${variant_list[@]}"; do variant_load "$variant"; done
  for cc in "${cc_list[@]}"; do
    variant_check_compiler "$cc"
    # Of several linkers one that cannot do it is a row with the reason.
    [ "${#linker_list[@]}" -le 1 ] || continue
    for variant in "${variant_list[@]}"; do
      variant_load "$variant"
      variant_check_linker "$cc" "${linker_list[0]-}"
    done
  done
  list_toolchains
  [[ " ${variant_list[*]} " == *" $baseline "* ]] ||
    die "the baseline '$baseline' is not among the variants (${variant_list[*]}); add it to --variants or name another with --baseline"
  variant_load "$baseline"
  [ -z "${variant_of[expected_error]}" ] || die "the baseline '$baseline' is expected to fail; name another with --baseline"
}

# check_linkers: fills linker_list; exit 2 for one that is unknown, named twice or not on the machine.
check_linkers() {
  local linker
  IFS=, read -r -a linker_list <<<"$linkers"
  for linker in "${linker_list[@]}"; do
    case $linker in bfd | gold | lld | mold) ;; *) die "unknown linker '$linker'; known: bfd gold lld mold" ;; esac
    [ "$(printf '%s\n' "${linker_list[@]}" | grep -cx "$linker")" -eq 1 ] || die "--linker names '$linker' twice; each is given once"
    need_linker "$linker"
  done
  [ "$localise" = no ] || [ "${#linker_list[@]}" -le 1 ] || die "--localise links its mixtures with one linker; name one with --linker"
}

# list_toolchains: toolchain_list, what the rows have as their compiler: gcc, or gcc+lld where there are several
# linkers; compiler_of and linker_of each.
list_toolchains() {
  local cc linker
  toolchain_list=()
  declare -gA compiler_of=() linker_of=()
  for cc in "${cc_list[@]}"; do
    if [ "${#linker_list[@]}" -le 1 ]; then
      toolchain_list+=("$cc")
      compiler_of[$cc]=$cc linker_of[$cc]=${linker_list[0]-}
      continue
    fi
    for linker in "${linker_list[@]}"; do
      toolchain_list+=("$cc+$linker")
      compiler_of[$cc+$linker]=$cc linker_of[$cc+$linker]=$linker
    done
  done
}

load_scenario() {
  declare -gA scenario_of=()
  scenario_file=$1/scenario.conf
  keyfile_read "$scenario_file" scenario_of "${SCENARIO_KEYS[@]}" || exit 2
  command_line=${KEYFILE_LINES[command]}
  testpmd_parse "${scenario_of[command]}" ||
    keyfile_error "$scenario_file" "$command_line" "bad command: $TESTPMD_REASON" || exit 2
}

# build_tools: the kit's own C, when a tool is missing or older than its sources.
build_tools() {
  [ -z "${MPPSDIFF_TOOLS:-}" ] || { tools=$MPPSDIFF_TOOLS; return; }
  tools=$kit/build/fwd/tools
  supervise "$kit/reproducers/tools" || exit $?
}

# get_sources: the identity of each release; of several, one that cannot be fetched has a reason instead, and goes
# by the name it was asked for.
get_sources() {
  local spec release file status
  local -a options=()
  local -A spec_of=()
  [ "$offline" = no ] || options+=(--offline)
  releases=()
  declare -gA source_file=() source_reason=()
  for spec in "${dpdk_list[@]}"; do
    file=$work/source-${#releases[@]} status=0
    supervise "$kit/reproducers/source" --dpdk "$spec" --error-file "$work/error" "${options[@]}" >"$file" || status=$?
    if [ "$status" -eq 0 ]; then
      release=$(sed -n 's/^release=//p' "$file")
    elif [ "$status" -eq 1 ] && [ "${#dpdk_list[@]}" -gt 1 ]; then
      release=$(release_name "$spec")
      printf 'release=%s\nfrom=%s\n' "$release" "$spec" >"$file"
      source_reason[$release]=$(cat "$work/error")
    else
      exit "$status"
    fi
    [ -z "${spec_of[$release]:-}" ] || die "--dpdk: ${spec_of[$release]} and $spec are both DPDK $release, and their rows could not be told apart; name one of them"
    spec_of[$release]=$spec
    source_file[$release]=$file
    releases+=("$release")
  done
}

release_name() { # SPEC: what tables call a release of which there is no tree
  local name=${1%/}
  case $name in
    git:*) name=${name##*@} ;;
    */*) name=${name##*/} ;;
  esac
  printf '%s\n' "${name//[!A-Za-z0-9.:_+-]/_}"
}

source_value() { # RELEASE KEY
  sed -n "s/^$2=//p" "${source_file[$1]}"
}

# build_name VARIANT CC RELEASE: what the files of one build are called in the result.
build_name() {
  local name=$1-${2##*/}
  [ "${#dpdk_list[@]}" -eq 1 ] || name+=-$3
  printf '%s\n' "$name"
}

# of_release RELEASE [WORD]: " with DPDK RELEASE", or with another word before it, where there are several.
of_release() {
  [ "${#releases[@]}" -eq 1 ] || printf ' %s DPDK %s\n' "${2:-with}" "$1"
}

# build_all: one row of builds.tsv a variant, compiler and release; a failure is a row, and the rest goes on.
build_all() {
  local variant cc release
  builds_done=0 builds_total=$((${#variant_list[@]} * ${#toolchain_list[@]} * ${#releases[@]}))
  declare -gA folder_of=()
  : >"$work/binaries"
  proof_header >"$work/builds.tsv"
  mkdir -p "$work/proof"
  proof_constants_header >"$work/proof/constants.tsv"
  proof_functions_header >"$work/proof/inlining.tsv"
  proof_notes_header >"$work/proof/notes.tsv"
  for release in "${releases[@]}"; do
    for cc in "${toolchain_list[@]}"; do
      for variant in "${variant_list[@]}"; do build_one "$variant" "$cc" "$release"; done
    done
  done
  for release in "${releases[@]}"; do
    for cc in "${toolchain_list[@]}"; do
      for variant in "${variant_list[@]}"; do
        [ -n "${folder_of[$release/$cc/$variant]:-}" ] || continue
        note_step "link and prove: DPDK $release, $variant, $cc"
        link_all "$variant" "$cc" "$release"
      done
    done
  done
  find_measured
}

# find_measured: the releases of which a forwarder can be measured.
find_measured() {
  mapfile -t measured_releases < <(awk -F '\t' '!seen[$3]++ { print $3 }' "$work/binaries")
}

# build_one VARIANT CC RELEASE: its folder, in folder_of, or a row with the reason.
build_one() {
  local status=0
  local -a which=(--variant "$1")
  note_step "build $((++builds_done)) of $builds_total: DPDK $3, $1, $2"
  if [ -n "${source_reason[$3]:-}" ]; then
    printf '%s\n' "${source_reason[$3]}" >"$work/error"
    failed_row "$@" 'source failed'
    return
  fi
  variant_load "$1"
  # In a shell of its own: a variant that this release cannot have is a row, as one that does not compile is.
  if ! (variant_check_source "$(source_value "$3" tree)" "$3") 2>"$work/error"; then
    sed -i 's/^mppsdiff: //' "$work/error"
    failed_row "$@" 'build failed'
    return
  fi
  [ -z "${VARIANT_FILES[$1]:-}" ] || which=(--variant-file "${VARIANT_FILES[$1]}")
  supervise "$kit/reproducers/build" --identity "${source_file[$3]}" "${which[@]}" --cc "${compiler_of[$2]}" \
    --error-file "$work/error" "${build_options[@]}" >"$work/out" || status=$?
  case $status in
    0) built "$@" ;;
    1) failed_row "$@" 'build failed' ;;
    *) exit "$status" ;;
  esac
}

# built VARIANT CC RELEASE: notes the folder; a build that was expected to fail and did not is worth a word.
built() {
  folder_of[$3/$2/$1]=$(cat "$work/out")
  variant_load "$1"
  [ -z "${variant_of[expected_error]}" ] ||
    warnings+=("$1 with ${2##*/}$(of_release "$3" and) was expected to fail (${variant_of[expected_error]}) and did not: it was built, and is treated as any other")
}

# link_one DIR OPTION...: links, and leaves the binary's path in $work/out.
link_one() {
  supervise "$kit/reproducers/link" --build "$1" --error-file "$work/error" "${@:2}" >"$work/out"
}

# link_all VARIANT CC RELEASE: the binary as built, its proof, and the layouts; with both forwarders of both.
link_all() {
  local seed_now binary which dir=${folder_of[$3/$2/$1]} linker=${linker_of[$2]}
  local -a options shuffled_by=()
  if [ "${#linker_list[@]}" -gt 1 ]; then
    shuffled_by=(--linker "$linker")
    variant_load "$1"
    if ! (variant_check_compiler "${compiler_of[$2]}" && variant_check_linker "${compiler_of[$2]}" "$linker") 2>"$work/error"; then
      sed -i 's/^mppsdiff: //' "$work/error"
      failed_row "$@" 'link failed'
      return
    fi
  fi
  for which in "${forwarders[@]}"; do
    options=()
    [ "$which" = kit ] || options=(--testpmd)
    link_one "$dir" "${options[@]}" ${linker:+--linker "$linker"} || { not_linked "$which" "$@"; return 0; }
    binary=$(cat "$work/out")
    if [ "$which" = "${forwarders[0]}" ]; then
      proof_row "$1" "$2" "$dir" "${folder_of[$3/$2/$baseline]:-}" "$binary" "$work" "$(build_name "$@")" || { failures=$((failures + 1)); return 0; }
    else
      proof_testpmd "$1" "$2" "$3" "$dir" "$binary" "$work/proof/$(build_name "$@")" "$work" || { no_testpmd "$1" "$2" "$3" "$PROOF_REASON"; return 0; }
    fi
    note_binary "$1" "$2" "$3" 0 "$which"
    for ((seed_now = 1; seed_now <= layouts; seed_now++)); do
      link_one "$dir" "${options[@]}" --seed "$seed_now" "${shuffled_by[@]}" || { not_linked "$which" "$@"; return 0; }
      note_binary "$1" "$2" "$3" "$seed_now" "$which"
    done
  done
}

not_linked() { # FORWARDER VARIANT CC RELEASE
  if [ "$1" = "${forwarders[0]}" ]; then failed_row "${@:2}" 'link failed'; else no_testpmd "${@:2}" "$(cat "$work/error")"; fi
}

note_binary() { # VARIANT CC RELEASE LAYOUT FORWARDER: what link_one has linked is to be measured
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "${2##*/}" "$3" "$4" "$(cat "$work/out")" "$5" >>"$work/binaries"
}

# no_testpmd VARIANT CC RELEASE REASON: the kit's forwarder is measured alone; the report says why.
no_testpmd() {
  warn "testpmd of $1 with ${2##*/}$(of_release "$3"): $4; it is not measured"
  warnings+=("testpmd of $1 with ${2##*/}$(of_release "$3") is not measured: $4")
  failures=$((failures + 1))
}

# failed_row VARIANT CC RELEASE STATUS: a row of builds.tsv from the error the step printed. A build that fails with
# the words its data file expects is an answer and no failure of the run.
failed_row() {
  local reason log name status=$4
  reason=$(tr '\t\n' '  ' <"$work/error" | sed 's, *$,,')
  variant_load "$1"
  if [ -n "${variant_of[expected_error]}" ] && [[ $reason == *"${variant_of[expected_error]}"* ]]; then
    status='fails as expected'
  else
    failures=$((failures + 1))
  fi
  log=$(sed -n 's/.*(log: \(.*\))$/\1/p' <<<"$reason" | tail -n 1)
  name=$(build_name "$@")
  if [ -n "$log" ]; then
    mkdir -p "$work/logs"
    cp -f "$log" "$work/logs/$name.log" && log=logs/$name.log
  fi
  proof_failed "$1" "${2##*/}" "$3" "$status" "$reason" "${log:--}" >>"$work/builds.tsv"
}

note_step() { # TEXT: what is going on, for people only
  [ ! -t 2 ] || note "$1"
}

# take_hugepages: reserves what all processes of one epoch need, those of the release that needs most, or falls
# back to --no-huge.
take_hugepages() {
  local release which processes sum text megabytes=0
  hugepages_text=--no-huge
  if [ "$huge" = yes ]; then
    if hugepages_reserve "$PROBE_MEGABYTES" && probe_forwarders; then
      drop_unstarted
      for release in "${measured_releases[@]}"; do
        sum=0 text=
        for which in "${forwarders[@]}"; do
          processes=$(processes_of "$release" "$which")
          sum=$((sum + processes * ${probed_of[$release/$which]:-0}))
          text+="${text:+ and }$processes $(forwarder_word "$which") of ${probed_of[$release/$which]:-0} MB"
        done
        [ "$sum" -gt "$megabytes" ] || continue
        megabytes=$sum
        hugepages_text="reserved for $text"
      done
    fi
    if [ "$megabytes" -gt 0 ] && { [ "$megabytes" -le "$PROBE_MEGABYTES" ] || hugepages_reserve $((megabytes - PROBE_MEGABYTES)); }; then
      return
    fi
    warn "no hugepages (${HUGEPAGES_REASON:-a forwarder does not start with them}); forwarding without them, and the report says so"
    huge=no hugepages_text=--no-huge
  fi
  probe_forwarders || true
  drop_unstarted
}

# Forwarders of one epoch when the cycles of libraries are measured: the baseline twice, all libraries, and each
# library that differs, as built, and a layout of each; two libraries differ, say.
LOCALISE_PROCESSES=9

forwarder_word() { # NAME: of several
  if [ "$1" = kit ]; then printf 'forwarders\n'; else printf 'testpmd\n'; fi
}

# processes_of RELEASE FORWARDER: how many of its forwarders live at once: each binary as built, the baseline's twice, and
# one layout of each variant.
processes_of() {
  local least=0
  [ "$localise" = no ] || [ "$layouts" -eq 0 ] || [ "$2" != kit ] || least=$LOCALISE_PROCESSES
  awk -F '\t' -v baseline="$baseline" -v dpdk="$1" -v which="$2" -v least="$least" '
    $3 != dpdk || $6 != which { next }
    $4 == 0 { n++; if ($1 == baseline) n++ }
    $4 == 1 { n++ }
    END { print (n > least ? n : least) + 0 }' "$work/binaries"
}

# What a first forwarder may take while its need is measured; mlx5's multi-packet queues take the most.
PROBE_MEGABYTES=1024

# probe_forwarders: starts every binary as built once, one after the other. Those that do not start stand in
# $work/unstarted with the reason; probed_of[RELEASE/FORWARDER] is the most MB one of its forwarders holds in hugepages,
# 0 without them. 1 when none starts.
probe_forwarders() {
  local variant cc dpdk layout binary which started=no
  declare -gA probed_of=()
  : >"$work/unstarted"
  while IFS=$'\t' read -r variant cc dpdk layout binary which; do
    [ "$layout" -eq 0 ] || continue
    note_step "first start: DPDK $dpdk, $variant, $cc, $which"
    if probe_forwarder "$dpdk" "$binary" "$which"; then
      started=yes
    else
      printf '%s\t%s\t%s\t%s\t%s\n' "$variant" "$cc" "$dpdk" "$which" "$PROBE_REASON" >>"$work/unstarted"
    fi
  done <"$work/binaries"
  [ "$started" = yes ]
}

# drop_unstarted: forwarders that do not start (for a CPU this machine is not, say) are rows with the reason, and the
# rest goes on.
drop_unstarted() {
  local variant cc dpdk which reason
  while IFS=$'\t' read -r variant cc dpdk which reason; do
    awk -F '\t' -v variant="$variant" -v cc="$cc" -v dpdk="$dpdk" -v which="$which" \
      '$1 != variant || $2 != cc || $3 != dpdk || (which == "testpmd" && $6 != which)' "$work/binaries" >"$work/binaries.new"
    mv -f "$work/binaries.new" "$work/binaries"
    if [ "$forwarder" = both ] && [ "$which" = testpmd ]; then
      no_testpmd "$variant" "$cc" "$dpdk" "it does not start: $reason"
      continue
    fi
    warn "$variant with $cc$(of_release "$dpdk" and) does not start: $reason; it is shown and not measured"
    failures=$((failures + 1))
    REASON=$reason awk -F '\t' -v OFS='\t' -v variant="$variant" -v cc="$cc" -v dpdk="$dpdk" '
      $1 == variant && $2 == cc && $4 == dpdk { $5 = "run failed"; $6 = ENVIRON["REASON"] } { print }' "$work/builds.tsv" >"$work/builds.new"
    mv -f "$work/builds.new" "$work/builds.tsv"
  done <"$work/unstarted"
  [ -s "$work/binaries" ] || fail "no forwarder starts; nothing to measure (first: $(sed -n '1{s/.*\t//;p}' "$work/unstarted"))"
  find_measured
}

# probe_forwarder RELEASE BINARY FORWARDER: starts it once and raises probed_of to what it holds in hugepages when it is
# ready. Drivers allocate by rules of their own, so this is measured and not computed. 1 and PROBE_REASON when it
# does not start; a command it does not accept ends the run: every other would refuse it.
probe_forwarder() {
  local pid hold megabytes status=0
  local -a arguments environment=()
  mapfile -t arguments < <(forwarder_arguments "$1" "$3")
  [ "$3" = kit ] || mapfile -t environment < <(testpmd_environment "$device")
  rm -f "$work/probe.in" "$work/probe.out"
  mkfifo "$work/probe.in"
  exec {hold}<>"$work/probe.in"
  "${launcher[@]}" env "${environment[@]}" "$2" "${arguments[@]//@PROCESS@/probe}" \
    <"$work/probe.in" >"$work/probe.out" 2>"$work/probe.log" &
  pid=$!
  defer kill_quietly "$pid"
  poll_until 60 probe_answered "$pid" || true
  if grep -q -e '^ready' -e '^testpmd> ' "$work/probe.out"; then
    # A spare tenth: pages of other processes' starts overlap in time.
    megabytes=$(awk '/_Hugetlb:/ { kb += $2 } END { if (kb) printf "%d\n", kb / 1024 * 1.1 + 4 }' "/proc/$pid/smaps_rollup")
    if [ "${megabytes:-0}" -gt "${probed_of[$1/$3]:-0}" ]; then probed_of[$1/$3]=$megabytes; fi
    : "${probed_of[$1/$3]:=0}"
    kill_quietly "$pid"
  else
    kill "$pid" 2>/dev/null || true
    wait "$pid" || status=$?
    [ "$3" != kit ] || refuse_command "$status"
    PROBE_REASON=$(unstarted_reason "$status")
    status=1
  fi
  exec {hold}>&-
  return "$status"
}

# unstarted_reason STATUS: the last word of a forwarder that did not start.
unstarted_reason() {
  local line
  line=$(sed -n '/^ERROR: /{p;q}' "$work/probe.log")
  line=${line:-$(grep -v '^EAL: ' "$work/probe.log" | sed -n '$p')}
  line=${line:-$(sed -n '$p' "$work/probe.log")}
  case $1 in
    132) line="illegal instruction: code for another CPU than this${line:+; it said: $line}" ;;
    143 | 0) ;;
    *) [ "$1" -le 128 ] || line="it died of signal $(($1 - 128))${line:+; it said: $line}" ;;
  esac
  tr -d '\r' <<<"${line:-no word of why}" | tr '\t' ' ' | cut -c1-300
}

probe_answered() { # PID: it is ready, or has ended
  grep -q -e '^ready' -e '^testpmd> ' "$work/probe.out" 2>/dev/null || ! kill -0 "$1" 2>/dev/null
}

# refuse_command STATUS: 2 is the forwarder's word for options it does not take; they are the scenario's.
refuse_command() {
  local reason
  [ "$1" -eq 2 ] || return 0
  reason=$(sed -n 's/^mppsdiff: //p' "$work/probe.log" | sed -n 1p)
  keyfile_error "$scenario_file" "$command_line" "bad command: ${reason:-$(sed -n '$p' "$work/probe.log")}" || true
  exit 2
}

# forwarder_arguments RELEASE FORWARDER: EAL's and the application's options of one forwarder, one a line.
forwarder_arguments() {
  testpmd_eal_arguments "$1" "$device" "$huge" "$NO_HUGE_MEGABYTES"
  printf '%s\n' --file-prefix=mppsdiff-@PROCESS@ --
  if [ "$2" = kit ]; then testpmd_app_arguments; else testpmd_own_arguments "$1"; fi
  [ "$device" != ring ] || printf -- '--ring-ports=%d\n' "$(scenario_ports)"
}

# Address space of a forwarder without hugepages; only what it touches takes memory.
NO_HUGE_MEGABYTES=1024

# write_plan: plan.tsv. Releases take turns, an epoch each: only one's forwarders have to live at a time, and the
# slices that are compared stay close together.
write_plan() {
  local release turn=0 plan_arguments
  for release in "${measured_releases[@]}"; do
    turn=$((turn + 1))
    plan_arguments=$(forwarder_arguments "$release" kit | paste -sd ' ')
    awk -F '\t' -v dpdk="$release" '$3 == dpdk' "$work/binaries" |
      plan_write "$seed" "$epochs" "$layouts" "$baseline" "$plan_arguments" "$turn" "${#measured_releases[@]}" \
        "$(forwarder_arguments "$release" testpmd | paste -sd ' ')" "$(testpmd_environment "$device" | paste -sd ' ')"
  done | plan_join
}

# run_key: what makes two runs the same run: an interrupted one resumes only with the same key.
run_key() {
  local file
  {
    printf '%s\n' "$name" "$rounds" "$slice_ms" "$margin" "$half_width" "$looks" "$until_decided" "$max_wait" "$perf_events" "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || true)"
    cat "$work/plan.tsv"
    cut -f5 "$work/binaries" | while IFS= read -r file; do printf '%s\n' "$file"; binary_libraries "$file"; done | xargs -d '\n' sha256sum
    sha256sum "$tools/slices"
  } | sha256sum | cut -c1-16
}

# check_results_space: a run writes some megabytes; a full disk would show in whatever writes first.
check_results_space() {
  local free
  free=$(df -Pk "$results" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge 20480 ] || die "no space left in $results ($((free / 1024)) MB free, 20 needed); free some, or choose another folder with --results"
}

# say_resumable: after a signal, how to go on.
say_resumable() {
  [ "${status:-0}" -gt 128 ] && [ -f "$part/plan.tsv" ] && [[ $part == */.part-* ]] || return 0
  note "interrupted with $(epochs_text) epochs measured; the same command goes on from there"
}

epochs_measured() { # of all releases together
  find "$part/slices" -name 'epoch-*.tsv' 2>/dev/null | wc -l
}

epochs_text() { # "3 of 8"
  printf '%d of %d\n' "$(epochs_measured)" $((epochs * ${#measured_releases[@]}))
}

# open_part: the hidden folder the result grows in; an interrupted run's one is taken up again.
open_part() {
  local variant
  part=$results/.part-$name-$(run_key)
  mkdir -p "$part" || die "cannot write $results; choose another folder with --results"
  exec {part_lock}>"$part/.lock"
  flock -n "$part_lock" || die "the same run is going on in $part; wait for it, or choose another --seed"
  defer say_resumable
  if [ -f "$part/plan.tsv" ]; then
    note "resuming: $(epochs_text) epochs are done"
  fi
  rm -rf "$part/proof" "$part/logs" "$part/variants"
  cp -rf "$work/plan.tsv" "$work/builds.tsv" "$part/"
  [ ! -d "$work/proof" ] || cp -rf "$work/proof" "$part/"
  [ ! -d "$work/logs" ] || cp -rf "$work/logs" "$part/"
  mkdir "$part/variants"
  for variant in "${variant_list[@]}"; do cp "$(variant_file "$variant")" "$part/variants/$variant.conf"; done
}

# localise_all: for each variant that was measured, where its difference to the baseline lies.
localise_all() {
  local variant cc release
  [ "$localise" = yes ] || return 0
  for release in "${measured_releases[@]}"; do
    for cc in "${toolchain_list[@]}"; do
      is_measured "$baseline" "$cc" "$release" || continue
      for variant in "${variant_list[@]}"; do
        [ "$variant" != "$baseline" ] && is_measured "$variant" "$cc" "$release" || continue
        localise_one "$variant" "$cc" "$release"
      done
    done
  done
  join_localised
}

# localise_one VARIANT CC RELEASE: unless a run that was interrupted has done it.
localise_one() {
  local name status=0
  local -a arguments
  name=$(build_name "$@")
  [ ! -d "$part/localise/$name" ] || return 0
  note_step "localise: DPDK $3, $1, $2"
  mapfile -t arguments < <(forwarder_arguments "$3" kit)
  supervise "$kit/reproducers/localise" --baseline "${folder_of[$3/$2/$baseline]}" --variant "${folder_of[$3/$2/$1]}" \
    --out "$part/localise/$name" --iterations "$(traced_iterations)" --margin "$margin" --seed "$seed" \
    "${localise_device[@]}" "${localise_cycles[@]}" -- "${arguments[@]}" || status=$?
  [ "$status" -le 1 ] || exit "$status"
  [ "$status" -eq 0 ] || warnings+=("localise: $1 with ${2##*/}$(of_release "$3") is not complete; see localise/$name/parts.tsv")
}

is_measured() { # VARIANT CC RELEASE: its build is a row of builds.tsv that was measured
  awk -F '\t' -v variant="$1" -v cc="${2##*/}" -v dpdk="$3" '
    $1 == variant && $2 == cc && $4 == dpdk && $5 == "ok" { found = 1 }
    END { exit !found }' "$part/builds.tsv"
}

# traced_iterations: so many that about a thousand packets are traced, which takes some seconds.
traced_iterations() {
  local streams=$(($(scenario_ports) * ${tp_app[rxq]:-1})) n
  n=$((1024 / (streams * ${tp_app[burst]:-32})))
  printf '%d\n' $((n > 0 ? n : 1))
}

# localise_options: sets the options that every localise gets.
localise_options() {
  localise_device=() localise_cycles=()
  [ "$device" != software ] || localise_device=(--nic "${scenario_of[nic]}" --pci "$(device_addresses)")
  [ "$layouts" -eq 0 ] || localise_cycles=(--cycles --epochs "$epochs" --layouts "$layouts" --rounds "$rounds" --slice-ms "$slice_ms"
    --control-cpu "$scaled_control" --cpus "$(IFS=,; printf '%s' "${scaled_cpus[*]}")")
}

# join_localised: one table of each kind over all variants, compilers and releases.
join_localised() {
  local file dir
  for file in parts functions counts effects; do
    for dir in "$part"/localise/*/; do
      [ -f "$dir/$file.tsv" ] || continue
      dir=${dir%/}
      awk -F '\t' -v OFS='\t' -v variant="$(sed -n 1p "$dir/variant")" -v cc="$(sed -n 2p "$dir/variant")" -v dpdk="$(sed -n 3p "$dir/variant")" '
        # effects.tsv calls the part that was exchanged a variant, and has the compiler of its own.
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "cc" || $i == "dpdk") drop[i] = 1; else if ($i == "variant") $i = "part" }
        {
          line = NR == 1 ? "variant" OFS "cc" OFS "dpdk" : variant OFS cc OFS dpdk
          for (i = 1; i <= NF; i++) if (!(i in drop)) line = line OFS $i
          print line
        }' "$dir/$file.tsv"
    done | awk 'NR == 1 { head = $0 } NR == 1 || $0 != head' >"$part/localise/$file.tsv"
    [ -s "$part/localise/$file.tsv" ] || rm -f "$part/localise/$file.tsv"
  done
}

# shell_words WORD...: as one would type them; double quotes, in which a report can break a long line.
shell_words() {
  local word line=''
  for word; do
    # shellcheck disable=SC2001 # in a bash substitution & means the match from 5.2 on only
    [[ $word =~ ^[A-Za-z0-9_./:=,@%+-]+$ ]] || word=\"$(sed 's/[\\"$`]/\\&/g' <<<"$word")\"
    line+="${line:+ }$word"
  done
  printf '%s' "$line"
}

# variants_json: name and title of every variant, and what --a and --b gave.
variants_json() {
  local variant
  for variant in "${variant_list[@]}"; do
    variant_load "$variant"
    jq -n --arg name "$variant" --arg title "${variant_of[title]}" --arg given "${VARIANT_GIVEN[$variant]:-}" \
      '{name: $name, title: $title} + (if $given == "" then {} else {given: $given} end)'
  done | jq -s .
}

# json_lines: the lines of stdin as a JSON array of strings.
json_lines() {
  jq -Rn '[inputs | select(. != "")]'
}

compilers_json() {
  awk -F '\t' 'NR > 1 && !seen[$2]++ { linker = ""; if (match($2, /[+](bfd|gold|lld|mold)$/)) linker = ", " substr($2, RSTART + 1); print $2 "\t" $3 linker }' "$work/builds.tsv" |
    jq -Rn '[inputs | split("\t") | {name: .[0], version: .[1]}]'
}

# device_addresses: the PCI addresses of the scenario's command, comma-separated.
device_addresses() {
  printf '%s\n' "${tp_devices[@]%%,*}" | paste -sd,
}

# ready_lines RELEASE: what its processes said when they were ready.
ready_lines() {
  local epoch file
  while IFS= read -r epoch; do
    printf -v file '%s/slices/epoch-%03d.ready' "$part" "$epoch"
    [ ! -f "$file" ] || awk -F '\t' 'NR > 1 && $2 ~ /^ready/ { print $2 }' "$file"
  done < <(awk -F '\t' -v dpdk="$1" 'NR > 1 && $5 == dpdk && !seen[$1]++ { print $1 }' "$part/plan.tsv")
}

# check_bursts: every process must have got one of the burst functions the scenario is about; a driver
# that silently fell back to another would answer another question. Before 20.11 mlx5 had fewer of them.
check_bursts() {
  local release kind want got
  [ "$device" = software ] || return 0
  for release in "${measured_releases[@]}"; do
    release_at_least "$release" 20.11 || continue
    for kind in rx tx; do
      want=${scenario_of[${kind}_burst]}
      [ -n "$want" ] || continue
      got=$(ready_lines "$release" | sed -n "s/.* ${kind}_burst=\([^ ]*\).*/\1/p" | sort -u | grep -vFx -f <(tr ' ' '\n' <<<"$want") | paste -sd, || true)
      [ -z "$got" ] || fail "the driver$(of_release "$release") chose the $kind burst function $got, and the scenario is about $want; see $part/slices"
    done
  done
}

ports_words() { # [DRIVER]: "2 net_ring ports"
  local n
  n=$(scenario_ports)
  printf '%s%s port' "$n" "${1:+ $1}"
  [ "$n" -eq 1 ] || printf s
}

device_json() {
  local text
  case $device in
    ring) text="$(ports_words net_ring) with 64-byte IPv4/UDP frames of many flows (no NIC)" ;;
    null) text="$(ports_words net_null): no packet content (no NIC)" ;;
    software) text="software ${scenario_of[testbed_nic]} (no NIC), $(ports_words), queues created by verbs" ;;
  esac
  bursts_json "${measured_releases[@]}" | jq --arg kind "$device" --arg text "$text" '{kind: $kind, name: $text} + .'
}

# bursts_json RELEASE...: the burst functions of the first process that became ready.
bursts_json() {
  local release ready=''
  for release; do
    [ -n "$ready" ] || ready=$(ready_lines "$release" | sed -n 1p)
  done
  jq -n --arg ready "$ready" '
    ($ready | split(" ") | map(select(contains("=")) | split("=") | {key: .[0], value: .[1]}) | from_entries) as $r
    | {rx_burst: ($r.rx_burst // "-"), tx_burst: ($r.tx_burst // "-")}'
}

# dpdk_json: each release: where it came from, its forwarders' arguments and burst functions, or why there is none.
dpdk_json() {
  local release
  for release in "${releases[@]}"; do
    bursts_json "$release" | jq --arg release "$release" --arg kind "$(source_value "$release" kind)" --arg id "$(source_value "$release" id)" \
      --arg from "$(source_value "$release" from)" --arg used "$(used_text "$release")" --arg failed "${source_reason[$release]:-}" '
      {release: $release, kind: $kind, id: $id, from: $from} + if $failed == "" then {used: $used} + . else {failed: $failed} end
      | map_values(if . == "" then null else . end)'
  done | jq -s .
}

used_text() { # RELEASE: of both forwarders the kit's
  local word=forwarder
  [ "$forwarder" != testpmd ] || word=testpmd
  printf '%s %s\n' "$word" "$(forwarder_arguments "$1" "${forwarders[0]}" | paste -sd ' ')"
}

write_meta() {
  local epochs_done
  epochs_done=$(($(epochs_measured) / ${#measured_releases[@]}))
  jq -n \
    --arg version "$(kit_version)" --arg commit "$(git -C "$kit" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)" \
    --arg command "scenarios/$name/run${given[*]:+ $(shell_words "${given[@]}")}" --arg question "$question" \
    --arg date "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
    --argjson machine "$(machine_json "$hugepages_text")" \
    --argjson compilers "$(compilers_json)" \
    --arg linker "$(linker_text)" --arg assembler "$(as --version | sed -n 1p)" \
    --argjson dpdk "$(dpdk_json)" \
    --arg name "$name" --arg title "${scenario_of[title]}" --arg cpu "${scenario_of[testbed_cpu]}" --arg os "${scenario_of[testbed_os]}" \
    --arg nic "${scenario_of[testbed_nic]}" --arg testpmd "${scenario_of[command]}" --arg used "$(used_text "${measured_releases[0]}")" \
    --argjson notes "$(printf '%s\n' "${scaled_notes[@]}" | json_lines)" \
    --argjson device "$(device_json)" \
    --arg baseline "$baseline" --argjson margin "$margin" --argjson epochs "$epochs_done" --argjson rounds "$rounds" \
    --argjson layouts "$layouts" --argjson slice_ms "$slice_ms" --argjson seed "$seed" \
    --argjson looks "$looks" --argjson look "$look" --argjson planned "$epochs" --argjson half_width "$half_width" \
    --arg stopped "$stopped" --argjson until_decided "$([ "$until_decided" = yes ] && echo true || echo false)" \
    --arg forwarder "$forwarder" --arg testpmd_used "$(has_forwarder testpmd && used_testpmd)" \
    --argjson function_sections "$([ "$function_sections" = yes ] && echo true || echo false)" \
    --argjson variants "$(printf '%s\n' "${variant_list[@]}" | json_lines)" --argjson cc "$(printf '%s\n' "${toolchain_list[@]}" | json_lines)" \
    --argjson described "$(variants_json)" --argjson warnings "$(printf '%s\n' "${warnings[@]}" | json_lines)" \
    '{kit: {version: $version, commit: $commit, command: $command}, date_utc: $date,
      question: $question, variants: $described,
      machine: $machine, compilers: $compilers, linker: $linker, assembler: $assembler,
      dpdk: $dpdk,
      scenario: {name: $name, title: $title, testbed: {cpu: $cpu, os: $os, nic: $nic}, command: $testpmd, used: $used, notes: $notes},
      device: $device,
      measure: {baseline: $baseline, margin_percent: $margin, epochs: $epochs, rounds: $rounds, layouts: $layouts,
                slice_ms: $slice_ms, seed: $seed, epochs_planned: $planned, looks: $looks, look: $look, stopped: $stopped,
                half_width_percent: $half_width, until_decided: $until_decided, function_sections: $function_sections,
                forwarder: $forwarder, testpmd: (if $testpmd_used == "" then null else $testpmd_used end), variants: $variants, cc: $cc},
      warnings: $warnings}' >"$part/meta.json"
}

used_testpmd() { # testpmd's command line of the first release, and its environment
  printf '%s\n' "$(testpmd_environment "$device" | paste -sd ' ') testpmd $(forwarder_arguments "${measured_releases[0]}" testpmd | paste -sd ' ')" | sed 's/^ //'
}

kit_version() {
  sed -n "s/^ *version: '\(.*\)',/\1/p" "$kit/meson.build" | sed -n 1p
}

linker_text() {
  local first how linker
  first=$(cut -f5 "$work/binaries" | sed -n 1p)
  if [ "${#linker_list[@]}" -gt 1 ] && [ -n "$first" ]; then
    for linker in "${linker_list[@]}"; do printf '%s: %s\n' "$linker" "$("ld.$linker" --version | sed -n 1p)"; done | paste -sd ';' | sed 's/;/; /g'
    return
  fi
  linker=${linker_list[0]-}
  how="as built: ${linker:-the default of the compiler}, $(ld --version | sed -n 1p)"
  [ "$layouts" -eq 0 ] || how+="; layouts: $(ld.lld --version | sed -n 1p)"
  [ -n "$first" ] || how=none
  printf '%s\n' "$how"
}

gather_warnings() {
  local seen
  [ "$huge" = yes ] || warnings+=("forwarded without hugepages (--no-huge): cycles include page walks a deployment does not have")
  [ "$(nproc)" -gt 1 ] || warnings+=("one CPU only: the runner and the forwarder share it")
  seen=$(($(epochs_measured) / ${#measured_releases[@]}))
  if [ "$seen" -gt "$layouts" ]; then seen=$layouts; fi
  [ "$seen" -ge 8 ] || warnings+=("$seen layouts a variant: fewer than the 8 that a verdict should rest on")
}

# read_look: the look at which the run ended, and why: decided, narrow or end.
read_look() {
  look=$looks stopped=end
  [ ! -f "$part/looks.tsv" ] || IFS=$'\t' read -r look stopped < <(awk -F '\t' 'NR > 1 && $6 != "-" { last = $1 "\t" $6 } END { if (last != "") print last }' "$part/looks.tsv") || true
}

# judge: gate on the verdicts; says which rows fail, and of which the interval does not tell. 1 a row
# failed, 3 none did but one is not clear.
judge() {
  [ -n "$gate" ] || return 0
  awk -F '\t' -v gate="$gate" -v several="$((${#releases[@]} > 1))" '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    {
      bounds = sprintf("(%+.2f %% to %+.2f %%)", ($col["ratio_low"] - 1) * 100, ($col["ratio_high"] - 1) * 100)
      who = $col["variant"] " with " $col["cc"] (several ? " and DPDK " $col["dpdk"] : "")
    }
    $col["verdict"] == "slower" && $col["ratio_low"] > 1 + gate / 100 {
      printf "mppsdiff: gate: %s is slower than the baseline by more than %s %% %s\n", who, gate, bounds
      failed = 1
      next
    }
    $col["verdict"] ~ /slower|undecided/ && $col["ratio_high"] > 1 + gate / 100 {
      printf "mppsdiff: gate: whether %s is slower by more than %s %% is not clear %s\n", who, gate, bounds
      unclear = 1
    }
    END { exit failed ? 1 : (unclear ? 3 : 0) }' "$part/effects.tsv" >&2
}

# print_own_variants: the data files of --a and --b, for whoever wants to keep them.
print_own_variants() {
  local variant
  for variant in a b; do
    [ -n "${VARIANT_FILES[$variant]:-}" ] && [ "${VARIANT_GIVEN[$variant]}" != "$VARIANT_OWN_BASE" ] || continue
    printf '\nto keep %s under a name: cp %s reproducers/variants/NAME.conf, which is\n\n' "$variant" "$(shell_words "$part/variants/$variant.conf")"
    sed 's/^/  /' "$part/variants/$variant.conf"
  done
}

# publish: the result becomes visible by one rename.
publish() {
  local final
  final=$results/$(date -u +%Y%m%dT%H%M%SZ)-$name
  while [ -e "$final" ]; do sleep 1; final=$results/$(date -u +%Y%m%dT%H%M%SZ)-$name; done
  rm -f "$part/.lock"
  mv -T "$part" "$final"
  part=$final
}

main() {
  local gate_status=0
  name=$(basename "$1")
  load_scenario "$1"
  shift
  parse_options "$@"
  temp_dir work
  check_options
  "$kit/reproducers/setup" --check --for run >/dev/null || exit $?
  mkdir -p "$results" 2>/dev/null && [ -w "$results" ] || die "cannot write $results; choose another folder with --results"
  check_results_space
  failures=0
  hugepages_repair
  build_tools
  # slices knows the names; a wrong one must not show only after the builds.
  [ -z "$perf_events" ] || "$tools/slices" --perf-events "$perf_events" --help >/dev/null || exit $?
  check_device
  testpmd_scale
  ! has_forwarder testpmd ||
    scaled_notes+=("for testpmd -a and --auto-start were left out, and --no-flush-rx, --record-core-cycles and --total-num-mbufs added; docs/method.md says why")
  get_sources
  case $forwarder in both) forwarders=(kit testpmd) ;; *) forwarders=("$forwarder") ;; esac
  build_options=()
  if has_forwarder testpmd; then build_options+=(--testpmd); fi
  [ "$function_sections" = no ] || build_options+=(--function-sections)
  build_all
  [ -s "$work/binaries" ] || fail "no variant could be built; nothing to measure (first: $(awk -F '\t' 'NR == 2 { print $6 }' "$work/builds.tsv"))"
  launcher=()
  [ "$device" != software ] || launcher=("$kit/reproducers/softnic" --device "${scenario_of[nic]}" --pci "$(device_addresses)" --mode inline --seed "$seed" --)
  take_hugepages
  write_plan >"$work/plan.tsv"
  open_part
  measure_options=(--half-width "$half_width" --looks "$looks")
  [ "$until_decided" = no ] || measure_options+=(--until-decided)
  [ -z "$max_wait" ] || measure_options+=(--max-wait "$max_wait")
  supervise "${launcher[@]}" "$kit/reproducers/measure" --dir "$part" --baseline "$baseline" --control-cpu "$scaled_control" \
    --cpus "$(IFS=,; printf '%s' "${scaled_cpus[*]}")" "${measure_options[@]}" --margin "$margin" ${perf_events:+--perf-events "$perf_events"} \
    --rounds "$rounds" --seed "$seed" --slice-ms "$slice_ms"
  read_look
  "$tools/stats" --baseline "$baseline" --margin "$margin" --seed "$seed" --looks "$looks" --look "$look" --units "$part/units.tsv" --out "$part/effects.tsv" "$part/slices.tsv"
  check_bursts
  [ "$forwarder" != both ] || cross_check
  localise_options
  localise_all
  gather_warnings
  write_meta
  "$kit/plots/report" ${gate:+--gate "$gate"} ${junit:+--junit "$junit"} ${summary:+--summary "$summary"} "$part" >/dev/null
  judge || gate_status=$?
  publish
  cat "$part/report.txt"
  print_own_variants
  printf '\nresult: %s\n' "$part"
  [ "$failures" -eq 0 ] || warn "$failures of $builds_total builds could not be measured; see the report"
  [ "$failures" -eq 0 ] && [ "$gate_status" -ne 1 ] || exit 1
  [ "$gate_status" -eq 0 ] || [ "$strict" = no ] || exit 3
}

main "$@"
