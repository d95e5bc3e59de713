# SPDX-License-Identifier: BSD-3-Clause
# reproducers/lib/testpmd.bash: the report's commands taken apart, scaled, translated.

setup() {
  load helpers
  . "$KIT/reproducers/lib/common.bash"
  . "$KIT/reproducers/lib/keyfile.bash"
  . "$KIT/reproducers/lib/testpmd.bash"
}

command_of() { # SCENARIO: its testpmd command
  sed -n 's/^command = //p' "$KIT/scenarios/$1/scenario.conf"
}

@test "cpu_list and mask_cpus expand lists and masks" {
  [ "$(cpu_list 0-3,8 | xargs)" = "0 1 2 3 8" ]
  [ "$(mask_cpus 0x7ffc0000 | xargs)" = "18 19 20 21 22 23 24 25 26 27 28 29 30" ]
  [ "$(mask_cpus 0x1ffff | wc -l)" -eq 17 ]
  [ "$(mask_cpus ff80 | xargs)" = "7 8 9 10 11 12 13 14 15" ]
}

@test "release_at_least compares year and month, not text" {
  release_at_least 22.11.11 20.11
  release_at_least 20.11.0 20.11
  run release_at_least 20.08.0 20.11
  [ "$status" -eq 1 ]
  run release_at_least 18.11 20.08
  [ "$status" -eq 1 ]
  run release_at_least nonsense 20.08
  [ "$status" -eq 1 ]
}

@test "the report's three commands stand verbatim in their scenarios" {
  [ "$(command_of connectx4lx-baremetal)" = "testpmd -c 0x7ffc0000 -n 4 -w d8:00.1 -w d8:00.0 --socket-mem=2048,2048 -- --port-numa-config=0,1,1,1 --socket-num=1 --burst=64 --txd=512 --rxd=512 --mbcache=512 --rxq=2 --txq=2 --nb-cores=1 --no-lsc-interrupt -i -a --rss-udp" ]
  [ "$(command_of connectx5-vm)" = "testpmd --master-lcore=0 -c 0x1ffff -n 4 -w 00:05.0,mprq_en=1,mprq_log_stride_num=6 --socket-mem=2048,0 -- --port-numa-config=0,0 --socket-num=0 --burst=64 --txd=1024 --rxd=1024 --mbcache=512 --rxq=16 --txq=16 --nb-cores=8 --port-topology=chained --forward-mode=macswap --no-lsc-interrupt -i -a --rss-udp" ]
  [ "$(command_of connectx5-e5-2697a)" = "testpmd -n 4 -w 0000:82:00.0,rxqs_min_mprq=8,mprq_en=1 -w 0000:82:00.1,rxqs_min_mprq=8,mprq_en=1 -c 0xff80 -- --burst=64 --mbcache=512 -i --nb-cores=8 --rxq=8 --txq=8 --txd=1024 --rxd=1024 --rss-udp --auto-start" ]
}

@test "the three commands parse: devices, lcores, options" {
  testpmd_parse "$(command_of connectx4lx-baremetal)"
  [ "${tp_devices[*]}" = "d8:00.1 d8:00.0" ]
  [ "${#tp_lcores[@]}" -eq 13 ]
  [ "${tp_app[burst]}" = 64 ]
  [ -z "${tp_app[rss-udp]}" ]
  testpmd_parse "$(command_of connectx5-vm)"
  [ "${tp_devices[*]}" = "00:05.0,mprq_en=1,mprq_log_stride_num=6" ]
  [ "$tp_main" = 0 ]
  [ "${tp_app[port-topology]}" = chained ]
  testpmd_parse "$(command_of connectx5-e5-2697a)"
  [ "${#tp_devices[@]}" -eq 2 ]
  [ "${#tp_lcores[@]}" -eq 9 ]
  [ -v 'tp_app[auto-start]' ]
}

@test "a command that cannot be taken apart gives its reason" {
  local bad
  for bad in 'l2fwd -c 1 -- -i' 'testpmd --huge-dir /x -- -i' 'testpmd -c' 'testpmd -c 1 -- word' 'testpmd -c 1 -- --burst'; do
    if testpmd_parse "$bad"; then echo "accepted: $bad"; return 1; fi
    [ -n "$TESTPMD_REASON" ]
  done
}

@test "lcores are scaled to the machine and the notes say so" {
  machine_cpus() { printf '0\n1\n'; }
  testpmd_parse "$(command_of connectx5-vm)"
  testpmd_scale
  [ "${scaled_cpus[*]}" = 1 ]
  [ "$scaled_control" = 0 ]
  [[ "${scaled_notes[*]}" == *"scaled from 8 to 1"* ]]
  [[ "$(testpmd_app_arguments | xargs)" == *"--nb-cores=1"* ]]
}

@test "enough CPUs: nothing is scaled" {
  machine_cpus() { seq 0 31; }
  testpmd_parse "$(command_of connectx5-vm)"
  testpmd_scale
  [ "${#scaled_cpus[@]}" -eq 8 ]
  [[ "${scaled_notes[*]}" != *"scaled from"* ]]
}

@test "one CPU: the main lcore forwards" {
  machine_cpus() { printf '5\n'; }
  testpmd_parse "$(command_of connectx4lx-baremetal)"
  testpmd_scale
  [ "${scaled_cpus[*]}" = 5 ]
  [[ "$(testpmd_eal_arguments 22.11 ring yes 64 | xargs)" == "-l 5 --main-lcore=5 "* ]]
}

@test "the words follow the release: master or main, telemetry or not" {
  machine_cpus() { printf '0\n1\n'; }
  testpmd_parse "$(command_of connectx4lx-baremetal)"
  testpmd_scale
  [[ "$(testpmd_eal_arguments 20.08.0 ring yes 64 | xargs)" == *"--master-lcore=0"*"--no-telemetry"* ]]
  [[ "$(testpmd_eal_arguments 20.11.0 ring yes 64 | xargs)" == *"--main-lcore=0"* ]]
  [[ "$(testpmd_eal_arguments 18.11 ring yes 64 | xargs)" != *"telemetry"* ]]
  [[ "$(testpmd_eal_arguments 22.11 ring no 64 | xargs)" == *"--no-huge -m 64"* ]]
  [ "$(testpmd_eal_arguments 22.11 null yes 64 | grep -c vdev=net_null)" -eq 2 ]
}

@test "sockets that the machine lacks become socket 0" {
  machine_cpus() { printf '0\n1\n'; }
  testpmd_parse "$(command_of connectx4lx-baremetal)"
  testpmd_scale
  scaled_sockets=1
  [[ "$(testpmd_app_arguments | xargs)" == *"--port-numa-config=0,0,1,0"*"--socket-num=0"* ]]
  scaled_sockets=2
  [[ "$(testpmd_app_arguments | xargs)" == *"--port-numa-config=0,1,1,1"*"--socket-num=1"* ]]
}

@test "the NIC's addresses and devargs reach the driver unchanged, as -w or -a by release" {
  machine_cpus() { printf '0\n1\n'; }
  testpmd_parse "$(command_of connectx5-vm)"
  testpmd_scale
  [[ "$(testpmd_eal_arguments 22.11 software yes 64 | xargs)" == *"-a 00:05.0,mprq_en=1,mprq_log_stride_num=6"* ]]
  [[ "$(testpmd_eal_arguments 20.08 software yes 64 | xargs)" == *"-w 00:05.0,mprq_en=1,mprq_log_stride_num=6"* ]]
  if testpmd_eal_arguments 22.11 software yes 64 | grep -q no-pci; then return 1; fi
  testpmd_eal_arguments 22.11 ring yes 64 | grep -q no-pci
}

@test "the release's own testpmd gets the scenario's options, at its prompt, and counts cycles where it must be asked" {
  machine_cpus() { printf '0\n1\n'; }
  testpmd_parse "$(command_of connectx4lx-baremetal)"
  testpmd_scale
  local all
  all=$(testpmd_own_arguments 22.11 | xargs)
  [[ "$all" == "-i --burst=64 "*" --rxd=512 --rxq=2 "*" --record-core-cycles "* ]]
  [[ "$all" != *--slices* && "$all" != *auto-start* ]]
  [[ " $all " == *" --no-flush-rx "* ]]
  # two ports, two queues of 512 and 512 descriptors, two lcores with a cache of 512 and a half and a burst of 64
  [[ "$all" == *" --total-num-mbufs=5760" ]]
  [[ "$(testpmd_own_arguments 20.08 | xargs)" != *record-core-cycles* ]]
  testpmd_parse "testpmd -l 0,1 -- --total-num-mbufs=4096 -i"
  [ "$(testpmd_own_arguments 20.11 | grep -c total-num-mbufs)" -eq 1 ]
  testpmd_parse "testpmd -l 0,1 -- -i --mbcache=1 --rxd=8 --txd=8"
  [[ "$(testpmd_own_arguments 20.11 | xargs)" == *"--total-num-mbufs=1025" ]]
}

@test "behind testpmd the software NIC is a thread beside the main lcore" {
  machine_cpus() { printf '3\n5\n'; }
  testpmd_parse "$(command_of software)"
  testpmd_scale
  [ "$(testpmd_environment software | paste -sd ' ')" = 'MPPSDIFF_SOFTNIC_MODE=thread MPPSDIFF_SOFTNIC_CPU=3' ]
  [ -z "$(testpmd_environment null)" ]
}
