# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What must stand in a result about the machine it was measured on. Needs jq.

_first_line() { # FILE [DEFAULT]: the file's first line, or DEFAULT
  local line=
  { read -r line <"$1"; } 2>/dev/null || true
  printf '%s\n' "${line:-${2-unknown}}"
}

_cpuinfo() { # KEY: the first value of a key of /proc/cpuinfo
  awk -F ': *' -v key="$1" '$1 ~ "^" key "[ \t]*$" { print $2; found = 1; exit } END { if (!found) print "unknown" }' /proc/cpuinfo
}

machine_json() { # HUGEPAGES: the object "machine" of meta.json; HUGEPAGES says what the run got
  local hypervisor
  hypervisor=$(awk '/^flags/ { print ($0 ~ / hypervisor/) ? "yes" : "none"; exit }' /proc/cpuinfo)
  if [[ $hypervisor == yes ]]; then
    hypervisor=$(systemd-detect-virt --vm 2>/dev/null || lscpu | sed -n 's/^Hypervisor vendor: *//p')
  fi
  jq -n \
    --arg cpu "$(_cpuinfo 'model name')" \
    --arg microcode "$(_cpuinfo microcode)" \
    --argjson cores "$(nproc)" \
    --arg isolated "$(_first_line /sys/devices/system/cpu/isolated none)" \
    --arg governor "$(_first_line /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 'not visible')" \
    --argjson hugepages_total "$(awk '/^HugePages_Total/ { print $2 }' /proc/meminfo)" \
    --arg hugepages "$1" \
    --arg hypervisor "${hypervisor:-unknown}" \
    --argjson memory "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" \
    --arg kernel "$(uname -r)" \
    --arg os "$(. /etc/os-release 2>/dev/null && printf '%s' "${PRETTY_NAME:-unknown}")" \
    '{cpu: $cpu, microcode: $microcode, cores: $cores, cores_isolated: $isolated, governor: $governor,
      hugepages_total: $hugepages_total, hugepages: $hugepages, hypervisor: $hypervisor,
      memory_mb: $memory, kernel: $kernel, os: $os}'
}
