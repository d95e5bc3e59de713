# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables shared with the scripts that source it
#
# The report's testpmd commands: taken apart, scaled to this machine, and put into the words of the
# DPDK release at hand. Needs common.bash.

release_at_least() { # RELEASE YY.MM: whether RELEASE (22.11.11, 20.08.0, ...) is that one or newer
  local -i have want
  [[ $1 =~ ^([0-9]{2})\.([0-9]{2}) ]] || return 1
  have=$((10#${BASH_REMATCH[1]} * 100 + 10#${BASH_REMATCH[2]}))
  want=$((10#${2%.*} * 100 + 10#${2#*.}))
  ((have >= want))
}

cpu_list() { # LIST: expands 0-3,8 to one number a line
  local part
  local -i first last
  for part in ${1//,/ }; do
    first=${part%-*}
    last=${part#*-}
    for (( ; first <= last; first++)); do printf '%d\n' "$first"; done
  done
}

mask_cpus() { # MASK: the CPU numbers of a hexadecimal core mask, one a line
  local digits=${1#0[xX]}
  local -i digit bit position=0 i
  for ((i = ${#digits} - 1; i >= 0; i--, position += 4)); do
    digit=$((16#${digits:i:1}))
    for ((bit = 0; bit < 4; bit++)); do
      if ((digit >> bit & 1)); then printf '%d\n' $((position + bit)); fi
    done
  done
}

# testpmd_parse COMMAND: fills tp_lcores (array), tp_main, tp_channels, tp_devices (array of
# ADDRESS[,devargs]) and tp_app (associative: option name without dashes to value, flags to "").
# Returns 1 with the reason in TESTPMD_REASON.
testpmd_parse() {
  local -a words
  local name value
  TESTPMD_REASON=
  tp_lcores=() tp_main='' tp_channels='' tp_devices=() tp_socket_mem=''
  declare -gA tp_app=()
  read -r -a words <<<"$1"
  [[ ${words[0]-} == *testpmd ]] || { TESTPMD_REASON="it does not begin with testpmd"; return 1; }
  set -- "${words[@]:1}"
  while (($#)) && [[ $1 != -- ]]; do
    name=$1 value=${2-}
    if [[ $1 == --*=* ]]; then name=${1%%=*} value=${1#*=}; set -- "$name" "$value" "${@:2}"; fi
    (($# >= 2)) || { TESTPMD_REASON="EAL option $name has no value"; return 1; }
    case $name in
      -c) mapfile -t tp_lcores < <(mask_cpus "$value") ;;
      -l) mapfile -t tp_lcores < <(cpu_list "$value") ;;
      -n) tp_channels=$value ;;
      -w | -a) tp_devices+=("$value") ;;
      --master-lcore | --main-lcore) tp_main=$value ;;
      --socket-mem) tp_socket_mem=$value ;;
      *) TESTPMD_REASON="unknown EAL option $name; known: -c -l -n -w -a --master-lcore --main-lcore --socket-mem"; return 1 ;;
    esac
    shift 2
  done
  (($# == 0)) || shift
  testpmd_parse_app "$@"
}

testpmd_parse_app() { # WORD...: the part after --
  local name
  while (($#)); do
    case $1 in
      -i | --interactive) tp_app[i]= ;;
      -a | --auto-start) tp_app[auto-start]= ;;
      --*=*) name=${1%%=*}; tp_app[${name#--}]=${1#*=} ;;
      --no-lsc-interrupt | --rss-udp) tp_app[${1#--}]= ;;
      --*)
        (($# >= 2)) || { TESTPMD_REASON="option $1 has no value"; return 1; }
        tp_app[${1#--}]=$2
        shift
        ;;
      *) TESTPMD_REASON="unexpected word $1"; return 1 ;;
    esac
    shift
  done
}

machine_cpus() { # the CPUs this process may use, one a line, isolated ones last
  local allowed isolated
  allowed=$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)
  isolated=$(cat /sys/devices/system/cpu/isolated 2>/dev/null || true)
  if [[ -n $isolated ]]; then
    comm -23 <(cpu_list "$allowed" | sort) <(cpu_list "$isolated" | sort) | sort -n
    comm -12 <(cpu_list "$allowed" | sort) <(cpu_list "$isolated" | sort) | sort -n
  else
    cpu_list "$allowed"
  fi
}

# testpmd_scale: from the parsed command and this machine, sets scaled_control (CPU of the main
# lcore), scaled_cpus (array, forwarding), scaled_sockets and adds to the array scaled_notes.
testpmd_scale() {
  local -a cpus
  local -i wanted=${tp_app[nb-cores]:-1} have
  scaled_notes=()
  mapfile -t cpus < <(machine_cpus)
  have=$((${#cpus[@]} > 1 ? ${#cpus[@]} - 1 : 1))
  scaled_control=${cpus[0]}
  if ((wanted > have)); then
    scaled_notes+=("forwarding lcores scaled from $wanted to $have: the machine has ${#cpus[@]} CPUs")
    wanted=$have
  fi
  # The last CPUs: interrupts and system work gather on the first ones.
  scaled_cpus=("${cpus[@]: -wanted}")
  if ((${#cpus[@]} == 1)); then
    scaled_notes+=("one CPU only: the main lcore forwards as well")
  fi
  scaled_sockets=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' 2>/dev/null | wc -l)
  ((scaled_sockets > 0)) || scaled_sockets=1
  if [[ -n $tp_socket_mem ]]; then
    scaled_notes+=("--socket-mem=$tp_socket_mem left out: each forwarder takes the hugepages it needs")
  fi
  if [[ -n ${tp_app[port-numa-config]:-} && $(scaled_numa_config) != "${tp_app[port-numa-config]}" ]]; then
    scaled_notes+=("--port-numa-config=${tp_app[port-numa-config]} became $(scaled_numa_config): the machine has $scaled_sockets NUMA node(s)")
  fi
  if ((${tp_app[socket-num]:-0} >= scaled_sockets)); then
    scaled_notes+=("--socket-num=${tp_app[socket-num]} became 0: the machine has $scaled_sockets NUMA node(s)")
  fi
  scaled_notes+=("the lcores of the command became -l $(IFS=,; printf '%s' "$scaled_control,${scaled_cpus[*]}"), the main one first")
}

scaled_numa_config() { # prints --port-numa-config with sockets this machine has
  local -a words
  local i
  IFS=, read -r -a words <<<"${tp_app[port-numa-config]}"
  for ((i = 1; i < ${#words[@]}; i += 2)); do
    if ((words[i] >= scaled_sockets)); then words[i]=0; fi
  done
  (IFS=,; printf '%s\n' "${words[*]}")
}

# testpmd_app_arguments: the application's options for our forwarder, one a line.
testpmd_app_arguments() {
  local name value
  printf -- '--slices\n'
  while IFS= read -r name; do
    value=${tp_app[$name]}
    case $name in
      i | auto-start) continue ;;
      nb-cores) value=${#scaled_cpus[@]} ;;
      socket-num) if ((value >= scaled_sockets)); then value=0; fi ;;
      port-numa-config) value=$(scaled_numa_config) ;;
    esac
    if [[ -n $value ]]; then printf -- '--%s=%s\n' "$name" "$value"; else printf -- '--%s\n' "$name"; fi
  done < <(printf '%s\n' "${!tp_app[@]}" | sort)
}

# testpmd_mbufs: as many mbufs as our forwarder's pools have: all rings full, and the caches of the lcores.
testpmd_mbufs() {
  local -i rxq=${tp_app[rxq]:-1} txq=${tp_app[txq]:-1} cache=${tp_app[mbcache]:-250} mbufs
  local -i queues=$((rxq < txq ? rxq : txq))
  mbufs=$(($(scenario_ports) * (rxq * ${tp_app[rxd]:-512} + queues * ${tp_app[txd]:-512}) +
    (${#scaled_cpus[@]} + 1) * (cache * 3 / 2 + ${tp_app[burst]:-32})))
  # testpmd takes no fewer
  printf '%d\n' $((mbufs > 1024 ? mbufs : 1025))
}

# testpmd_own_arguments RELEASE: the application's options for the release's own testpmd, one a line. Forwarding
# begins at its prompt; packets that wait in rings that never run dry (net_null) must not be flushed before; and
# its own number of mbufs, for 32 ports, is hundreds of MB a process. Before 20.11 cycles are counted unasked, see
# reproducers/build.
testpmd_own_arguments() {
  printf '%s\n' -i
  testpmd_app_arguments | grep -vxe --slices
  printf '%s\n' --no-flush-rx
  if release_at_least "$1" 20.11; then printf '%s\n' --record-core-cycles; fi
  [[ -v tp_app[total-num-mbufs] ]] || printf -- '--total-num-mbufs=%d\n' "$(testpmd_mbufs)"
}

# testpmd_environment DEVICE: what the software ConnectX plays for testpmd, as NAME=VALUE, one a line: it knows
# nothing of a device that is stepped between bursts, so that has a thread, beside the main lcore.
testpmd_environment() {
  [[ $1 != software ]] || printf '%s\n' MPPSDIFF_SOFTNIC_MODE=thread "MPPSDIFF_SOFTNIC_CPU=$scaled_control"
}

# testpmd_eal_arguments RELEASE DEVICE HUGE MEGABYTES: the EAL's options, one a line. DEVICE is ring,
# null or software. HUGE yes|no. The lcore ids are the CPUs' numbers.
testpmd_eal_arguments() {
  local release=$1 device=$2 huge=$3 megabytes=$4 cpu list main=main allow=-a
  local port
  list=$scaled_control
  for cpu in "${scaled_cpus[@]}"; do [[ $cpu == "$scaled_control" ]] || list+=,$cpu; done
  release_at_least "$release" 20.11 || main=master allow=-w
  printf '%s\n' -l "$list" "--$main-lcore=$scaled_control" -n "${tp_channels:-4}"
  if [[ $huge == yes ]]; then printf '%s\n' --in-memory; else printf '%s\n' --no-huge -m "$megabytes"; fi
  if release_at_least "$release" 20.05; then printf '%s\n' --no-telemetry; fi
  case $device in
    software) for port in "${tp_devices[@]}"; do printf '%s\n' "$allow" "$port"; done ;;
    null)
      printf -- '--no-pci\n'
      # 60 bytes: net_null counts the frame without its checksum, so this is 64 on the wire.
      for ((port = 0; port < $(scenario_ports); port++)); do printf '%s\n' "--vdev=net_null$port,size=60"; done
      ;;
    ring) printf -- '--no-pci\n' ;;
  esac
}

scenario_ports() { # how many ports the command's devices make
  printf '%d\n' "$((${#tp_devices[@]} > 0 ? ${#tp_devices[@]} : 2))"
}
