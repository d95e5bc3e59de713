# SPDX-License-Identifier: BSD-3-Clause
# The software ConnectX: the launcher reproducers/softnic and the library of fwd/softnic.
#
# MPPSDIFF_SOFTNIC_LIBRARY, MPPSDIFF_SOFTNIC_CHECK, MPPSDIFF_FORWARDER and MPPSDIFF_TESTPMD name
# other files to test with.
load helpers

setup_file() {
  export LIBRARY=${MPPSDIFF_SOFTNIC_LIBRARY:-$KIT/build/fwd/softnic/softnic.so}
  export CHECK=${MPPSDIFF_SOFTNIC_CHECK:-$KIT/build/fwd/softnic/softnic-check}
  hugepages_lend 1200
  # Where namespaces are refused (a chroot, some containers) only the refusals can be tested.
  export NO_NAMESPACES=
  [ "$(id -u)" -ne 0 ] || NO_NAMESPACES=$("$KIT/reproducers/softnic" --library "$LIBRARY" --check 2>&1 | grep -o 'needs namespaces.*' || true)
}

teardown_file() {
  hugepages_return
}

need_namespaces() {
  [ -z "$NO_NAMESPACES" ] || skip_or_fail "$NO_NAMESPACES"
}

setup() {
  . "$KIT/reproducers/lib/common.bash"
  . "$KIT/reproducers/lib/testpmd.bash"
  require_root
  require_cmd ip unshare
  [ -e "$LIBRARY" ] || skip_or_fail "needs the software NIC: libibverbs-dev, then ninja -C build"
}

softnic() { # ARGUMENT...: the launcher with the library under test
  "$KIT/reproducers/softnic" --library "$LIBRARY" "$@" 3>&-
}

need_forwarder() { # sets FORWARDER, a forwarder with the mlx5 driver
  need_namespaces
  FORWARDER=${MPPSDIFF_FORWARDER:-}
  [ -n "$FORWARDER" ] || FORWARDER=$(forwarder_path) || skip_or_fail "needs a forwarder: reproducers/build"
  has_hugepages 300 || skip_or_fail "needs 150 free hugepages of 2 MB: sysctl vm.nr_hugepages"
}

need_testpmd() { # sets TESTPMD, its release and DEVICE_FLAG
  need_namespaces
  TESTPMD=${MPPSDIFF_TESTPMD:-$(command -v dpdk-testpmd || true)}
  [ -n "$TESTPMD" ] || skip_or_fail "needs dpdk-testpmd: install the package dpdk-dev, or set MPPSDIFF_TESTPMD"
  has_hugepages 300 || skip_or_fail "needs 150 free hugepages of 2 MB: sysctl vm.nr_hugepages"
  TESTPMD_RELEASE=$("$TESTPMD" -v -h 2>&1 | sed -n "s/.*RTE Version: 'DPDK \([0-9.]*\).*/\1/p")
  DEVICE_FLAG=-a
  release_at_least "$TESTPMD_RELEASE" 20.11 || DEVICE_FLAG=-w
}

# forward DEVICE PCI DEVARGS COMMANDS OPTION... [-- APP OPTION...]: one run of the forwarder in
# verify mode. Leaves its stdout in $BATS_TEST_TMPDIR/out, stderr in err, and sets the numbers of the
# report: made forwarded gaps pending foreign, and dropped of the forwarder's own lines.
forward() {
  local device=$1 pci=$2 devargs=$3 commands=$4 address rc=0
  local -a options=() devices=()
  shift 4
  while (($#)) && [ "$1" != -- ]; do options+=("$1"); shift; done
  shift || true
  for address in ${pci//,/ }; do devices+=("${MPPSDIFF_DEVICE_FLAG:--a}" "$address$devargs"); done
  printf '%b' "$commands" |
    softnic --mode inline --verify --device "$device" --pci "$pci" "${options[@]}" -- \
      "$FORWARDER" -l 0 --in-memory -m 256 "${devices[@]}" -- --slices "$@" \
      >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || rc=$?
  [ "$rc" -eq 0 ] || { tail -5 "$BATS_TEST_TMPDIR/err" >&2; return "$rc"; }
  read_report
  dropped=$(sum_of dropped "$BATS_TEST_TMPDIR/out")
}

sum_of() { # NAME FILE: sum of NAME=N over the lines of FILE
  awk -v name="$1" '{ for (i = 1; i <= NF; i++) if (split($i, a, "=") == 2 && a[1] == name) s += a[2] } END { print s + 0 }' "$2"
}

read_report() { # reads the last line of the library's report
  local line word previous=
  made=0 forwarded=0 gaps=0 pending=0 foreign=0
  line=$(grep 'softnic: verify: all:' "$BATS_TEST_TMPDIR/err") || { echo "no report" >&2; return 1; }
  for word in $line; do
    case $previous in
      made | forwarded | gaps | pending | foreign) printf -v "$previous" '%s' "$word" ;;
    esac
    previous=$word
  done
}

# path DEVICE DEVARGS RX TX OPTION... [-- APP OPTION...]: a million packets and more, burst
# functions as named (extended regular expressions), every packet and drop accounted for.
path() {
  local device=$1 devargs=$2 rx=$3 tx=$4 ready
  shift 4
  need_forwarder
  forward "$device" d8:00.0,d8:00.1 "$devargs" 'run 8000 0\nquit\n' "$@"
  read -r ready <"$BATS_TEST_TMPDIR/out"
  [[ $ready =~ rx_burst=$rx\  ]] || { echo "expected rx_burst=$rx: $ready" >&2; return 1; }
  [[ $ready =~ tx_burst=$tx\  ]] || { echo "expected tx_burst=$tx: $ready" >&2; return 1; }
  echo "made $made forwarded $forwarded gaps $gaps pending $pending dropped $dropped" >&2
  [ "$made" -ge 1000000 ]
  [ "$foreign" -eq 0 ]
  [ $((forwarded + gaps + pending)) -eq "$made" ]
  [ $((gaps + pending)) -eq "$dropped" ]
}

# --- the launcher ---------------------------------------------------------------

@test "--help names every option and exits 0" {
  run softnic --help
  [ "$status" -eq 0 ]
  for option in batch check cpu cqe-comp debug device evict flows help library mode pci seed time verify; do
    [[ $output == *"--$option"* ]] || { echo "no --$option" >&2; return 1; }
  done
}

@test "wrong usage is one line that says what is right, and exit status 2" {
  run softnic --frobnicate; [ "$status" -eq 2 ]; one_line_error "--help"
  run softnic --device cx6 --pci d8:00.0 -- true; [ "$status" -eq 2 ]; one_line_error "connectx4lx connectx5 connectx5vf"
  run softnic --device connectx5 --pci d8 -- true; [ "$status" -eq 2 ]; one_line_error "d8:00.0"
  run softnic --device connectx5 --pci d8:00.0,0000:D8:00.0 -- true; [ "$status" -eq 2 ]; one_line_error "twice"
  run softnic --device connectx5 --pci 1:0.0 -- true; [ "$status" -eq 2 ]; one_line_error "no PCI address"
  run softnic --device connectx5 --pci a0:00.0,a0:00.1,a0:00.2,a0:00.3,a0:00.4 -- true; [ "$status" -eq 2 ]; one_line_error "1 to 4"
  run softnic --device connectx5 --pci d8:00.0; [ "$status" -eq 2 ]; one_line_error "no command"
  run softnic --device connectx5 -- true; [ "$status" -eq 2 ]; one_line_error "--pci is missing"
  run softnic --pci d8:00.0 -- true; [ "$status" -eq 2 ]; one_line_error "--device is missing"
  run softnic --device connectx5 --pci d8:00.0 --mode both -- true; [ "$status" -eq 2 ]; one_line_error "inline thread"
  run softnic --device connectx5 --pci d8:00.0 --flows many -- true; [ "$status" -eq 2 ]; one_line_error "no number"
  run softnic --device connectx5 --pci d8:00.0 --evict all -- true; [ "$status" -eq 2 ]; one_line_error "none demote flush"
}

@test "a switch out of range, or a missing library, is one line and exit status 2" {
  need_namespaces
  run softnic --device connectx5 --pci d8:00.0 --flows 0 -- true; [ "$status" -eq 2 ]; one_line_error "from 1 to 65536"
  export MPPSDIFF_SOFTNIC_FAULT=tx-bytes
  run softnic --device connectx5 --pci d8:00.0 -- true; [ "$status" -eq 2 ]; one_line_error "VERIFY=1"
  unset MPPSDIFF_SOFTNIC_FAULT
  run "$KIT/reproducers/softnic" --library /nowhere/softnic.so --device connectx5 --pci d8:00.0 -- true
  [ "$status" -eq 2 ]
  one_line_error "ninja -C build"
}

@test "without root it says so" {
  require_cmd setpriv
  run setpriv --reuid 65534 --clear-groups bash "$KIT/reproducers/softnic" --library "$LIBRARY" --device connectx5 --pci d8:00.0 -- true
  [ "$status" -eq 2 ]
  one_line_error "needs root"
}

@test "--check agrees with what follows" {
  need_namespaces
  run softnic --check
  [ "$status" -eq 0 ]
}

@test "the command's exit status comes through, and its signals" {
  need_namespaces
  run softnic --device connectx5 --pci d8:00.0 -- bash -c 'exit 37'; [ "$status" -eq 37 ]
  run softnic --device connectx5 --pci d8:00.0 -- bash -c 'kill -TERM $$'; [ "$status" -eq 143 ]
  run -127 softnic --device connectx5 --pci d8:00.0 -- /nowhere/command
}

@test "the command sees its ports and nothing else; the machine sees nothing" {
  need_namespaces
  local before after
  before=$(ip -o link | awk '{ print $2 }'; ls /sys/bus/pci/devices)
  run softnic --device connectx5vf --pci 00:05.0,0000:82:00.1 -- bash -c 'cd /sys/bus/pci/devices; echo *; cat */device; ip -o link show softnic1'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "0000:00:05.0 0000:82:00.1" ]
  [ "${lines[1]}" = 0x1018 ]
  [[ ${lines[3]} == *"state UP"* ]]
  after=$(ip -o link | awk '{ print $2 }'; ls /sys/bus/pci/devices)
  [ "$before" = "$after" ]
}

@test "two at once do not meet, and a killed one leaves nothing" {
  need_namespaces
  local pid
  softnic --device connectx5 --pci d8:00.0 -- sleep 30 3>&- &
  pid=$!
  run softnic --device connectx5 --pci d8:00.0 -- cat /sys/bus/pci/devices/0000:d8:00.0/device
  [ "$status" -eq 0 ]
  [ "$output" = 0x1017 ]
  kill -KILL "$pid"
  wait "$pid" || true
  run ip link show softnic0
  [ "$status" -ne 0 ]
  [ ! -e /sys/bus/pci/devices/0000:d8:00.0/infiniband/softnic0 ]
}

# --- the library, through rdma-core's ABI -----------------------------------------

# A library with sanitizers (reproducers/check has one) brings their run time along; bash and env leak.
abi() { # LAUNCHER OPTION...: softnic-check passes
  need_namespaces
  local -a before=() inside=()
  if [[ $(ldd "$LIBRARY") =~ (/[^ ]*libasan[^ ]*) ]]; then
    before=(env "LD_PRELOAD=${BASH_REMATCH[1]}" ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0)
    inside=(env ASAN_OPTIONS=verify_asan_link_order=0)
  fi
  run "${before[@]}" "$KIT/reproducers/softnic" --library "$LIBRARY" --mode inline --pci d8:00.0 "$@" -- "${inside[@]}" "$CHECK"
  [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output" >&2; return 1; }
  [[ $output == *"1..34"* ]]
  [[ $output != *"not ok"* ]]
}

@test "rings, completions, hashes, rules, strides and sends as the PRM has them: ConnectX-5" { abi --device connectx5; }
@test "the same with compressed completions: ConnectX-4 Lx" { abi --device connectx4lx --cqe-comp; }
@test "the same in verify mode, other flows: ConnectX-5 VF" { abi --device connectx5vf --verify --flows 1000 --seed 99; }

@test "every public call of this machine's libibverbs and libmlx5 is answered or ends by name" {
  local missing
  require_cmd nm ldconfig
  ldconfig -p | grep -q libmlx5.so.1 || skip_or_fail "needs libmlx5: install ibverbs-providers"
  missing=$(comm -13 \
    <(nm -D --defined-only "$LIBRARY" | awk '{ print $3 }' | sort -u) \
    <(for library in libibverbs.so.1 libmlx5.so.1; do
        nm -D --defined-only "$(ldconfig -p | awk -v l="$library" '$1 == l { print $NF; exit }')"
      done | grep -v PRIVATE | awk '{ print $3 }' | sed 's/@.*//' | grep -E '^_?(ibv|mlx5dv)_' | sort -u))
  [ -z "$missing" ] || { printf 'not known to the library:\n%s\n' "$missing" >&2; return 1; }
}

@test "the library needs neither rdma-core nor DPDK" {
  require_cmd readelf nm
  run readelf -d "$LIBRARY"
  [ "$status" -eq 0 ]
  [[ $output != *ibverbs* && $output != *mlx5* && $output != *rte_* ]]
  run nm -D --undefined-only "$LIBRARY"
  [[ $output != *ibv_* && $output != *mlx5dv_* && $output != *rte_* ]]
}

# --- the unmodified driver, inline mode ---------------------------------------------

@test "plain queue, vector" { path connectx5 "" 'Vector_[A-Za-z]+' 'Enhanced_MPW_\+_Fast_Free' -- --rxq=2 --txq=2; }
@test "plain queue, scalar" { path connectx5 ,rx_vec_en=0 Scalar 'Enhanced_MPW.*' -- --rxq=2 --txq=2 --forward-mode=macswap; }
@test "striding queue, vector" { path connectx5 ,mprq_en=1,rxqs_min_mprq=1 'MPRQ_Vector_[A-Za-z]+' 'Enhanced_MPW.*' -- --rxq=2 --txq=2; }
@test "striding queue, scalar" { path connectx5 ,mprq_en=1,rxqs_min_mprq=1,rx_vec_en=0 Multi-Packet_RQ 'Enhanced_MPW.*' -- --rxq=2 --txq=2; }
@test "compressed completions, plain queue, vector" { path connectx5 "" 'Vector_[A-Za-z]+' 'Enhanced_MPW.*' --cqe-comp -- --rxq=2 --txq=2; }
@test "compressed completions, plain queue, scalar" { path connectx5 ,rx_vec_en=0 Scalar 'Enhanced_MPW.*' --cqe-comp -- --rxq=2 --txq=2; }
@test "compressed completions, striding queue, vector" { path connectx5 ,mprq_en=1,rxqs_min_mprq=1 'MPRQ_Vector_[A-Za-z]+' 'Enhanced_MPW.*' --cqe-comp -- --rxq=2 --txq=2; }
@test "compressed completions, striding queue, scalar" { path connectx5 ,mprq_en=1,rxqs_min_mprq=1,rx_vec_en=0 Multi-Packet_RQ 'Enhanced_MPW.*' --cqe-comp -- --rxq=2 --txq=2; }
@test "one packet a WQE" { path connectx5 ,txq_mpw_en=0 'Vector_[A-Za-z]+' 'No_MPW_\+_Fast_Free' -- --rxq=2 --txq=2 --forward-mode=5tswap; }
@test "packets inside a multi-packet WQE" { path connectx5 ,txqs_min_inline=0,txq_inline_mpw=128 'Vector_[A-Za-z]+' 'Enhanced_MPW_\+_INLINE.*' -- --rxq=2 --txq=2 --forward-mode=macswap; }
@test "a packet inside its WQE" { path connectx5 ,txqs_min_inline=0,txq_mpw_en=0,txq_inline_max=256 'Vector_[A-Za-z]+' 'No_MPW_\+_INLINE.*' -- --rxq=2 --txq=2; }
@test "ConnectX-4 Lx: inlined headers" { path connectx4lx "" 'Vector_[A-Za-z]+' 'No_MPW_\+_INLINE.*' -- --rxq=2 --txq=2 --forward-mode=macswap; }
@test "ConnectX-4 Lx: striding queue of 512 strides" { path connectx4lx ,mprq_en=1,rxqs_min_mprq=1,mprq_log_stride_num=9 'MPRQ_Vector_[A-Za-z]+' '.*INLINE.*' -- --rxq=2 --txq=2 --rxd=4096 --txd=1024; }
@test "flow rules as verbs give them" { path connectx5 ,dv_flow_en=0 'Vector_[A-Za-z]+' 'Enhanced_MPW.*' -- --rxq=2 --txq=2; }
@test "sixteen queues" { path connectx5 "" 'Vector_[A-Za-z]+' 'Enhanced_MPW.*' -- --rxq=16 --txq=16 --rxd=256 --txd=256; }

@test "four ports" {
  need_forwarder
  forward connectx5 01:00.0,01:00.1,02:00.0,02:00.1 "" 'run 2000 0\nquit\n' -- --rxq=2 --txq=2
  grep -q '^ready ports=4 queues=2 ' "$BATS_TEST_TMPDIR/out"
  # Two bursts of 32 a port and iteration.
  [ "$made" -ge $((2000 * 4 * 2 * 32)) ]
  [ "$foreign" -eq 0 ]
  [ $((forwarded + gaps + pending)) -eq "$made" ]
  [ $((gaps + pending)) -eq "$dropped" ]
}

@test "drops are the gaps that verify mode sees" {
  path connectx5 "" 'Vector_[A-Za-z]+' 'Enhanced_MPW.*' -- --rxq=2 --txq=2 --rxd=1024 --txd=64 --burst=128
  [ "$dropped" -gt 1000000 ]
}

@test "the report's devargs at the report's addresses" {
  need_forwarder
  forward connectx5 0000:82:00.0,0000:82:00.1 ,rxqs_min_mprq=8,mprq_en=1 'run 500 0\nquit\n' -- --rxq=8 --txq=8 --txd=1024 --rxd=1024 --burst=64
  grep -q rx_burst=MPRQ_Vector "$BATS_TEST_TMPDIR/out"
  [ "$forwarded" -eq "$made" ]
  forward connectx5vf 00:05.0 ,mprq_en=1,mprq_log_stride_num=6 'run 500 0\nquit\n' -- --rxq=16 --txq=16 --txd=1024 --rxd=1024 --burst=64 --port-topology=chained --forward-mode=macswap
  grep -q rx_burst=MPRQ_Vector "$BATS_TEST_TMPDIR/out"
  [ "$forwarded" -eq "$made" ]
}

@test "the same seed gives the same packets" {
  need_forwarder
  local first
  forward connectx5 d8:00.0,d8:00.1 "" 'run 300 0\nquit\n' --debug --seed 7 -- --rxq=4 --txq=4 --rxd=256 --txd=256
  first=$(grep -E 'verify|destroy_qp|destroy_wq|opcode' "$BATS_TEST_TMPDIR/err")
  forward connectx5 d8:00.0,d8:00.1 "" 'run 300 0\nquit\n' --debug --seed 7 -- --rxq=4 --txq=4 --rxd=256 --txd=256
  [ "$first" = "$(grep -E 'verify|destroy_qp|destroy_wq|opcode' "$BATS_TEST_TMPDIR/err")" ]
}

# traced NAME: instructions of one timed part, by function, in NAME.tsv, and the sums in NAME.
traced() {
  softnic --mode inline --device connectx5 --pci d8:00.0,d8:00.1 --seed 7 -- \
    "$TOOLS/trace" --apart "${LIBRARY##*/}" --send 'run 4 100' --out "$BATS_TEST_TMPDIR/$1.tsv" -- \
    "$FORWARDER" -l 0 --in-memory -m 256 "${MPPSDIFF_DEVICE_FLAG:--a}" d8:00.0 "${MPPSDIFF_DEVICE_FLAG:--a}" d8:00.1 -- \
    --slices --rxq=2 --txq=2 --burst=64 >"$BATS_TEST_TMPDIR/$1" 2>"$BATS_TEST_TMPDIR/err" || {
    tail -3 "$BATS_TEST_TMPDIR/err" >&2
    return 1
  }
}

@test "the same binary, seed and packets: the same instructions, none of them the device's" {
  need_forwarder
  traced first
  traced second
  diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
  diff "$BATS_TEST_TMPDIR/first.tsv" "$BATS_TEST_TMPDIR/second.tsv"
  grep -qx packets=1024 "$BATS_TEST_TMPDIR/first"
  grep -qx instructions_apart=0 "$BATS_TEST_TMPDIR/first"
  grep -q mlx5_rx_burst_vec "$BATS_TEST_TMPDIR/first.tsv"
}

@test "the driver's switches reach its queues: compression off, inlining, older names" {
  need_forwarder
  brief connectx5 ,rxq_cqe_comp_en=0 'Vector_[A-Za-z]+' 'Enhanced_MPW_\+_Fast_Free' --cqe-comp --debug
  [ "$(created_cqs 1)" -eq 0 ]
  brief connectx5 "" 'Vector_[A-Za-z]+' 'Enhanced_MPW_\+_Fast_Free' --cqe-comp --debug
  [ "$(created_cqs 1)" -eq 4 ]
  brief connectx5 ,mprq_en=1,rxqs_min_mprq=3 'Vector_[A-Za-z]+' '.*'
  brief connectx5 ,txq_inline_min=18 '.*' 'No_MPW_\+_INLINE.*'
  brief connectx5 ,txq_inline=256,txqs_min_inline=0,txq_mpw_en=0 '.*' 'No_MPW_\+_INLINE.*'
  brief connectx5 ,txq_max_inline_len=128,txqs_min_inline=0,txq_mpw_hdr_dseg_en=1,txqs_max_vec=8,tx_vec_en=1,rx_vec_en=1 'Vector_[A-Za-z]+' 'Enhanced_MPW_\+_INLINE.*'
}

# brief DEVICE DEVARGS RX TX LAUNCHER-OPTION...: a few packets, the burst functions as named.
brief() {
  local ready
  forward "$1" d8:00.0,d8:00.1 "$2" 'run 40 0\nquit\n' "${@:5}" -- --rxq=2 --txq=2
  read -r ready <"$BATS_TEST_TMPDIR/out"
  [[ $ready =~ rx_burst=$3\ tx_burst=$4\  ]] || { echo "$2: expected $3 and $4: $ready" >&2; return 1; }
  [ "$forwarded" -eq "$made" ] && [ "$made" -gt 0 ]
}

created_cqs() { # FORMAT: completion queues for which the driver asked that format of compression
  grep -c "create_cq .* compression $1 " "$BATS_TEST_TMPDIR/err" || true
}

@test "a second start finds nothing of the first one, which was killed" {
  need_forwarder
  local before pid
  state() { cat /proc/self/mounts; ip -o link | awk '{ print $2 }'; ls /sys/bus/pci/devices /dev/shm; }
  before=$(state)
  softnic --mode inline --device connectx5 --pci d8:00.0,d8:00.1 -- "$FORWARDER" -l 0 --in-memory -m 256 \
    "${MPPSDIFF_DEVICE_FLAG:--a}" d8:00.0 "${MPPSDIFF_DEVICE_FLAG:--a}" d8:00.1 -- --slices --rxq=2 --txq=2 \
    < <(printf 'run 100 0\n'; exec sleep 30) >"$BATS_TEST_TMPDIR/killed" 2>/dev/null 3>&- &
  pid=$!
  for ((i = 0; i < 300; i++)); do
    if grep -q '^packets=' "$BATS_TEST_TMPDIR/killed"; then break; fi
    sleep 0.1
  done
  kill -KILL "$pid"
  wait "$pid" || true
  forward connectx5 d8:00.0,d8:00.1 "" 'run 100 0\nquit\n' -- --rxq=2 --txq=2
  [ "$forwarded" -eq "$made" ]
  [ "$before" = "$(state)" ]
}

# refused_by_driver OPTION...: the forwarder ends with status 1, the driver or ethdev says why, nothing hangs.
refused_by_driver() {
  local rc=0
  forward connectx5 d8:00.0 "" 'quit\n' -- "$@" 2>/dev/null || rc=$?
  [ "$rc" -eq 1 ] || { echo "$*: status $rc" >&2; return 1; }
  grep -qE '^mppsdiff: ' "$BATS_TEST_TMPDIR/err"
}

@test "more queues than the driver or the device has are refused with an errno" {
  need_forwarder
  refused_by_driver --rxq=1024 --txq=1024
  refused_by_driver --rxq=300 --txq=300 --rxd=64 --txd=64
}

@test "without libibverbs the loader says which library is missing" {
  local library rc=0
  need_forwarder
  library=$(ldd "$FORWARDER" | awk '$1 ~ /^libibverbs/ { print $3 }')
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --propagation private -- bash -c 'mount --bind /dev/null "$1" && shift && exec "$@"' _ "$(realpath "$library")" \
    "$KIT/reproducers/softnic" --library "$LIBRARY" --device connectx5 --pci d8:00.0 -- "$FORWARDER" -l 0 --in-memory \
    >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- </dev/null || rc=$?
  [ "$rc" -eq 127 ]
  grep -q 'libibverbs' "$BATS_TEST_TMPDIR/out"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 1 ]
}

@test "a PCI function the library does not play is no device, and that is said" {
  need_forwarder
  local rc=0
  # shellcheck disable=SC2016 # for the inner shell
  softnic --mode inline --device connectx5 --pci d8:00.0 -- bash -c '
    echo 0x1019 >/sys/bus/pci/devices/0000:d8:00.0/device
    exec "$@"' _ "$FORWARDER" -l 0 --in-memory -m 256 "${MPPSDIFF_DEVICE_FLAG:--a}" d8:00.0 -- --slices \
    </dev/null >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || rc=$?
  [ "$rc" -ne 0 ]
  grep -q '^softnic: .*1019' "$BATS_TEST_TMPDIR/err"
}

@test "no veth, no namespaces: one line that says what is refused and what to do" {
  local tool
  for tool in ip unshare; do
    mkdir -p "$BATS_TEST_TMPDIR/$tool"
    printf '#!/bin/sh\necho "%s: Operation not permitted" >&2\nexit 1\n' "$tool" >"$BATS_TEST_TMPDIR/$tool/$tool"
    chmod +x "$BATS_TEST_TMPDIR/$tool/$tool"
    PATH=$BATS_TEST_TMPDIR/$tool:$PATH run softnic --device connectx5 --pci d8:00.0 -- true
    [ "$status" -eq 2 ]
    one_line_error "needs namespaces, tmpfs and veth, which are refused here ($tool: Operation not permitted); use --device ring"
  done
}

# --- damage on purpose ----------------------------------------------------------------

damage() { # FAULT TEXT: the run ends by SIGABRT (134) and the library's last line has TEXT
  local rc=0
  : >"$BATS_TEST_TMPDIR/out" # of an earlier session: say must not see it
  need_forwarder
  export MPPSDIFF_SOFTNIC_FAULT=$1
  forward connectx5 d8:00.0,d8:00.1 "" 'run 100 0\nquit\n' -- --rxq=2 --txq=2 2>/dev/null || rc=$?
  [ "$rc" -eq 134 ] || { echo "expected 134, got $rc" >&2; return 1; }
  grep '^softnic: ' "$BATS_TEST_TMPDIR/err" | tail -1 | grep -qE "$2" || { tail -3 "$BATS_TEST_TMPDIR/err" >&2; return 1; }
}

@test "a wrong key of a receive buffer is a protection fault" { damage rx-lkey:70 'protection fault: unknown key: port . rx queue . WQE [0-9]+: key 0x[0-9a-f]+ address 0x[0-9a-f]+ length 60'; }
@test "a wrong address of a receive buffer is a protection fault" { damage rx-address:70 'protection fault: address outside .* rx queue . WQE [0-9]+: .* address 0xdead000'; }
@test "a wrong key of a packet to send is a protection fault" { damage tx-lkey:70 'protection fault: unknown key: port . tx queue . WQE [0-9]+'; }
@test "a wrong address of a packet to send is a protection fault" { damage tx-address:70 'protection fault: address outside .* tx queue . WQE [0-9]+: .* address 0xdead000'; }
@test "a changed byte is seen" { damage tx-bytes:70 'differs at byte 22'; }
@test "a changed length is seen" { damage tx-length:70 'has 59 bytes, not 60'; }
@test "a changed order is seen" { damage tx-order:70 'sent twice or out of order'; }

# --- unmodified testpmd, thread mode -----------------------------------------------------

say() { # COMMANDS [WAIT...]: types them into testpmd: once it is up, with pauses in between
  local line i
  for ((i = 0; i < 300; i++)); do
    grep -q 'testpmd>' "$BATS_TEST_TMPDIR/out" 2>/dev/null && break
    sleep 0.1
  done
  while read -r line; do
    printf '%s\n' "$line"
    sleep 0.3
  done < <(printf '%b' "$1")
  shift
  "$@"
  printf 'stop\nquit\n'
}

testpmd() { # LAUNCHER-OPTIONS DEVARGS APP-OPTIONS COMMANDS [WAIT...]: a session in verify mode, WAIT before its end
  local rc=0
  # shellcheck disable=SC2086 # the first and third argument are lists of options
  say "${@:4}" |
    softnic --verify --device connectx5 --pci d8:00.0,d8:00.1 $1 -- \
      stdbuf -oL "$TESTPMD" -l 0,1 --in-memory -m 256 "$DEVICE_FLAG" "d8:00.0$2" "$DEVICE_FLAG" "d8:00.1$2" -- \
      -i --nb-cores=1 --no-flush-rx --no-lsc-interrupt $3 \
      >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || rc=$?
  [ "$rc" -eq 0 ] || { tail -5 "$BATS_TEST_TMPDIR/err" >&2; return "$rc"; }
}

# as_reported SCENARIO: unmodified testpmd with the scenario's own command line, in the words of its
# release and scaled to this machine. Both counters run on every port, every queue forwards, and the
# device got exactly what testpmd says it sent.
as_reported() {
  local conf=$KIT/scenarios/$1/scenario.conf out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err burst port queues sent rc=0
  local -a eal app
  need_testpmd
  has_hugepages 1000 || skip_or_fail "needs 500 free hugepages of 2 MB: sysctl vm.nr_hugepages"
  testpmd_parse "$(sed -n 's/^command = //p' "$conf")"
  testpmd_scale
  [ "${scaled_cpus[0]}" != "$scaled_control" ] || skip_or_fail "needs two CPUs: testpmd's prompt and its forwarding take one each"
  mapfile -t eal < <(testpmd_eal_arguments "$TESTPMD_RELEASE" software yes 64)
  mapfile -t app < <(testpmd_app_arguments | grep -vx -e --slices)
  queues=$((${#tp_devices[@]} * tp_app[rxq]))
  # The device shares the CPU of the prompt, which sleeps.
  say 'show rxq info 0 0\n' all_forward "$queues" |
    softnic --verify --cpu "$scaled_control" --device "$(sed -n 's/^nic = //p' "$conf")" --pci "$(IFS=,; printf '%s' "${tp_devices[*]%%,*}")" -- \
      stdbuf -oL "$TESTPMD" "${eal[@]}" -- "${app[@]}" -i -a >"$out" 2>"$err" || rc=$?
  [ "$rc" -eq 0 ] || { tail -5 "$err" >&2; return "$rc"; }
  burst=$(sed -n 's/^Burst mode: //p' "$out" | tr ' ' _)
  [[ " $(sed -n 's/^rx_burst = //p' "$conf") " == *" $burst "* ]] || { echo "unexpected rx burst function: $burst" >&2; return 1; }
  [ "$(streams)" -eq "$queues" ]
  for ((port = 0; port < ${#tp_devices[@]}; port++)); do
    [ "$(counter "for port $port" RX-packets)" -gt 0 ]
    [ "$(counter "for port $port" TX-packets)" -gt 0 ]
  done
  read_report
  sent=$(counter 'for all ports' TX-packets)
  echo "received $(counter 'for all ports' RX-packets) sent $sent; made $made forwarded $forwarded foreign $foreign" >&2
  [ "$sent" -eq "$forwarded" ]
  [ "$foreign" -eq 0 ]
}

streams() { # how many queues testpmd has shown to have forwarded
  grep -o 'Forward Stats for RX Port= *[0-9]*/Queue= *[0-9]*' "$BATS_TEST_TMPDIR/out" | sort -u | wc -l
}

all_forward() { # COUNT: waits until that many queues have forwarded, half a minute at most
  local i
  for ((i = 0; i < 60; i++)); do
    printf 'show fwd stats all\n'
    sleep 0.5
    [ "$(streams)" -lt "$1" ] || return 0
  done
}

counter() { # WHICH NAME: a number of testpmd's last forward statistics
  awk -v which="$1" -v name="$2:" '
    /[Ff]orward statistics/ { on = index($0, which) > 0 }
    on { for (i = 1; i < NF; i++) if ($i == name) last = $(i + 1) }
    END { print last + 0 }' "$BATS_TEST_TMPDIR/out"
}

@test "the first testbed's command line in unmodified testpmd" { as_reported connectx4lx-baremetal; }
@test "the second testbed's command line in unmodified testpmd" { as_reported connectx5-vm; }
@test "the third testbed's command line in unmodified testpmd" { as_reported connectx5-e5-2697a; }

@test "testpmd forwards, stops, starts, reconfigures, detaches and attaches" {
  need_testpmd
  testpmd "" "" "-a --rxq=4 --txq=4 --forward-mode=macswap" \
    'stop\nport stop all\nport start all\nstart\nstop\nport stop all\nport config all rxq 2\nport config all txq 2\nport start all\nstart\nstop\nport stop 0\nport close 0\ndevice detach 0000:d8:00.0\nport attach 0000:d8:00.0\nport start all\nstart\nstop\n'
  read_report
  [ "$forwarded" -gt 0 ]
  [ "$foreign" -eq 0 ]
  grep -q 'Device 0000:d8:00.0 is detached' "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"
  # The port it got back forwards again: the last session counts packets on both.
  awk '/Accumulated forward statistics/ { getline; received = $2 } END { exit !(received > 0) }' "$BATS_TEST_TMPDIR/out"
}

printed_hashes() { # RSS hash and queue of port 0's packets in testpmd's output, each once
  # Only the beginning: testpmd prints faster than sed reads. No hash: a packet that came between the
  # driver's rule for all packets and its rule for IPv4.
  head -c 2000000 "$BATS_TEST_TMPDIR/out" |
    sed -n 's/.*dst=02:00:00:00:01:00.*RSS hash=\(0x[0-9a-f]*\) - RSS queue=0x\([0-9a-f]*\).*/\1 \2/p' | sed '/^0x0 /d' | sort -u
}

made_hashes() { # the same as the library steered the flows last; softnic-check has its own Toeplitz to prove it
  sed -n 's/^softnic: port 0 flow [0-9]*: hash \(0x[0-9a-f]*\) queue \([0-9]*\)$/\1 \2/p' "$BATS_TEST_TMPDIR/err" | tail -n 24 | sort -u
}

seen() { # COUNT: waits until testpmd has printed that many, half a minute at most
  local i
  for ((i = 0; i < 150; i++)); do
    [ "$(printed_hashes | wc -l)" -lt "$1" ] || return 0
    sleep 0.2
  done
}

KEY=6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa

# hashes DEVARGS [KEY]: hashes and queues of port 0 that testpmd prints, with that key, which mlx5
# programs when the port starts; they are the library's.
hashes() {
  testpmd "--batch 2 --flows 24 --debug" "$1" "--rxq=2 --txq=2 --forward-mode=rxonly --enable-rx-cksum" \
    "set verbose 1\\nport stop 0\\nport config 0 rss-hash-key ipv4 ${2:-$KEY}\\nport start 0\\nstart\\n" seen 24
  diff <(printed_hashes) <(made_hashes) >&2 || return 1
  printed_hashes
}

@test "packet type, checksum flags, length and hash of the mbufs are those of the packets" {
  need_testpmd
  local vector scalar striding other
  vector=$(hashes "")
  [ "$(wc -l <<<"$vector")" -eq 24 ]
  grep -q 'length=60 .*hw ptype: L2_ETHER L3_IPV4_EXT_UNKNOWN L4_UDP *- sw ptype: L2_ETHER L3_IPV4 L4_UDP' "$BATS_TEST_TMPDIR/out"
  # The CRC and the checksums are right, so no packet may lack one of the flags.
  grep -o 'ol_flags: .*RX.*' "$BATS_TEST_TMPDIR/out" >"$BATS_TEST_TMPDIR/flags"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/flags")" -ge 24 ]
  if grep -vE 'RSS_HASH.*L4_CKSUM_GOOD.*IP_CKSUM_GOOD' "$BATS_TEST_TMPDIR/flags"; then return 1; fi
  scalar=$(hashes ,rx_vec_en=0)
  striding=$(hashes ,mprq_en=1,rxqs_min_mprq=1)
  other=$(hashes "" "${KEY//6/7}")
  [ "$vector" = "$scalar" ]
  [ "$vector" = "$striding" ]
  [ "$(wc -l <<<"$other")" -eq 24 ]
  [ "$vector" != "$other" ]
}

@test "an indirection table written anew takes effect" {
  need_testpmd
  testpmd "" "" "--rxq=2 --txq=2 --forward-mode=rxonly -a" \
    'stop\nport config 0 rss reta (0,1),(1,1)\nport config 1 rss reta (0,1),(1,1)\nstart\nstop\nstart\nstop\n'
  # The second session still finds packets of before the change in its rings; the third does not.
  run grep -c 'Forward Stats for RX Port= 0/Queue= 0' "$BATS_TEST_TMPDIR/out"
  [ "$output" -eq 2 ]
  run grep -c 'Forward Stats for RX Port= 0/Queue= 1' "$BATS_TEST_TMPDIR/out"
  [ "$output" -eq 3 ]
}

@test "devargs the driver refuses are refused, and nothing hangs" {
  need_testpmd
  testpmd "" ,no_such_devarg=1 "" 'show port summary all\n'
  grep -q 'Number of available ports: 0' "$BATS_TEST_TMPDIR/out"
  grep -q no_such_devarg "$BATS_TEST_TMPDIR/err"
}
