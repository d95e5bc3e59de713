#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# fwd/forwarder: its options, the slice protocol, and what it does to packets. The packets are real:
# they circulate between net_ring ports, and --verify shows what has become of them.
# Each test is a subshell that changes a copy of the arguments of the EAL:
# shellcheck disable=SC2030,SC2031

load helpers

setup_file() {
  FWD=${MPPSDIFF_FORWARDER:-$(forwarder_path)}
  export FWD
  hugepages_lend 400
}

teardown_file() {
  hugepages_return
}

setup() {
  # The first CPU this process may use; every lcore of a test runs there.
  cpu=$(awk '/^Cpus_allowed_list/ { split($2, list, /[-,]/); print list[1] }' /proc/self/status)
  eal=(--lcores="0@$cpu" --no-huge -m 256 --no-shconf --no-pci)
  case $("$FWD" --version) in *'DPDK 18.'*) ;; *) eal+=(--no-telemetry) ;; esac
  null=(--vdev=net_null0 --vdev=net_null1)
  log=$BATS_TEST_TMPDIR/log
}

# lcores N: from now on the EAL gets N of them, the first one being the main lcore.
lcores() {
  local list i
  list="0@$cpu"
  for ((i = 1; i < $1; i++)); do list+=",$i@$cpu"; done
  eal[0]=--lcores=$list
}

# talk INPUT [OPTION...]: the answers to INPUT, where \n ends a line; what stderr got is in $log.
talk() {
  printf '%b' "$1" | timeout 240 "$FWD" "${eal[@]}" -- --slices "${@:2}" 2>"$log" 3>&-
}

# command_line OPTION...: runs the forwarder with these options and nothing to say to it.
command_line() {
  timeout 240 "$FWD" "${eal[@]}" -- "$@" </dev/null 2>&1 3>&- | grep -v '^EAL: '
  return "${PIPESTATUS[0]}"
}

# value KEY LINE: the value of KEY=VALUE in a line.
value() {
  sed -n "s/^\(.* \)\{0,1\}$1=\([^ ]*\).*/\2/p" <<<"$2"
}

# verified WORD...: the last line of the output is --verify's and has each KEY=VALUE.
verified() {
  local line=${lines[-1]} word
  [[ $line == "verify "* ]] || { printf 'no verify line, but: %s\n' "$line" >&2; return 1; }
  for word in "$@"; do
    [[ " $line " == *" $word "* ]] || { printf 'expected %s in: %s\n' "$word" "$line" >&2; return 1; }
  done
}

# frame PORT QUEUE: that ring's first frame in hex.
frame() {
  sed -n "s/^frame port=$1 queue=$2 hex=//p" <<<"$output"
}

# internet_checksum HEX: what the one's complement sum of 16-bit words adds up to; ffff if right.
internet_checksum() {
  local sum=0 i
  for ((i = 0; i < ${#1}; i += 4)); do sum=$((sum + 0x${1:i:4})); done
  while [ $((sum >> 16)) -ne 0 ]; do sum=$(((sum & 0xffff) + (sum >> 16))); done
  printf '%04x\n' "$sum"
}

# rotations BINARY FUNCTION: how many rotations by 7 the function has.
rotations() {
  objdump -d --no-show-raw-insn "$1" |
    awk -v start="<$2>:" 'index($0, start) { inside = 1 } /^$/ { inside = 0 } inside && /rol +[$]0x7,%r/ { n++ } END { print n + 0 }'
}

# --- the command line

@test "forwarder: --help names every option, --version the DPDK release, on either side of --" {
  local option
  run "$FWD" --help
  [ "$status" -eq 0 ]
  for option in auto-start burst forward-mode help interactive mbcache nb-cores no-lsc-interrupt \
    port-numa-config port-topology ring-ports rss-udp rxd rxq slices socket-num stats-period txd \
    txq verify version; do
    [[ $output == *"--$option"* ]] || { echo "--$option is missing"; false; }
  done
  [[ $output == *"Exit status:"*"Example:"* ]]
  run "$FWD" -- -h
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "usage: "* ]]
  run "$FWD" -- --version
  [ "$status" -eq 0 ]
  [[ $output == *"DPDK "[0-9]* ]]
}

@test "forwarder: testpmd's other options are refused in one line that lists the accepted ones" {
  local option
  for option in --nb-ports=2 --tx-first --coremask=2 --no-numa --mbuf-size=2048 --disable-rss \
    --rss-ip --txpkts=64 --record-core-cycles --mp-alloc=anon --eth-peer=0,02:00:00:00:00:01 -x \
    --no-flush-rx; do
    run command_line "$option"
    [ "$status" -eq 2 ] || { echo "$option: status $status"; false; }
    one_line_error "option '${option}' is not accepted"
    one_line_error '--burst --forward-mode '
    one_line_error '--txq'
  done
}

@test "forwarder: a bad value is refused in one line that says what would be right" {
  local option expected count=0
  while IFS='|' read -r option expected; do
    run command_line "$option"
    [ "$status" -eq 2 ] || { echo "$option: status $status"; false; }
    one_line_error "$expected"
    count=$((count + 1))
  done <<'TABLE'
--burst=513|from 0 to 512
--burst=-1|from 0 to 512
--burst=|from 0 to 512
--burst=64x|from 0 to 512
--burst=0x40|from 0 to 512
--burst=18446744073709551616|from 0 to 512
--txd=0|from 1 to 65535
--txd=65536|from 1 to 65535
--rxd=0|from 1 to 65535
--rxd=a|from 1 to 65535
--mbcache=513|from 0 to 512
--mbcache=1.5|from 0 to 512
--rxq=0|from 1 to 1024
--rxq=1025|from 1 to 1024
--txq=0|from 1 to 1024
--txq= 1|from 1 to 1024
--nb-cores=0|from 1 to
--nb-cores=-2|from 1 to
--stats-period=65535|from 0 to 65534
--stats-period=x|from 0 to 65534
--ring-ports=0|from 1 to
--ring-ports=9999|from 1 to
--socket-num=-1|from 0 to
--socket-num=256|from 0 to
--forward-mode=rxonly|io, mac, macswap or 5tswap
--forward-mode=mac swap|io, mac, macswap or 5tswap
--forward-mode=|io, mac, macswap or 5tswap
--port-topology=ring|paired, chained or loop
--port-topology=PAIRED|paired, chained or loop
--port-numa-config=|(port,socket)
--port-numa-config=0|(port,socket)
--port-numa-config=0,|(port,socket)
--port-numa-config=0,0,|(port,socket)
--port-numa-config=(0,0|(port,socket)
--port-numa-config=(0,0),|(port,socket)
--port-numa-config=(0,0)(1,0)|(port,socket)
--port-numa-config=0,0x|(port,socket)
--port-numa-config=99,0|(port,socket)
--port-numa-config=0,99|(port,socket)
--slices=1|takes no value
--auto-start=yes|takes no value
--burst|needs a value
--forward-mode|needs a value
--r=1|ambiguous
--port-=1|ambiguous
stray|is no option
-|is no option
TABLE
  [ "$count" -eq 47 ]
}

@test "forwarder: values may follow a space, options be abbreviated, as in testpmd" {
  run talk 'run 1\n' --ring-ports 2 --forw macswap --burs 16 --mbc=64 --port-t loop -i -a \
    --stats-period 1 --no-lsc-interrupt --rss-udp
  [ "$status" -eq 0 ]
  [ "$(value fwd "${lines[0]}")" = macswap ]
  [ "$(value packets "${lines[1]}")" -eq 32 ]
  grep -q 'RX P=0/Q=0 (socket 0) -> TX P=0/Q=0' "$log"
}

@test "forwarder: what the machine or the ports do not have is refused in one line" {
  run command_line
  [ "$status" -eq 2 ]
  one_line_error 'no port to forward on'
  run command_line --ring-ports=2 --nb-cores=2
  [ "$status" -eq 2 ]
  one_line_error '--nb-cores=2, but 1 lcores can forward'
  run command_line --ring-ports=2 -i
  [ "$status" -eq 2 ]
  one_line_error '-i needs a second lcore'
  run command_line --ring-ports=2 --rxq=17 --txq=17
  [ "$status" -eq 2 ]
  one_line_error 'lower --rxq and --txq'
  run command_line --ring-ports=2 --burst=0
  [ "$status" -eq 2 ]
  one_line_error 'give --burst=N'
  run command_line --ring-ports=2 --port-numa-config='(2,0)'
  [ "$status" -eq 2 ]
  one_line_error 'names port 2, but there are 2 ports'
  eal+=("${null[@]}")
  run command_line --ring-ports=2
  [ "$status" -eq 2 ]
  one_line_error '--ring-ports cannot be combined'
}

@test "forwarder: an EAL that does not start is status 1, and standard output stays empty" {
  eal=(--no-such-option)
  run talk 'quit\n' --ring-ports=2
  [ "$status" -eq 1 ]
  [ -z "$output" ]
  grep -q '^mppsdiff: the EAL does not start' "$log"
}

@test "forwarder: too little memory is status 1 and says how much it takes" {
  eal=(--lcores="0@$cpu" --no-huge -m 16 --no-shconf --no-pci)
  run talk 'quit\n' --ring-ports=2 --rxd=4096
  [ "$status" -eq 1 ]
  [ -z "$output" ]
  grep -q '^mppsdiff: no memory for .* about .* MB' "$log"
}

@test "forwarder: a socket that does not exist is replaced with a warning" {
  [ ! -e /sys/devices/system/node/node2 ] || skip_or_fail "needs a machine with at most two sockets"
  run talk 'run 1\n' --ring-ports=2 --socket-num=3
  [ "$status" -eq 0 ]
  [ "$(value packets "${lines[1]}")" -eq 64 ]
  [ "$(grep -c '^mppsdiff: socket 3 for port 0 does not exist; socket 0 is used' "$log")" -eq 1 ]
  # The report's form, and testpmd's, win over --socket-num.
  for form in 0,2,1,0 '(0,2),(1,0)'; do
    run talk 'run 1\n' --ring-ports=2 --socket-num=3 --port-numa-config="$form"
    [ "$status" -eq 0 ]
    grep -q '^mppsdiff: socket 2 for port 0 does not exist; socket 0 is used' "$log"
    if grep -q 'for port 1' "$log"; then false; fi
  done
}

# --- the slice protocol

@test "forwarder: the protocol answers line by line and lives on after garbage" {
  local long
  long=$(printf 'run 1%0300d' 0)
  run talk "run 1\nrun 3 2\n\nstop\nrun\nrun 0\nrun -1\nrun 1 x\nrun 1 2 3\nRUN 1\nrun  1\nrun 4294967296\nrun 1 4294967296\n$long\nru\\0n 1\nrun 2\nquit\nrun 1\n" \
    --ring-ports=2
  [ "$status" -eq 0 ]
  [[ ${lines[0]} =~ ^ready\ ports=2\ queues=1\ lcores=1\ rx_burst=[^\ ]+\ tx_burst=[^\ ]+\ fwd=io\ tsc_hz=[0-9]+$ ]]
  [[ ${lines[1]} =~ ^packets=64\ cycles=[0-9]+\ tsc_hz=[0-9]+\ dropped=0$ ]]
  [[ ${lines[2]} =~ ^packets=192\ cycles=[1-9][0-9]*\ tsc_hz=[0-9]+\ dropped=0$ ]]
  [ "$(grep -c '^error: ' <<<"$output")" -eq 13 ]
  [[ ${lines[16]} =~ ^packets=128\  ]]
  [ "${#lines[@]}" -eq 17 ]
}

@test "forwarder: the end of input ends it like quit, a last line without newline counts" {
  run talk '' --ring-ports=2 --verify
  [ "$status" -eq 0 ]
  verified frames=1024 lost=0 mac_original=1024
  run talk 'run 1' --ring-ports=2
  [ "$status" -eq 0 ]
  [ "$(value packets "${lines[1]}")" -eq 64 ]
}

@test "forwarder: warm-up iterations forward but do not count" {
  run talk 'run 1 7\nquit\n' --ring-ports=2 --burst=64 --forward-mode=macswap --verify
  [ "$status" -eq 0 ]
  [ "$(value packets "${lines[1]}")" -eq 128 ]
  verified mac_swapped=1024 mac_original=0
}

@test "forwarder: between commands and, on the main lcore, during a slice nothing runs" {
  local pid before after ticks
  lcores 2
  coproc FORWARDER { exec "$FWD" "${eal[@]}" -- --slices --ring-ports=2 2>"$log" 3>&-; }
  pid=$FORWARDER_PID
  read -r -t 60 -u "${FORWARDER[0]}" _
  # utime + stime of all threads, then of the main thread, in ticks of 10 ms.
  before=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
  sleep 1
  after=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
  [ $((after - before)) -le 2 ]
  before=$(awk '{ print $14 + $15 }' "/proc/$pid/task/$pid/stat")
  ticks=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
  echo 'run 5000000' >&"${FORWARDER[1]}"
  read -r -t 120 -u "${FORWARDER[0]}" _
  after=$(awk '{ print $14 + $15 }' "/proc/$pid/task/$pid/stat")
  ticks=$(($(awk '{ print $14 + $15 }' "/proc/$pid/stat") - ticks))
  echo quit >&"${FORWARDER[1]}"
  wait "$pid"
  [ "$ticks" -ge 20 ] # the slice was long enough to tell
  [ $((after - before)) -le 2 ]
}

# --- what happens to packets

@test "forwarder: the frames are 64-byte IPv4/UDP of many flows with right checksums" {
  local hex pseudo
  run talk 'quit\n' --ring-ports=2 --rxq=2 --txq=2 --verify
  [ "$status" -eq 0 ]
  verified frames=2048 lost=0 mac_original=2048 tuple_original=2048 damaged=0
  for hex in "$(frame 0 0)" "$(frame 0 1)" "$(frame 1 0)" "$(frame 1 1)"; do
    [ "${#hex}" -eq 120 ] # 60 bytes: 64 on the wire without the FCS
    [ "${hex:24:8}" = 08004500 ]
    [ "${hex:32:4}" = 002e ]      # 46 bytes from the IP header on
    [ "${hex:46:2}" = 11 ]        # UDP
    [ "${hex:52:4}" = c612 ]      # from 198.18.0.0/16
    [ "${hex:60:4}" = c613 ]      # to 198.19.0.0/16
    [ "${hex:76:4}" = 001a ]      # UDP header and 18 bytes
    [ "$(internet_checksum "${hex:28:40}")" = ffff ]
    pseudo=${hex:52:16}0011001a
    [ "$(internet_checksum "$pseudo${hex:68:52}")" = ffff ]
  done
  # Four rings start with four different flows: sources, destinations and ports.
  [ "$(sed -n 's/^frame .*hex=.\{52\}\(.\{8\}\).*/\1/p' <<<"$output" | sort -u | wc -l)" -eq 4 ]
  [ "$(sed -n 's/^frame .*hex=.\{60\}\(.\{8\}\).*/\1/p' <<<"$output" | sort -u | wc -l)" -eq 4 ]
  [ "$(sed -n 's/^frame .*hex=.\{68\}\(.\{8\}\).*/\1/p' <<<"$output" | sort -u | wc -l)" -eq 4 ]
}

@test "forwarder: packets are conserved, and counted as the iterations say" {
  local queues burst ports
  while read -r ports queues burst; do
    run talk 'run 100\nrun 1000 10\nquit\n' --ring-ports="$ports" --rxq="$queues" --txq="$queues" \
      --burst="$burst" --rxd=64 --verify
    [ "$status" -eq 0 ]
    [ "$(value packets "${lines[1]}")" -eq $((100 * ports * queues * burst)) ]
    [ "$(value packets "${lines[2]}")" -eq $((1000 * ports * queues * burst)) ]
    [ "$(value dropped "${lines[1]}")" -eq 0 ]
    [ "$(value dropped "${lines[2]}")" -eq 0 ]
    verified lost=0 damaged=0
  done <<'TABLE'
1 1 32
2 1 1
2 1 32
2 2 64
3 4 64
2 16 32
2 1 512
TABLE
}

@test "forwarder: io leaves packets and mbufs alone" {
  run talk 'run 9\nquit\n' --ring-ports=2 --burst=64 --verify
  [ "$status" -eq 0 ]
  verified frames=1024 lost=0 damaged=0 mac_original=1024 tuple_original=1024 flags_cleared=0 \
    l2_l3_set=0 l4_set=0
}

@test "forwarder: macswap swaps the addresses, twice is back, and sets the mbuf's fields" {
  local before after
  run talk 'quit\n' --ring-ports=2 --burst=64 --forward-mode=macswap --verify
  before=$(frame 0 0)
  # Eight bursts of 64 carry all 512 frames of a ring once round.
  run talk 'run 8\nquit\n' --ring-ports=2 --burst=64 --forward-mode=macswap --verify
  [ "$status" -eq 0 ]
  verified frames=1024 lost=0 damaged=0 mac_swapped=1024 tuple_original=1024 flags_cleared=1024 \
    l2_l3_set=1024 l4_set=0
  after=$(frame 0 0)
  [ "${before:0:12}" = 02f100000000 ]
  [ "${before:12:12}" = 02f000000000 ]
  [ "$after" = "${before:12:12}${before:0:12}${before:24}" ]
  run talk 'run 16\nquit\n' --ring-ports=2 --burst=64 --forward-mode=macswap --verify
  verified lost=0 damaged=0 mac_original=1024
  [ "$(frame 0 0)" = "$before" ]
  run talk 'run 1\nquit\n' --ring-ports=2 --burst=64 --forward-mode=macswap --verify
  verified mac_swapped=128 mac_original=896 flags_cleared=128 l2_l3_set=128
}

@test "forwarder: macswap and 5tswap leave no packet out, whatever the burst's remainder" {
  local burst mode
  for mode in macswap 5tswap; do
    for burst in 1 2 3 4 5 7 8 9 11 12 15 63; do
      run talk 'run 1\nquit\n' --ring-ports=2 --burst=$burst --forward-mode=$mode --verify
      [ "$status" -eq 0 ]
      verified lost=0 damaged=0 mac_swapped=$((2 * burst)) mac_original=$((1024 - 2 * burst)) \
        flags_cleared=$((2 * burst)) l2_l3_set=$((2 * burst))
    done
  done
}

@test "forwarder: mac sets the Tx port's address and its peer's" {
  local hex
  run talk 'run 8\nquit\n' --ring-ports=2 --burst=64 --forward-mode=mac --verify
  [ "$status" -eq 0 ]
  verified frames=1024 lost=0 damaged=0 mac_set=1024 tuple_original=1024 flags_cleared=1024 \
    l2_l3_set=1024
  # What is received on port 0 was sent on port 1 to its peer; net_ring's own address is zero.
  hex=$(frame 0 0)
  [ "${hex:0:24}" = 020000000001000000000000 ]
  hex=$(frame 1 0)
  [ "${hex:0:24}" = 020000000000000000000000 ]
}

@test "forwarder: 5tswap swaps all three layers, and the checksums stay right" {
  local before after
  run talk 'quit\n' --ring-ports=2 --burst=64 --forward-mode=5tswap --verify
  before=$(frame 0 0)
  run talk 'run 8\nquit\n' --ring-ports=2 --burst=64 --forward-mode=5tswap --verify
  [ "$status" -eq 0 ]
  verified frames=1024 lost=0 damaged=0 mac_swapped=1024 tuple_swapped=1024 flags_cleared=1024 \
    l2_l3_set=1024 l4_set=1024
  after=$(frame 0 0)
  [ "${after:0:24}" = "${before:12:12}${before:0:12}" ]
  [ "${after:52:24}" = "${before:60:8}${before:52:8}${before:72:4}${before:68:4}" ]
  [ "${after:24:28}${after:76}" = "${before:24:28}${before:76}" ]
  [ "$(internet_checksum "${after:28:40}")" = ffff ]
  run talk 'run 16\nquit\n' --ring-ports=2 --burst=64 --forward-mode=5tswap --verify
  verified mac_original=1024 tuple_original=1024
}

@test "forwarder: topologies send where testpmd's do" {
  local topology ports expected port at
  while read -r topology ports expected; do
    run talk 'run 8\nquit\n' --ring-ports="$ports" --port-topology="$topology" --burst=64 \
      --forward-mode=mac --verify
    [ "$status" -eq 0 ]
    verified lost=0 damaged=0 mac_set=$((ports * 512))
    port=0
    for at in ${expected//,/ }; do
      grep -q "RX P=$port/Q=0 (socket 0) -> TX P=$at/Q=0" "$log"
      # The frame went to the peer of the port it was sent on, and that port's ring leads back:
      # byte 51 is the port it started at.
      [ "$((16#$(frame "$port" 0 | cut -c11-12)))" -eq "$at" ]
      [ "$((16#$(frame "$port" 0 | cut -c101-104)))" -eq "$port" ]
      port=$((port + 1))
    done
    [ "$port" -eq "$ports" ]
  done <<'TABLE'
paired 2 1,0
paired 3 1,0,2
paired 4 1,0,3,2
chained 2 1,0
chained 3 1,2,0
chained 4 1,2,3,0
loop 3 0,1,2
loop 1 0
TABLE
}

@test "forwarder: an odd number of paired ports gets testpmd's warning" {
  run talk 'quit\n' --ring-ports=3
  [ "$status" -eq 0 ]
  grep -q '^mppsdiff: an odd number of ports is not paired; the last one pairs with itself' "$log"
  run talk 'quit\n' --ring-ports=3 --port-topology=chained
  if grep -q 'odd number' "$log"; then false; fi
}

@test "forwarder: lcores share the streams as testpmd's do, queue by queue" {
  lcores 3
  run talk 'run 50\nquit\n' --ring-ports=3 --rxq=1 --txq=1 --nb-cores=2 --forward-mode=macswap --verify
  [ "$status" -eq 0 ]
  [ "$(value lcores "${lines[0]}")" -eq 2 ]
  grep -q 'Logical Core 1 (socket 0) forwards packets on 1 streams' "$log"
  grep -q 'Logical Core 2 (socket 0) forwards packets on 2 streams' "$log"
  [ "$(value packets "${lines[1]}")" -eq 4800 ]
  [ "$(value dropped "${lines[1]}")" -eq 0 ]
  verified lost=0 damaged=0
  # More lcores than streams: the rest idles. Fewer Tx than Rx queues: queue 0 to queue 0.
  run talk 'run 50\nquit\n' --ring-ports=1 --rxq=4 --txq=1 --nb-cores=2 --verify
  [ "$status" -eq 0 ]
  [ "$(value lcores "${lines[0]}")" -eq 1 ]
  [ "$(value queues "${lines[0]}")" -eq 1 ]
  [ "$(value packets "${lines[1]}")" -eq 1600 ]
  verified lost=0
  run talk 'quit\n' --ring-ports=2 --rxq=2 --txq=2
  grep -o 'RX P=[0-9]/Q=[0-9]' "$log" >"$BATS_TEST_TMPDIR/order"
  [ "$(tr '\n' ' ' <"$BATS_TEST_TMPDIR/order")" = 'RX P=0/Q=0 RX P=1/Q=0 RX P=0/Q=1 RX P=1/Q=1 ' ]
}

@test "forwarder: several lcores lose nothing over many slices" {
  local line
  lcores 3
  run talk "$(printf 'run 200 20\\n%.0s' {1..50})quit\n" --ring-ports=2 --rxq=2 --txq=2 --nb-cores=2 \
    --burst=64 --forward-mode=5tswap --verify
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 56 ]
  for line in "${lines[@]:1:50}"; do
    [ "$(value dropped "$line")" -eq 0 ]
    [ "$(value packets "$line")" -eq $((200 * 4 * 64)) ]
  done
  verified frames=2048 lost=0 damaged=0
}

@test "forwarder: what the Tx queue does not take is dropped, counted and given back" {
  local line i other
  # net_null gives without end, the ring takes only while the other lcore empties it.
  # Two lcores that share a CPU would wait for one another in the mempool's ring, a time slice each time.
  other=$(awk '/^Cpus_allowed_list/ { n = split($2, list, /[-,]/); print list[n] }' /proc/self/status)
  [ "$other" != "$cpu" ] || skip_or_fail "needs two CPUs: run it where the process may use two"
  eal[0]=--lcores=0@$cpu,1@$cpu,2@$other
  eal+=(--vdev=net_null0 --vdev=net_ring0)
  run talk "$(printf 'run 5000\\n%.0s' {1..8})quit\n" --nb-cores=2 --burst=64 --mbcache=0 --txd=512
  [ "$status" -eq 0 ]
  [ "$(value ports "${lines[0]}")" -eq 2 ]
  for i in {1..8}; do
    line=${lines[i]}
    # All 5000 bursts of net_null's came: no mbuf got lost in the slices before.
    [ "$(value packets "$line")" -ge $((5000 * 64)) ]
    [ "$(value packets "$line")" -le $((5000 * 64 * 2)) ]
  done
  [ "$(awk -F 'dropped=' '{ sum += $2 } END { print sum }' <<<"$output")" -gt 0 ]
}

@test "forwarder: net_null ports forward in every mode" {
  local mode
  eal+=("${null[@]}")
  for mode in io mac macswap 5tswap; do
    run talk 'run 1000\nquit\n' --forward-mode=$mode --burst=64 --rxq=2 --txq=2
    [ "$status" -eq 0 ]
    [ "$(value fwd "${lines[0]}")" = "$mode" ]
    [ "$(value packets "${lines[1]}")" -eq 256000 ]
    [ "$(value dropped "${lines[1]}")" -eq 0 ]
  done
}

@test "forwarder: the biggest scenario of the report needs at most 200 MB of hugepages" {
  has_hugepages 200 || skip_or_fail "needs 200 MB of free 2 MB hugepages: sysctl vm.nr_hugepages=512"
  local -a device
  lcores 9
  eal=("${eal[0]}" --in-memory --socket-limit=200 --no-pci)
  for device in net_null ring; do
    if [ "$device" = ring ]; then device=(--ring-ports=2); else
      eal+=("${null[@]}")
      device=()
    fi
    run talk 'run 10\nquit\n' "${device[@]}" --burst=64 --txd=1024 --rxd=1024 --mbcache=512 \
      --rxq=16 --txq=16 --nb-cores=8
    [ "$status" -eq 0 ] || { cat "$log"; false; }
    [ "$(value lcores "${lines[0]}")" -eq 8 ]
    eal=("${eal[@]:0:4}")
  done
}

# --- the software NIC's seam, the tracer's marks, the known answer

@test "forwarder: a preloaded software NIC is stepped between the bursts, if it wants to" {
  require_cmd cc
  cat >"$BATS_TEST_TMPDIR/nic.c" <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>
static unsigned calls, packets;
int softnic_inline(void) { return getenv("NIC_THREAD") == NULL; }
unsigned softnic_step(unsigned port, unsigned queue, unsigned n)
{
	if (port < 2 && queue < 2)
		calls++;
	packets += n;
	return n;
}
__attribute__((destructor)) static void report(void)
{
	fprintf(stderr, "nic calls=%u packets=%u\n", calls, packets);
}
SOURCE
  cc -shared -fPIC -o "$BATS_TEST_TMPDIR/nic.so" "$BATS_TEST_TMPDIR/nic.c"
  eal+=("${null[@]}")
  # Half a ring of 512 is 4 bursts of 64: 10 iterations make 3 batches, 2 of warm-up one more.
  export LD_PRELOAD=$BATS_TEST_TMPDIR/nic.so
  run talk 'run 10 2\nquit\n' --burst=64 --rxd=512 --txd=512 --rxq=2 --txq=2
  unset LD_PRELOAD
  [ "$status" -eq 0 ]
  [ "$(value packets "${lines[1]}")" -eq 2560 ]
  grep -q '^nic calls=16 packets=3072$' "$log"
  export LD_PRELOAD=$BATS_TEST_TMPDIR/nic.so NIC_THREAD=1
  run talk 'run 10 2\nquit\n' --burst=64 --rxd=512 --txd=512 --rxq=2 --txq=2
  unset LD_PRELOAD
  [ "$status" -eq 0 ]
  grep -q '^nic calls=0 packets=0$' "$log"
}

@test "forwarder: the marks around the timed part are there for a tracer" {
  require_cmd nm
  run nm "$FWD"
  [ "$status" -eq 0 ]
  [[ $output == *" T fwd_timed_begin"* ]]
  [[ $output == *" T fwd_timed_end"* ]]
}

@test "forwarder: FWD_EXTRA_WORK=N is N instructions in the loop of each engine, and 0 is none" {
  require_cmd objdump
  [ "$(uname -m)" = x86_64 ] || skip_or_fail "knows x86-64's rotation only: run it there"
  [ -z "${MPPSDIFF_FORWARDER:-}" ] || skip_or_fail "needs a build to link from: unset MPPSDIFF_FORWARDER"
  local extra engine
  extra=$("$KIT/reproducers/link" --build "$(forwarder_build)" --extra-work 23 3>&-)
  for engine in io mac macswap fivetswap; do
    [ "$(rotations "$extra" "${engine}_forward")" -eq 23 ]
    [ "$(rotations "$FWD" "${engine}_forward")" -eq 0 ]
  done
}

# --- testpmd's ways of being controlled

@test "forwarder: -i prompts, starts, stops and shows like testpmd" {
  lcores 2
  run bash -c "{ printf 'help\n  start  \nstart\n'; sleep 0.5; printf 'show port stats all\nstop\nstop\nfoo\n\nquit\n'; } |
    timeout 240 \"\$@\"" - "$FWD" "${eal[@]}" -- -i --ring-ports=2 --rxq=2 --txq=2
  [ "$status" -eq 0 ]
  [[ $output == *"testpmd> Commands: start, stop, show port stats all, help, quit"* ]]
  [[ $output == *"Packet forwarding already started"* ]]
  [[ $output == *"NIC statistics for port 0"*"RX-packets: "[1-9]*"NIC statistics for port 1"*"Tx-pps: "* ]]
  [[ $output == *"Forward Stats for RX Port= 0/Queue= 1 -> TX Port= 1/Queue= 1"* ]]
  [[ $output == *"Accumulated forward statistics for all ports"* ]]
  [[ $output == *"Packet forwarding not started"* ]]
  [[ $output == *"Command not found"* ]]
  # One accumulated block, in which everything received was sent.
  [ "$(grep -c Accumulated <<<"$output")" -eq 1 ]
  awk '/Accumulated/ { found = 1 } found && /RX-packets/ { rx = $2 } found && /TX-packets/ { tx = $2; drop = $4 }
    END { exit !(rx > 0 && rx == tx && drop == 0) }' <<<"$output"
}

@test "forwarder: -i -a starts at once, and the end of input ends it" {
  lcores 2
  run command_line -i -a --ring-ports=2
  [ "$status" -eq 0 ]
  [[ $output == *"Accumulated forward statistics"* ]]
}

@test "forwarder: without -i Enter ends it; statistics come each period until a signal" {
  local pid count signal
  for count in 1 2; do # the main lcore forwards itself, and it does not
    lcores "$count"
    run bash -c "{ sleep 0.5; echo; } | timeout 240 \"\$@\"" - "$FWD" "${eal[@]}" -- --ring-ports=2
    [ "$status" -eq 0 ]
    [[ $output == *"Press enter to exit"*"Forward statistics for port 0"*"Accumulated"*"Done."* ]]
    for signal in INT TERM; do
      : >"$BATS_TEST_TMPDIR/out" # not the counters of the one before
      "$FWD" "${eal[@]}" -- --ring-ports=2 --stats-period=1 </dev/null >"$BATS_TEST_TMPDIR/out" 2>"$log" 3>&- &
      pid=$!
      for _ in {1..300}; do
        [ "$(grep -c 'NIC statistics for port 1' "$BATS_TEST_TMPDIR/out")" -lt 2 ] || break
        sleep 0.1
      done
      # A job in the background of a shell without job control ignores SIGINT until it says otherwise.
      kill -"$signal" "$pid"
      wait "$pid"
      [ "$(grep -c 'NIC statistics for port 1' "$BATS_TEST_TMPDIR/out")" -ge 2 ]
      grep -q 'Accumulated' "$BATS_TEST_TMPDIR/out"
    done
  done
}

@test "forwarder: SIGTERM ends it at once in the middle of a slice, and a sleeping one" {
  local pid command
  for command in 'run 4294967295' ''; do
    lcores 2
    coproc FORWARDER { exec "$FWD" "${eal[@]}" -- --slices --ring-ports=2 2>"$log" 3>&-; }
    pid=$FORWARDER_PID
    read -r -t 60 -u "${FORWARDER[0]}" _
    [ -z "$command" ] || echo "$command" >&"${FORWARDER[1]}"
    sleep 0.3
    kill "$pid"
    run timeout 20 tail --pid="$pid" -f /dev/null
    [ "$status" -eq 0 ]
    wait "$pid" || true
  done
}
