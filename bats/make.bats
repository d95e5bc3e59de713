# SPDX-License-Identifier: BSD-3-Clause
# Builds with make: by a release's own makefiles (a small tree made here that has the real ones' shape, and
# a real one where MPPSDIFF_OLD_TREE names it), and replayed in a release without them.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets status, output and lines; each test is a subshell

load helpers

setup_file() {
  hugepages_lend 256
}

teardown_file() {
  hugepages_return
}

setup() {
  build=$KIT/reproducers/build
  cd "$BATS_TEST_TMPDIR" || return
}

# --- the release's own makefiles ------------------------------------------------------------------

# old_tree: a tree of the shape of 18.11 to 20.08 in ./tree, and its identity in ./id. Of three drivers and five
# libraries, net/ring needs bus/vdev, eal, ring, hash (a header of it) and kvargs (eal needs it built before).
old_tree() {
  local folder
  mkdir -p tree/{mk,config,buildtools,app,lib/librte_{eal/linux,ring,hash,kvargs,unused},drivers/{bus/vdev,net/{ring,other}}}
  cat >tree/GNUmakefile <<'MK'
export RTE_SDK := $(CURDIR)
ROOTDIRS-y := buildtools lib drivers app
include $(RTE_SDK)/mk/rte.sdkroot.mk
MK
  cat >tree/mk/rte.sdkroot.mk <<'MK'
export RTE_SRCDIR := $(CURDIR)
export RTE_OUTPUT := $(O)
export BUILDDIR := $(O)/build
export BUILDING_RTE_SDK := 1
all: pause
	@mkdir -p $(O)/include $(O)/lib
	@sed -n 's/^CONFIG_\(.*\)=y$$/#define \1 1/p; s/^CONFIG_\(.*\)=\([^yn].*\)$$/#undef \1\n#define \1 \2/p' $(O)/.config >$(O)/include/new.h
	@cmp -s $(O)/include/new.h $(O)/include/rte_config.h || mv $(O)/include/new.h $(O)/include/rte_config.h
	@set -e; for d in $(ROOTDIRS-y); do mkdir -p $(BUILDDIR)/$$d; $(MAKE) S=$$d -f $(CURDIR)/$$d/Makefile -C $(BUILDDIR)/$$d all; done
config: pause
	@mkdir -p $(O)
	@cp config/defconfig_$(T) $(O)/.config
pause:
	@[ "$(MAKE_PAUSE)" = n ] || { echo "error: Press enter to continue"; exit 1; }
MK
  cat >tree/mk/rte.vars.mk <<'MK'
include $(RTE_OUTPUT)/.config
CPU_CFLAGS ?= -m64
CFLAGS := $(CPU_CFLAGS) -pthread -I$(RTE_OUTPUT)/include -include $(RTE_OUTPUT)/include/rte_config.h -I$(RTE_SDK)/lib/librte_eal -I$(RTE_SDK)/lib/librte_hash
MK
  cat >tree/mk/rte.subdir.mk <<'MK'
all:
	@set -e; for d in $(DIRS-y); do mkdir -p $$d; $(MAKE) S=$(S)/$$d -f $(RTE_SRCDIR)/$(S)/$$d/Makefile -C $$d all; done
MK
  cat >tree/mk/rte.lib.mk <<'MK'
VPATH = $(RTE_SRCDIR)/$(S)
OBJS = $(SRCS-y:.c=.o)
all: $(RTE_OUTPUT)/lib/$(LIB)
%.o: %.c
	@echo "  CC $@"; $(CC) $(CFLAGS) $(EXTRA_CFLAGS) -o $@ -c $< && echo 'cmd_$@ = $(CC) $(CFLAGS) $(EXTRA_CFLAGS) -o $@ -c $<' >.$@.cmd
$(RTE_OUTPUT)/lib/$(LIB): $(OBJS)
	@$(AR) crDs $(LIB) $(OBJS) && echo 'cmd_$(LIB) = $(AR) crDs $(LIB) $(OBJS)' >.$(LIB).cmd && cp $(LIB) $@
MK
  cat >tree/mk/rte.app.mk <<'MK'
LDLIBS := -L$(RTE_OUTPUT)/lib --whole-archive -lrte_hash
ifeq ($(CONFIG_RTE_LIBRTE_UNUSED),y)
LDLIBS += -lrte_unused
endif
LDLIBS += -lrte_kvargs -lrte_ring -lrte_eal -lrte_bus_vdev -lrte_pmd_ring --no-whole-archive -Wl,-lrt -lm -lm
MK
  for folder in linux-gcc linux-clang; do
    printf 'CONFIG_%s\n' RTE_EXEC_ENV_LINUX=y RTE_MAX_LCORE=128 RTE_BUILD_SHARED_LIB=y "RTE_TOOLCHAIN_${folder#linux-}=y" RTE_LIBRTE_{EAL,RING,HASH,KVARGS,UNUSED}=y \
      RTE_LIBRTE_VDEV_BUS=y RTE_LIBRTE_PMD_RING=n RTE_LIBRTE_OTHER_PMD=y RTE_LIBRTE_EAL_TSC_SUPPORT=y RTE_TEST_PMD=y \
      >tree/config/defconfig_x86_64-native-$folder
  done
  # shellcheck disable=SC2016 # make's dollars
  {
    printf 'include $(RTE_SDK)/mk/rte.vars.mk\n%s\ninclude $(RTE_SDK)/mk/rte.subdir.mk\n' 'DIRS-$(CONFIG_RTE_LIBRTE_KVARGS) += librte_kvargs
DIRS-$(CONFIG_RTE_LIBRTE_EAL) += librte_eal
DEPDIRS-librte_eal := \
	librte_kvargs
DIRS-$(CONFIG_RTE_LIBRTE_RING) += librte_ring
DIRS-$(CONFIG_RTE_LIBRTE_HASH) += librte_hash
DIRS-$(CONFIG_RTE_LIBRTE_UNUSED) += librte_unused' >tree/lib/Makefile
    printf 'include $(RTE_SDK)/mk/rte.vars.mk\nDIRS-y += bus net\ninclude $(RTE_SDK)/mk/rte.subdir.mk\n' >tree/drivers/Makefile
    printf 'include $(RTE_SDK)/mk/rte.vars.mk\nDIRS-$(CONFIG_RTE_LIBRTE_VDEV_BUS) += vdev\ninclude $(RTE_SDK)/mk/rte.subdir.mk\n' >tree/drivers/bus/Makefile
    printf 'include $(RTE_SDK)/mk/rte.vars.mk\nDIRS-$(CONFIG_RTE_LIBRTE_PMD_RING) += ring\nDIRS-$(CONFIG_RTE_LIBRTE_OTHER_PMD) += other\ninclude $(RTE_SDK)/mk/rte.subdir.mk\n' >tree/drivers/net/Makefile
    printf 'DIRS-$(CONFIG_RTE_TEST_PMD) += test-pmd\nall: ; @echo "error: an application"; exit 1\n' >tree/app/Makefile
    printf 'all: ;\n' >tree/buildtools/Makefile
    printf 'include $(RTE_SDK)/mk/rte.vars.mk\nDIRS-y += linux\ninclude $(RTE_SDK)/mk/rte.subdir.mk\n' >tree/lib/librte_eal/Makefile
  }
  old_library lib/librte_eal/linux eal 'eal.c eal_log.c' ''
  old_library lib/librte_kvargs kvargs kvargs.c ''
  old_library lib/librte_ring ring ring.c '-lrte_eal'
  old_library lib/librte_hash hash hash.c ''
  old_library lib/librte_unused unused unused.c ''
  old_library drivers/bus/vdev bus_vdev vdev.c '-lrte_eal'
  old_library drivers/net/ring pmd_ring rte_eth_ring.c '-lrte_ring -lrte_bus_vdev'
  old_library drivers/net/other pmd_other other.c ''
  echo 'int rte_hash_of(int);' >tree/lib/librte_hash/rte_hash.h
  printf '#include <rte_hash.h>\nint eth_ring(void);\nint eth_ring(void) { return RTE_MAX_LCORE; }\n' >tree/drivers/net/ring/rte_eth_ring.c
  echo 'int broken(void) { return "no"' >tree/drivers/net/other/other.c
  printf 'release=20.08\nkind=directory\nid=sha256:old%s%s\ntree=%s\n' "$BATS_TEST_NUMBER" "$$" "$PWD/tree" >id
}

old_library() { # FOLDER NAME SOURCES LIBRARIES
  local source
  # shellcheck disable=SC2016 # make's dollars
  printf 'include $(RTE_SDK)/mk/rte.vars.mk\nLIB = librte_%s.a\nCFLAGS += -O3\nSRCS-y := %s\nLDLIBS += %s\ninclude $(RTE_SDK)/mk/rte.lib.mk\n' \
    "$2" "$3" "$4" >"tree/$1/Makefile"
  for source in $3; do printf 'int %s(void);\nint %s(void) { return 1; }\n' "${source%.c}" "${source%.c}" >"tree/$1/$source"; done
}

# old_build OPTION...: builds ./tree in a cache of this test.
old_build() {
  XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache "$build" --identity id --variant make-static --drivers net/ring "$@" 3>&-
}

@test "makefiles: only what is linked is built, in the makefiles' own link order, and nothing in the tree" {
  local dir
  old_tree
  find tree -type f -exec sha256sum {} + | sort >before
  dir=$(old_build)
  find tree -type f -exec sha256sum {} + | sort | diff before -
  grep -qx mode=make "$dir/identity"
  diff "$dir/archives" <(printf 'lib/librte_%s.a\n' hash kvargs ring eal bus_vdev pmd_ring)
  diff <(cd "$dir/make" && find lib -name '*.a' | sort) <(sort "$dir/archives")
  diff <(grep eal.a "$dir/members") <(printf 'lib/librte_eal.a\tbuild/lib/librte_eal/linux/eal%s.o\n' '' _log)
  diff <(cut -f2 "$dir/members") "$dir/objects"
  while IFS= read -r object; do [ -f "$dir/make/$object" ]; done <"$dir/objects"
  diff "$dir/ldlibs" <(printf '%s\n' -lrt -lm)
}

@test "makefiles: switches of what is not linked are off, what decides how code is compiled stays" {
  local dir
  old_tree
  dir=$(old_build)
  diff <(sort "$dir/make/.config") <(printf 'CONFIG_%s\n' RTE_EXEC_ENV_LINUX=y RTE_MAX_LCORE=128 RTE_BUILD_SHARED_LIB=n RTE_TOOLCHAIN_gcc=y RTE_LIBRTE_{EAL,RING,HASH,KVARGS}=y \
    RTE_LIBRTE_UNUSED=n RTE_LIBRTE_VDEV_BUS=y RTE_LIBRTE_PMD_RING=y RTE_LIBRTE_OTHER_PMD=n RTE_LIBRTE_EAL_TSC_SUPPORT=y RTE_TEST_PMD=n | sort)
  grep -qx 'RTE_MAX_LCORE 128' "$dir/config"
  grep -qx 'RTE_LIBRTE_PMD_RING 1' "$dir/config"
}

@test "makefiles: each object's exact compile line, through ccache, EXTRA_CFLAGS behind all others" {
  local dir
  old_tree
  dir=$(old_build)
  [ "$(wc -l <"$dir/commands.tsv")" -eq "$(wc -l <"$dir/objects")" ]
  awk -F '\t' -v tree="$PWD/tree/" 'index($2, tree) != 1 || $3 !~ /^ccache \/.*gcc -m64 .* -O3 +-Wno-error +-o / || $3 ~ / -f(PIC|pic|PIE|pie) / { print; bad = 1 } END { exit bad }' "$dir/commands.tsv"
  diff <(sed -n 2p "$dir/flags.tsv") <(printf '7\t7\t-\n')
  if grep -e -fPIC "$dir/cflags"; then return 1; fi
  # What the user's shell says to makefiles, as from working on DPDK, is no part of the build.
  dir=$(CPU_CFLAGS=-m32 EXTRA_CPPFLAGS=-O1 RTE_SDK=/nonexistent V=1 MAKEFLAGS=n old_build --variant make-static-fpic)
  awk -F '\t' '$3 !~ / -m64 .* -Wno-error -fPIC +-o / { print; bad = 1 } END { exit bad }' "$dir/commands.tsv"
  # EXTRA_CFLAGS are for applications as well.
  grep -qx -e -fPIC "$dir/cflags"
  diff <(sed -n 2p "$dir/flags.tsv") <(printf '7\t7\t-\n')
  if grep -e '^-W' -e '\.o$' -e '^-c$' "$dir/cflags"; then return 1; fi
}

@test "makefiles: clang has a template of its own, in 18.11 under another name" {
  local dir
  old_tree
  dir=$(old_build --cc clang)
  grep -qx CONFIG_RTE_TOOLCHAIN_clang=y "$dir/make/.config"
  for name in gcc clang; do mv tree/config/defconfig_x86_64-native-linux{,app}-$name; done
  sed -i 's/^id=.*/&app/' id
  dir=$(old_build --cc clang)
  grep -qx CONFIG_RTE_TOOLCHAIN_clang=y "$dir/make/.config"
  rm tree/config/defconfig_x86_64-native-linuxapp-clang
  sed -i 's/^id=.*/&none/' id
  run old_build --cc clang
  [ "$status" -eq 1 ]
  one_line_error 'no template x86_64-native-linux-clang'
}

@test "makefiles: a finished build is reused, an interrupted one goes on, an interrupted configuration is made again" {
  local dir
  old_tree
  dir=$(old_build)
  touch mark
  [ "$(old_build)" = "$dir" ]
  [ -z "$(find "$dir/make" -newer mark -name '*.o')" ]
  rm "$dir/done" "$dir/make/build/lib/librte_ring/ring.o"
  [ "$(old_build)" = "$dir" ]
  [ "$(find "$dir/make" -newer mark -name '*.o')" = "$dir/make/build/lib/librte_ring/ring.o" ]
  rm "$dir/done" "$dir/make/.configured"
  echo CONFIG_RTE_HALF=y >"$dir/make/.config"
  [ "$(old_build)" = "$dir" ]
  if grep HALF "$dir/make/.config"; then return 1; fi
}

@test "makefiles: what they cannot do is one line with the log, exit 1" {
  old_tree
  run old_build --drivers net/other --error-file why
  [ "$status" -eq 1 ]
  one_line_error 'make-static with gcc: '
  one_line_error ' error: '
  grep -q 'other.c:1' why
  [[ "${lines[0]}" == *"(log: "*"/build.log)" ]]
  run old_build --drivers net/nosuch
  [ "$status" -eq 1 ]
  one_line_error "driver net/nosuch was not configured: the release's makefiles have no such driver"
  run old_build --testpmd
  [ "$status" -eq 2 ]
  one_line_error 'testpmd is built by meson only'
}

@test "a real tree with makefiles: builds, links, forwards, and is what was asked for" {
  local dir binary variant
  [ -n "${MPPSDIFF_OLD_TREE:-}" ] || skip_or_fail 'needs DPDK of 18.11 to 20.08: MPPSDIFF_OLD_TREE=DIR'
  for variant in make-static make-static-fpic; do
    dir=$("$build" --dpdk "$MPPSDIFF_OLD_TREE" --variant "$variant" --drivers "$SMALL" 3>&-)
    grep -qx mode=make "$dir/identity"
    forwards "$dir"
    asked_for "$dir" "$variant"
  done
}

# --- replayed -------------------------------------------------------------------------------------

SMALL=bus/pci,bus/vdev,mempool/ring,net/null,net/ring

# replayed [VARIANT]: a build of the default DPDK, which has no makefiles; made on first use.
replayed() {
  "$build" --variant "${1:-make-static}" --drivers "$SMALL" 3>&-
}

# forwards BUILD: its forwarder moves packets between two rings, as built and in another link order.
forwards() {
  local seed binary answer
  for seed in 0 1; do
    binary=$("$KIT/reproducers/link" --build "$1" --seed "$seed" 3>&-)
    answer=$(printf 'run 100\nquit\n' | timeout 240 "$binary" -l 0 --no-pci --no-huge -m 256 --no-shconf -- --slices --ring-ports=2 2>log 3>&-)
    [[ "$answer" == *packets=[1-9]*dropped=0* ]] || { printf '%s\n' "$answer"; cat log; return 1; }
  done
}

# asked_for BUILD VARIANT: the objects and the binary are of the code model the variant asks for.
asked_for() {
  local model
  local -a archives
  model=$(printf '__PIE__' | gcc -E -P - | sed 's/^[0-9]*$/pie/; s/^__PIE__$/absolute/')
  [ "$2" = make-static ] || model=pic
  mapfile -t archives < <(sed "s#^#$1/make/#" "$1/archives")
  [[ "$("$TOOLS/elfproof" model "${archives[@]}")" == code_model="$model"* ]]
}

@test "replayed: GNU make compiles all objects of meson's list, meson compiles none" {
  local dir
  dir=$(replayed)
  grep -qx mode=replayed "$dir/identity"
  [ "$(wc -l <"$dir/objects")" -gt 50 ]
  diff <(sort "$dir/objects") <(cut -f1 "$dir/commands.tsv" | sort)
  while IFS= read -r object; do [ -f "$dir/make/$object" ]; done <"$dir/objects"
  while IFS= read -r archive; do
    diff <(ar t "$dir/make/$archive") <(awk -F '\t' -v a="$archive" '$1 == a { n = split($2, p, "/"); print p[n] }' "$dir/members")
  done <"$dir/archives"
  [ -z "$(find "$dir/meson" -name '*.o')" ]
  # What pmdinfogen says of a driver was made from the objects compiled here.
  grep -q 'net_ring' "$dir/make/drivers/rte_net_ring.pmd.c"
}

@test "replayed: the makefiles' flags in place of meson's, all else as the tree has it" {
  local dir
  dir=$(replayed)
  awk -F '\t' '
    { line = " " $3 " " }
    line ~ / -(fPIC|D_FILE_OFFSET_BITS=64|fdiagnostics-color=always|Wextra|Winvalid-pch) / { print "not dropped: " $3; bad = 1 }
    line !~ / -m64 -pthread -W -DRTE_USE_FUNCTION_VERSIONING / { print "not added: " $3; bad = 1 }
    line !~ / -O3 / || line !~ / -march=native / || line !~ / -D_GNU_SOURCE / { print "lost: " $3; bad = 1 }
    # No release without makefiles knows them.
    line ~ /RTE_MACHINE_CPUFLAG/ { print; bad = 1 }
    END { exit bad }' "$dir/commands.tsv"
  diff <(sed -n 2p "$dir/flags.tsv" | cut -f1) <(sed -n 2p "$dir/flags.tsv" | cut -f2)
  # What one object needs it keeps.
  grep -q "eal.*-DABI_VERSION=" "$dir/commands.tsv"
}

@test "replayed: constants that the makefiles had otherwise, where the tree has meson's of that time" {
  local dir
  dir=$(replayed)
  # shellcheck source=../reproducers/lib/common.bash
  . "$KIT/reproducers/lib/common.bash"
  build_macros "$dir" >macros
  grep -qx 'RTE_MAX_MEMSEG_LISTS 64' macros
  grep -qx 'RTE_MAX_MEM_MB_PER_TYPE 131072' macros
  grep -qx 'RTE_LIBRTE_EAL_VMWARE_TSC_MAP_SUPPORT 1' macros
  if grep -q '^RTE_USE_LIBBSD' macros "$dir/config"; then return 1; fi
  # This release has changed it itself (4, then 32).
  grep -qx 'RTE_MAX_NUMA_NODES 32' macros
  grep -qx 'RTE_MAX_MEMSEG_LISTS 64' "$dir/config"
  # Every object saw them.
  while IFS= read -r object; do
    grep -qE '(^| )config/rte_config\.h( |$)' "$dir/make/$object.d" || { echo "$object: only the tree's own constants"; return 1; }
  done <"$dir/objects"
}

@test "replayed: links, forwards, and is what was asked for; with -fPIC as EXTRA_CFLAGS the forwarder too" {
  local dir
  dir=$(replayed)
  forwards "$dir"
  asked_for "$dir" make-static
  if grep -qx -e -fPIC "$dir/cflags"; then return 1; fi
  dir=$(replayed make-static-fpic)
  forwards "$dir"
  asked_for "$dir" make-static-fpic
  awk -F '\t' '$3 !~ / -fPIC -MD / { print; bad = 1 } END { exit bad }' "$dir/commands.tsv"
  grep -qx -e -fPIC "$dir/cflags"
}

@test "replayed: an interrupted compile goes on, with the object it was at made again" {
  local dir object=lib/librte_kvargs.a.p/kvargs_rte_kvargs.c.o
  dir=$(replayed)
  touch mark
  rm "$dir/done" "$dir/make/$object.cmd"
  # as a killed compiler leaves it, younger than its source
  : >"$dir/make/$object"
  [ "$(replayed)" = "$dir" ]
  [ -s "$dir/make/$object" ]
  [ "$(cd "$dir/make" && find . -newer "$BATS_TEST_TMPDIR/mark" -name '*.o')" = "./$object" ]
}

@test "replayed: an object that does not compile is one line with the log, exit 1" {
  local tree
  dir=$(replayed)
  tree=$(sed -n 's/^tree=//p' "$dir/identity")
  cp -al "$tree" tree 2>/dev/null || cp -a "$tree" tree
  # a new file in place of the linked one
  cp tree/lib/kvargs/rte_kvargs.c new.c
  echo 'this is no C;' >>new.c
  mv -f new.c tree/lib/kvargs/rte_kvargs.c
  printf 'release=22.11.0\nkind=directory\nid=sha256:broken%s\ntree=%s\n' $$ "$PWD/tree" >id
  run "$build" --identity id --variant make-static --drivers "$SMALL" --error-file why
  [ "$status" -eq 1 ]
  one_line_error "error: unknown type name 'this'"
  dir=$(sed -n 's#.*(log: \(.*\)/build.log)$#\1#p' why)
  [ ! -e "$dir/done" ]
  rm -rf "$dir"
}

# --- data files -----------------------------------------------------------------------------------

@test "meson's options in a variant of make are refused, with the line" {
  mkdir -p kit/reproducers/variants
  cp -a "$KIT/reproducers/lib" "$KIT/reproducers/build" kit/reproducers/
  sed '/^build/a meson_options = -Db_staticpic=false' "$KIT/reproducers/variants/make-static.conf" >kit/reproducers/variants/mixed.conf
  run kit/reproducers/build --variant mixed
  [ "$status" -eq 2 ]
  one_line_error 'reproducers/variants/mixed.conf:6: "meson_options" with build = make'
}

@test "the table of what the makefiles had otherwise is well-formed" {
  awk -F '\t' '
    NR == 1 { bad = $0 != "action\twhat\tvalue\tmeson_value\tsource"; next }
    NF != 5 || $5 == "" || $1 !~ /^(drop|add|define)$/ || ($1 != "define" && ($2 !~ /^-/ || $3 $4 != "--")) || ($1 == "define" && ($2 !~ /^RTE_/ || $3 == $4)) || ($1 $2 in seen) { print; bad = 1 }
    { seen[$1 $2] = 1 }
    END { exit bad || NR < 10 }' "$KIT/reproducers/lib/replay.tsv"
}
