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

@test "software: every variant builds with every compiler" {
  check_builds
}

@test "software: the proof agrees with what each variant asks for" {
  check_proof
}

@test "software: every variant forwards packets and drops none" {
  check_forwarding
}

@test "software: every variant is compared with the baseline, with an A/A pair" {
  check_comparison
}

@test "software: the report and its plots are there" {
  check_report
}
