# SPDX-License-Identifier: BSD-3-Clause
# The testbed as TAP: builds each variant, forwards, compares, plots.

setup_file() {
  load ../../bats/helpers
  load ../scenario
  scenario_run
}

setup() {
  load ../../bats/helpers
  load ../scenario
}

@test "connectx4lx-baremetal: every variant builds with every compiler" {
  check_builds
}

@test "connectx4lx-baremetal: the proof agrees with what each variant asks for" {
  check_proof
}

@test "connectx4lx-baremetal: every variant forwards packets and drops none" {
  check_forwarding
}

@test "connectx4lx-baremetal: every variant is compared with the baseline, with an A/A pair" {
  check_comparison
}

@test "connectx4lx-baremetal: the report and its plots are there" {
  check_report
}
