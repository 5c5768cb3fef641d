# Makefile - one file, no recursion into folders; `make help` lists what it can do.
#
# Variants live side by side: out/release (what you install), out/asan (sanitizers), out/weak (the
# test-only build whose walls can be switched off one by one; never installed).

VARIANT ?= release
O       := out/$(VARIANT)
PREFIX  ?= $(HOME)/.local
VERSION := $(shell cat VERSION)
CC      ?= gcc
HOSTCC  ?= $(CC)

ROOMS   := base wire policy box workspace audit session cli
SRC     := $(sort $(foreach r,$(ROOMS),$(wildcard src/$(r)/*.c)))
OBJ     := $(SRC:src/%.c=$(O)/%.o) $(O)/gen/profiles.o
# Without main.c and without the one command that walks its table.
LIBOBJ  := $(filter-out $(O)/cli/main.o $(O)/cli/cmd_help.o,$(OBJ))

# The door's roles are a second program: they need large libraries, and nothing that starts a box
# should have to load them.
DOOR_ROOMS := base wire policy role egress dial keeper door
DOOR_SRC := $(sort $(foreach r,$(DOOR_ROOMS),$(wildcard src/$(r)/*.c)))
DOOR_OBJ := $(DOOR_SRC:src/%.c=$(O)/%.o) $(O)/gen/profiles.o
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
# Attacker code that runs as one of our own roles; no other variant contains it.
OBJ      += $(O)/attack/role_hook.o
endif

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' "$(1)" "$(2)")

.PHONY: all help demo test check bench attack fuzz asan lint deb install uninstall clean setup
.DELETE_ON_ERROR:

all: $(O)/ostiary $(O)/ostiary-door

$(O)/ostiary-door: $(DOOR_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(DOOR_LDFLAGS) -o $@ $^ $(DOOR_LDLIBS)

$(O)/ostiary: $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The first build looks for what it needs, and installs or names what is missing.
$(OBJ) $(DOOR_OBJ) $(O)/gen/gen_seccomp: | out/.setup
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

$(O)/attack/role_hook.o: tests/attack/role_hook.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(O)/gen/profiles.o: $(O)/gen/profiles.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -c -o $@ $<

-include $(OBJ:.o=.d) $(DOOR_OBJ:.o=.d)

# --- programs that only tests need -------------------------------------------------------------

# tests/unit/door_*.c and tests/fuzz/door_*.c are linked with the door's rooms, the others with the
# rest.
UNIT := $(patsubst tests/unit/%.c,$(O)/unit/%,$(filter-out tests/unit/lib%.c,$(wildcard tests/unit/*.c)))
FUZZ := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/*.c))

.PHONY: units fuzzers
units: $(UNIT)
fuzzers: $(FUZZ)

# Answers of our name server are read with the C library's reader.
$(O)/unit/door_dns $(O)/fuzz/door_dns: DOOR_LDLIBS += -lresolv

$(O)/unit/door_%: tests/unit/door_%.c $(DOOR_LIBOBJ)
	@mkdir -p $(@D)
	$(call say,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< $(DOOR_LIBOBJ) $(DOOR_LDFLAGS) $(DOOR_LDLIBS)

$(O)/fuzz/door_%: tests/fuzz/door_%.c $(DOOR_LIBOBJ)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(DOOR_LIBOBJ) $(DOOR_LDFLAGS) $(DOOR_LDLIBS)

# Its allocations fail one by one, as far as they are made in our own code.
$(O)/unit/no_memory_test: LDFLAGS += $(addprefix -Xlinker --wrap=,malloc calloc realloc reallocarray \
	strdup strndup vasprintf __vasprintf_chk)

$(O)/unit/%: tests/unit/%.c $(LIBOBJ)
	@mkdir -p $(@D)
	$(call say,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< $(LIBOBJ) $(LDFLAGS) $(LDLIBS)

$(O)/fuzz/%: tests/fuzz/%.c $(LIBOBJ)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIBOBJ) $(LDFLAGS) $(LDLIBS)

# The model test is one program of several files; it needs the rooms that know of trees alone.
MODEL_OBJ := $(filter $(O)/base/% $(O)/wire/% $(O)/policy/% $(O)/workspace/%,$(LIBOBJ)) $(O)/gen/profiles.o
units: $(O)/unit/model
$(O)/unit/model: $(wildcard tests/model/*.[ch]) $(MODEL_OBJ)
	@mkdir -p $(@D)
	$(call say,UNIT,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $(filter %.c,$^) $(MODEL_OBJ) $(LDFLAGS) $(LDLIBS)

-include $(UNIT:=.d) $(FUZZ:=.d)

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
	@echo 'make test       everything, as root and as an ordinary user'
	@echo 'make install    to PREFIX (default ~/.local); make uninstall takes it away again'
	@echo 'make deb        a Debian package in out/'
	@echo 'make attack     only the attack suite      make fuzz   fuzzers, FUZZ_SECONDS=30 each'
	@echo 'make asan       the tests under sanitizers make bench  time and memory beside other tools'
	@echo 'make lint       layout, static analysis, include arrows; lint-deep has the slow analyzer too'
	@echo 'make setup      only install what building needs'
	@echo 'V=1 shows commands; VARIANT=asan or weak builds those variants.'

setup:
	@sh tools/setup.sh build

demo:
	@sh tools/setup.sh build demo
	@$(MAKE) $(SUB) all $(DEMO)
	@sh demo/run.sh

# `check` is what some people type by habit.
test check:
	@sh tools/setup.sh build test
	@$(MAKE) $(SUB) all units $(DEMO)
	@$(MAKE) $(SUB) VARIANT=weak all
	@bash tools/test.sh $(SUITE)

asan:
	@sh tools/setup.sh build test
	@$(MAKE) $(SUB) VARIANT=asan all units $(DEMO)
	@$(MAKE) $(SUB) VARIANT=weak all
	@VARIANT=asan bash tools/test.sh $(SUITE)

attack:
	@sh tools/setup.sh build test
	@$(MAKE) $(SUB) all
	@$(MAKE) $(SUB) VARIANT=weak all
	@bash tools/test.sh attack

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
  $(filter-out docs/NEXT.md,$(sort $(wildcard docs/*.md docs/rooms/*.md)))

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
