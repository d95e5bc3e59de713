# SPDX-License-Identifier: BSD-3-Clause
# Front door of the kit; every line of logic lies in the scripts it calls.
#
#   make run             set up, build DPDK's variants, forward, report   (QUICK=1: a first look)
#   make check           set up and run the kit's tests                   (STRICT=1: no skips)
#   make lint            shellcheck, clang-format, warnings of gcc and clang
#   make bench           figures that are printed and never asserted
#   make build           the kit's own tools only
#   make clean           remove build folders; results and the cache stay
#
# SCENARIO=NAME picks another testbed, ARGS='--cc gcc ...' goes to its run script.

SCENARIO ?= software
QUICK    ?= 0
ARGS     ?=

.PHONY: known-scenario run check lint bench build clean help setup-run setup-check

run: known-scenario setup-run build
	scenarios/$(SCENARIO)/run $(if $(filter 1,$(QUICK)),--quick) $(ARGS)

check: setup-check build
	reproducers/check

lint: setup-check build
	bats bats/lint.bats

bench: setup-run build
	reproducers/bench $(ARGS)

build:
	reproducers/tools

known-scenario:
	@[ -x 'scenarios/$(SCENARIO)/run' ] || { echo "mppsdiff: unknown scenario '$(SCENARIO)'; known: $(sort $(patsubst scenarios/%/run,%,$(wildcard scenarios/*/run)))" >&2; exit 2; }

setup-run:
	reproducers/setup --for run

setup-check:
	reproducers/setup --for all

clean:
	rm -rf build build-*

help:
	@sed -n '3,12s/^# \{0,1\}//p' Makefile
