# Makefile - one file, no recursion into folders; `make help` lists what it can do.
#
# Variants live side by side: out/release (what you install), out/asan (sanitizers), out/weak (the
# test-only build whose walls can be switched off one by one; never installed).

# No rule of make's own: it would make a folder tests/NAME from a script tests/NAME.sh.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

VARIANT ?= release
O       := out/$(VARIANT)
PREFIX  ?= $(HOME)/.local
VERSION := $(shell cat VERSION)
CC      ?= gcc
HOSTCC  ?= $(CC)

ROOMS   := base wire policy box workspace audit git session cli
SRC     := $(sort $(foreach r,$(ROOMS),$(wildcard src/$(r)/*.c)))
OBJ     := $(SRC:src/%.c=$(O)/%.o) $(O)/gen/profiles.o $(O)/gen/classes.o $(O)/gen/lenders.o
# Without main.c and without the one command that walks its table.
LIBOBJ  := $(filter-out $(O)/cli/main.o $(O)/cli/cmd_help.o,$(OBJ))

# The door's roles are a second program: they need large libraries, and nothing that starts a box
# should have to load them.
DOOR_ROOMS := base wire policy role egress dial keeper door
DOOR_SRC := $(sort $(foreach r,$(DOOR_ROOMS),$(wildcard src/$(r)/*.c)))
DOOR_OBJ := $(DOOR_SRC:src/%.c=$(O)/%.o) $(O)/gen/profiles.o $(O)/gen/classes.o $(O)/gen/lenders.o
DOOR_LIBOBJ := $(filter-out $(O)/door/main.o,$(DOOR_OBJ))
DOOR_LDLIBS := -lssl -lcrypto -lnghttp2 -lcares -lseccomp -ljansson -lz -lbrotlidec -lzstd -lsodium

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum -Wvla \
           -Wformat=2 -Wundef
STRICT  := -Wconversion
CFLAGS  := -std=gnu17 -O2 -g -fPIE -fstack-protector-strong -ftrivial-auto-var-init=zero
CPPFLAGS := -D_GNU_SOURCE -Isrc -I$(O)/gen -DOSTIARY_VERSION='"$(VERSION)"'
LDFLAGS := -Wl,-z,relro,-z,now
LDLIBS  := -ljansson -lcrypto -lz

# A static program starts in half the time and needs nothing on the machine it is copied to.
ifeq ($(VARIANT),asan)
# Undefined behaviour ends the process: pid 1 has nowhere to report it to.
CFLAGS  += -fsanitize=address,undefined -fno-sanitize-recover=undefined
CFLAGS  += -fno-omit-frame-pointer -DOSTIARY_ASAN
LDFLAGS += -fsanitize=address,undefined -pie
else ifeq ($(VARIANT),fuzz)
CC      := clang
CFLAGS  := -std=gnu17 -O1 -g -fPIE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -DOSTIARY_ASAN -Wno-unused-variable
LDFLAGS += -pie -fsanitize=fuzzer,address,undefined
HOSTCC  := gcc
else
CPPFLAGS += -D_FORTIFY_SOURCE=3
LDFLAGS += -static-pie
# It relocates itself before anything else; a packed table is a tenth of a millisecond less. The C library reads it from 2.36 on.
ifneq ($(shell printf '\043include <features.h>\n\043if __GLIBC_PREREQ(2,36)\nyes\n\043endif\n' | $(CC) -E -P - 2>/dev/null | grep -x yes),)
LDFLAGS += -Wl,-z,pack-relative-relocs
endif
endif
DOOR_LDFLAGS := $(filter-out -static-pie,$(LDFLAGS)) -pie
ifeq ($(VARIANT),weak)
CPPFLAGS += -DOSTIARY_WEAK
# Only files that see OSTIARY_WEAK, in themselves or in a header, can differ: the other objects are
# the release build's own.
WEAK_OWN := $(patsubst src/%.c,out/weak/%.o,$(shell sh tools/weak_files.sh src))
share     = $(filter $(WEAK_OWN),$(1)) $(patsubst out/weak/%,out/release/%,$(filter-out $(WEAK_OWN),$(1)))
OBJ      := $(call share,$(OBJ))
DOOR_OBJ := $(call share,$(DOOR_OBJ))
SHARED   := $(sort $(filter out/release/%,$(OBJ) $(DOOR_OBJ)))
# Attacker code that runs as one of our own roles; no other variant contains it.
OBJ      += $(O)/attack/role_hook.o

.PHONY: shared-objects
shared-objects:
	@$(MAKE) $(SUB) VARIANT=release $(SHARED)
$(SHARED): shared-objects
	@:
endif

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' "$(1)" "$(2)")

.PHONY: all help demo test check soak soak-suites tiers times bench attack fuzz asan lint deb install uninstall clean setup
.DELETE_ON_ERROR:

all: $(O)/ostiary $(O)/ostiary-door

$(O)/ostiary-door: $(DOOR_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(DOOR_LDFLAGS) -o $@.new $^ $(DOOR_LDLIBS) && mv -f $@.new $@

# Beside, then renamed: whoever runs the program meanwhile, as suites do, finds the old one or the new one.
$(O)/ostiary: $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@.new $^ $(LDLIBS) && mv -f $@.new $@

# The first build looks for what it needs, and installs or names what is missing.
$(filter $(O)/%,$(OBJ) $(DOOR_OBJ)) $(O)/gen/gen_seccomp: | out/.setup
out/.setup: tools/setup.sh
	@sh tools/setup.sh build
	@mkdir -p $(@D) && touch $@

# Everything that reads outside bytes or does arithmetic on them is held to the stricter set.
$(O)/base/%.o $(O)/wire/%.o $(O)/policy/%.o $(O)/audit/%.o $(O)/workspace/%.o $(O)/egress/%.o $(O)/dial/%.o: WARN += $(STRICT)

$(O)/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

# The system-call filter is compiled and checked at build time; the program needs no libseccomp.
$(O)/gen/gen_seccomp: $(wildcard tools/gen_seccomp*.[ch]) src/box/seccomp_table.c src/box/seccomp_table.h \
                         src/box/seccomp_run.h src/box/seccomp_watch.c src/box/seccomp_watch.h
	@mkdir -p $(@D)
	$(call say,HOSTCC,$@)
	$(Q)$(HOSTCC) -std=gnu17 -D_GNU_SOURCE -Isrc -O1 $(WARN) -o $@ $(filter %.c,$^) -lseccomp

$(O)/gen/seccomp_filter.h: $(O)/gen/gen_seccomp
	$(call say,GEN,$@)
	$(Q)$< > $@

$(O)/box/seccomp.o: $(O)/gen/seccomp_filter.h

# The public suffix list is carried inside too, in the packed form that distributions ship.
PSL_FILE ?= /usr/share/publicsuffix/public_suffix_list.dafsa
$(O)/gen/psl_data.h: tools/gen_psl.sh | out/.setup
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sh tools/gen_psl.sh $(PSL_FILE) > $@

$(O)/policy/psl.o: $(O)/gen/psl_data.h

# Built-in profiles are text files; they are carried inside the program.
$(O)/gen/profiles.c: tools/gen_profiles.sh $(wildcard profiles/*.profile)
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sh tools/gen_profiles.sh $(sort $(wildcard profiles/*.profile)) > $@

# So are the classes of files; `make classes-page` writes them into the page that documents them.
$(O)/gen/classes.c: tools/gen_classes.sh data/classes
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sh tools/gen_classes.sh data/classes > $@.new && mv $@.new $@

# And the places that lend credentials.
$(O)/gen/lenders.c: tools/gen_lenders.sh data/lenders
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sh tools/gen_lenders.sh data/lenders > $@.new && mv $@.new $@

.PHONY: classes-page
classes-page: $(O)/ostiary
	$(Q)sh tools/gen_classes.sh --page $(O)/ostiary docs/classes.md

$(O)/attack/role_hook.o: tests/attack/role_hook.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(O)/gen/profiles.o $(O)/gen/classes.o $(O)/gen/lenders.o: $(O)/gen/%.o: $(O)/gen/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -c -o $@ $<

-include $(patsubst %.o,%.d,$(filter $(O)/%,$(OBJ) $(DOOR_OBJ)))

# --- programs that only tests need -------------------------------------------------------------

# Unit tests and fuzz targets are compiled one by one and linked into few programs: unit/all with the
# rooms of ostiary, unit/door with the rooms of the door (tests/unit/door_*.c, tests/fuzz/door_*.c).
# Each test is a link to its program and is chosen by its own name (tests/unit/libmain.c). Fuzz
# targets replay their seeds there; `make fuzz` links each with libFuzzer instead.
UNIT_NAMES := $(patsubst tests/unit/%.c,%,$(filter-out tests/unit/lib%.c,$(wildcard tests/unit/*.c)))
FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
UNIT := $(UNIT_NAMES:%=$(O)/unit/%) $(FUZZ_NAMES:%=$(O)/unit/replay/%) $(O)/unit/model
FUZZ := $(FUZZ_NAMES:%=$(O)/fuzz/%)

# Its allocations fail one by one, as far as they are made in our own code: a link of its own.
UNIT_LONE := no_memory_test

UNIT_DOOR := $(filter door_%,$(UNIT_NAMES))
UNIT_REST := $(filter-out door_% $(UNIT_LONE),$(UNIT_NAMES))
FUZZ_DOOR := $(filter door_%,$(FUZZ_NAMES))
FUZZ_REST := $(filter-out door_%,$(FUZZ_NAMES))

.PHONY: units fuzzers
units: $(UNIT)
fuzzers: $(FUZZ)

# One entry point per program: each object's own is renamed after its file.
$(O)/unit/obj/%.o: tests/unit/%.c | out/.setup
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<
	$(Q)objcopy --redefine-sym main=unit_$* $@

$(O)/unit/obj/replay/%.o: tests/fuzz/%.c | out/.setup
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)objcopy --redefine-sym LLVMFuzzerTestOneInput=replay_$* $@

$(O)/unit/obj/lib%.o: tests/unit/lib%.c | out/.setup
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

# unit_table UNITS FUZZERS: the names that a program knows, for libmain.c.
unit_table = ( echo '/* Written by the Makefile. */'; echo '\#include "unit/libmain.h"'; \
  $(foreach n,$(1),echo 'int unit_$(n)(int, char **);';) $(foreach n,$(2),echo 'int replay_$(n)(const uint8_t *, size_t);';) \
  echo 'const struct unit_entry unit_table[] = {'; \
  $(foreach n,$(1),echo '{"$(n)", unit_$(n), NULL},';) $(foreach n,$(2),echo '{"$(n)", NULL, replay_$(n)},';) \
  echo '{NULL, NULL, NULL}};' )

$(O)/unit/obj/all_table.c: Makefile $(wildcard tests/unit tests/fuzz)
	@mkdir -p $(@D)
	$(Q)$(call unit_table,$(UNIT_REST),$(FUZZ_REST)) >$@
$(O)/unit/obj/door_table.c: Makefile $(wildcard tests/unit tests/fuzz)
	@mkdir -p $(@D)
	$(Q)$(call unit_table,$(UNIT_DOOR),$(FUZZ_DOOR)) >$@

UNIT_ALL_OBJ := $(UNIT_REST:%=$(O)/unit/obj/%.o) $(FUZZ_REST:%=$(O)/unit/obj/replay/%.o) $(O)/unit/obj/libmain.o
UNIT_DOOR_OBJ := $(UNIT_DOOR:%=$(O)/unit/obj/%.o) $(FUZZ_DOOR:%=$(O)/unit/obj/replay/%.o) $(O)/unit/obj/libmain.o
.SECONDARY: $(UNIT_ALL_OBJ) $(UNIT_DOOR_OBJ)

$(O)/unit/all: $(O)/unit/obj/all_table.c $(UNIT_ALL_OBJ) $(LIBOBJ)
	$(call say,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -o $@ $^ $(LDFLAGS) $(LDLIBS)

# Answers of our name server are read with the C library's reader.
$(O)/unit/door: $(O)/unit/obj/door_table.c $(UNIT_DOOR_OBJ) $(DOOR_LIBOBJ)
	$(call say,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -o $@ $^ $(DOOR_LDFLAGS) $(DOOR_LDLIBS) -lresolv

$(UNIT_REST:%=$(O)/unit/%): $(O)/unit/all
	$(Q)ln -sfn all $@
$(UNIT_DOOR:%=$(O)/unit/%): $(O)/unit/door
	$(Q)ln -sfn door $@
$(FUZZ_REST:%=$(O)/unit/replay/%): $(O)/unit/all
	$(Q)mkdir -p $(@D) && ln -sfn ../all $@
$(FUZZ_DOOR:%=$(O)/unit/replay/%): $(O)/unit/door
	$(Q)mkdir -p $(@D) && ln -sfn ../door $@

$(O)/unit/no_memory_test: tests/unit/no_memory_test.c $(LIBOBJ)
	@mkdir -p $(@D)
	$(call say,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< $(LIBOBJ) $(LDFLAGS) $(LDLIBS) \
	  $(addprefix -Xlinker --wrap=,malloc calloc realloc reallocarray strdup strndup vasprintf __vasprintf_chk)

$(O)/fuzz/door_%: tests/fuzz/door_%.c $(DOOR_LIBOBJ)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(DOOR_LIBOBJ) $(DOOR_LDFLAGS) $(DOOR_LDLIBS) -lresolv

$(O)/fuzz/%: tests/fuzz/%.c $(LIBOBJ)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIBOBJ) $(LDFLAGS) $(LDLIBS)

# The model test is one program of several files; it needs the rooms that know of trees alone.
MODEL_OBJ := $(filter $(O)/base/% $(O)/wire/% $(O)/policy/% $(O)/workspace/%,$(LIBOBJ)) $(O)/gen/profiles.o $(O)/gen/classes.o $(O)/gen/lenders.o
$(O)/unit/model: $(wildcard tests/model/*.[ch]) $(MODEL_OBJ)
	@mkdir -p $(@D)
	$(call say,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $(filter %.c,$^) $(MODEL_OBJ) $(LDFLAGS) $(LDLIBS)

-include $(wildcard $(O)/unit/obj/*.d $(O)/unit/obj/replay/*.d $(O)/unit/*.d $(O)/unit/replay/*.d) $(FUZZ:=.d)

DEMO := out/demo/witness out/demo/origin

out/demo/witness: demo/witness.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu17 -O1 $(WARN) -o $@ $<

out/demo/origin: demo/origin.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu17 -O1 $(WARN) -o $@ $< $$(pkg-config --libs openssl)

# --- what a person types -----------------------------------------------------------------------

FUZZ_SECONDS ?= 30

# Targets below build through a second make, in parallel unless the first was told how.
SUB = --no-print-directory $(if $(V),,-s) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

help:
	@echo 'make            build out/release/ostiary'
	@echo 'make demo       build, then show each wall by a real attempt'
	@echo 'make check      before a commit: units, documents, lint of what changed; a minute'
	@echo 'make test       all that a change can break, as root and as a user; twelve minutes'
	@echo 'make soak       all of it the long way, for a night'
	@echo '                T=NAME runs one suite, T=NAME:CHECK one check, U=root or U=user as whom'
	@echo 'make tiers      which suite is in which tier, and why'
	@echo 'make install    to PREFIX (default ~/.local); make uninstall takes it away again'
	@echo 'make deb        a Debian package in out/'
	@echo 'make attack     only the attack suite      make fuzz   fuzzers, FUZZ_SECONDS=30 each'
	@echo 'make asan       the tests under sanitizers (TIER=soak: all of it) make bench  time and memory beside other tools'
	@echo 'make lint       layout, static analysis, include arrows; lint-deep has the slow analyzer too'
	@echo 'make setup      only install what building needs'
	@echo 'V=1 shows commands; VARIANT=asan or weak builds those variants.'

setup:
	@sh tools/setup.sh build

demo:
	@sh tools/setup.sh build demo
	@$(MAKE) $(SUB) all $(DEMO)
	@sh demo/run.sh

# Three tiers, one list: tools/suites.py reads which suite is in which, `make tiers` prints it.
# T=NAME runs one suite, T=NAME:CHECK counts only checks with that word; U=root or U=user as whom.
PHASE = @sh tools/phase.sh
TESTS = python3 tools/test.py $(if $(U),--user $(U)) $(T) $(SUITE)

check:
	$(PHASE) --begin
	$(PHASE) set-up sh tools/setup.sh build check lint
	$(PHASE) build $(MAKE) $(SUB) all units $(DEMO)
	@$(TESTS) --phases --tier check

test:
	$(PHASE) --begin
	$(PHASE) set-up sh tools/setup.sh build test
	$(PHASE) build $(MAKE) $(SUB) all units $(DEMO)
	$(PHASE) 'build, weak' $(MAKE) $(SUB) VARIANT=weak all
	@$(TESTS) --phases --tier test

asan:
	$(PHASE) --begin
	$(PHASE) set-up sh tools/setup.sh build test
	$(PHASE) 'build, sanitizers' $(MAKE) $(SUB) VARIANT=asan all units $(DEMO)
	$(PHASE) 'build, weak' $(MAKE) $(SUB) VARIANT=weak all
	@VARIANT=asan $(TESTS) --phases --tier $(or $(TIER),test)

# All of it the long way, for a night: suites in tier soak, the sanitizers' build, the whole lint.
soak:
	@bash tools/soak.sh $(T) $(SUITE)

soak-suites:
	$(PHASE) --begin
	$(PHASE) set-up sh tools/setup.sh build test soak lint
	$(PHASE) build $(MAKE) $(SUB) all units $(DEMO)
	$(PHASE) 'build, weak' $(MAKE) $(SUB) VARIANT=weak all
	@$(TESTS) --phases --tier soak

# Measures what tests/times says, for the order of suites.
times:
	@sh tools/setup.sh build test
	@$(MAKE) $(SUB) all units $(DEMO)
	@$(MAKE) $(SUB) VARIANT=weak all
	@$(TESTS) --tier test --times

tiers:
	@python3 tools/test.py --table

attack:
	@sh tools/setup.sh build test
	@$(MAKE) $(SUB) all
	@$(MAKE) $(SUB) VARIANT=weak all
	@python3 tools/test.py --tier test attack

fuzz:
	@sh tools/setup.sh build fuzz
	@$(MAKE) $(SUB) VARIANT=fuzz fuzzers
	@sh tools/fuzz.sh $(FUZZ_SECONDS)

bench:
	@sh tools/setup.sh build bench
	@$(MAKE) $(SUB) all
	@bash bench/run.sh

# How they divide the work is said in the head of tools/lint.py.
lint: LINT := all
lint-deep: LINT := deep
lint-changed: LINT := changed
.PHONY: lint-deep lint-changed
lint lint-deep lint-changed:
	@sh tools/setup.sh build lint
	@$(MAKE) $(SUB) all
	@python3 tools/lint.py $(LINT)

# --- installing --------------------------------------------------------------------------------

# Every page but the notes of whoever works on it, in the same tree, so that links among them hold.
PAGES := README.md DESIGN.md SPECIFICATION.md CONTRIBUTING.md LICENSE \
  $(filter-out docs/NEXT.md,$(sort $(wildcard docs/*.md docs/*.json docs/rooms/*.md)))

# One list serves install and uninstall: source, then its place below PREFIX.
INSTALLED := \
  $(O)/ostiary:bin/ostiary:755 \
  $(O)/ostiary-door:libexec/ostiary/ostiary-door:755 \
  man/ostiary.1:share/man/man1/ostiary.1:644 \
  completions/ostiary.bash:share/bash-completion/completions/ostiary:644 \
  completions/ostiary.zsh:share/zsh/site-functions/_ostiary:644 \
  completions/ostiary.fish:share/fish/vendor_completions.d/ostiary.fish:644 \
  $(foreach p,$(PAGES),$(p):share/doc/ostiary/$(p):644)

field = $(word $(2),$(subst :, ,$(1)))

install:
ifneq ($(VARIANT),release)
	$(error Only the release variant is installed; run make install without VARIANT)
endif
	@sh tools/setup.sh build
	@$(MAKE) $(SUB) all
	$(Q)$(foreach i,$(INSTALLED),install -D -m $(call field,$(i),3) $(call field,$(i),1) \
	  "$(DESTDIR)$(PREFIX)/$(call field,$(i),2)" &&) true
	@echo "Installed $(DESTDIR)$(PREFIX)/bin/ostiary. Next: ostiary run claude"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) \
	  echo "$(PREFIX)/bin is not in your PATH; add it, or type the whole path." ;; esac

uninstall:
	$(Q)rm -f $(foreach i,$(INSTALLED),"$(DESTDIR)$(PREFIX)/$(call field,$(i),2)")
	$(Q)rmdir "$(DESTDIR)$(PREFIX)/share/doc/ostiary/docs/rooms" "$(DESTDIR)$(PREFIX)/share/doc/ostiary/docs" \
	  "$(DESTDIR)$(PREFIX)/share/doc/ostiary" "$(DESTDIR)$(PREFIX)/libexec/ostiary" 2>/dev/null || true
	@echo "Removed ostiary from $(DESTDIR)$(PREFIX)."

deb:
	@sh tools/setup.sh build
	@$(MAKE) $(SUB) all
	@sh packaging/deb.sh $(O) $(VERSION)

clean:
	rm -rf out
