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

ROOMS   := base wire policy box workspace session cli
SRC     := $(sort $(foreach r,$(ROOMS),$(wildcard src/$(r)/*.c)))
OBJ     := $(SRC:src/%.c=$(O)/%.o) $(O)/gen/profiles.o
LIBOBJ  := $(filter-out $(O)/cli/main.o,$(OBJ))

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum -Wvla \
           -Wformat=2 -Wundef
STRICT  := -Wconversion
CFLAGS  := -std=gnu17 -O2 -g -fPIE -fstack-protector-strong -ftrivial-auto-var-init=zero
CPPFLAGS := -D_GNU_SOURCE -Isrc -I$(O)/gen -DOSTIARY_VERSION='"$(VERSION)"'
LDFLAGS := -Wl,-z,relro,-z,now
LDLIBS  := -ljansson

# A static program starts in half the time and needs nothing on the machine it is copied to.
ifeq ($(VARIANT),asan)
CFLAGS  += -fsanitize=address,undefined -fno-omit-frame-pointer -DOSTIARY_ASAN
LDFLAGS += -fsanitize=address,undefined -pie
else
CPPFLAGS += -D_FORTIFY_SOURCE=3
LDFLAGS += -static-pie
endif
ifeq ($(VARIANT),weak)
CPPFLAGS += -DOSTIARY_WEAK
endif

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' "$(1)" "$(2)")

.PHONY: all help demo test check bench attack fuzz asan lint deb install uninstall clean setup
.DELETE_ON_ERROR:

all: $(O)/ostiary

$(O)/ostiary: $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Everything that reads outside bytes or does arithmetic on them is held to the stricter set.
$(O)/base/%.o $(O)/wire/%.o $(O)/policy/%.o: WARN += $(STRICT)

$(O)/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

# The system-call filter is compiled at build time: libseccomp turns the table into the program.
$(O)/gen/gen_seccomp: tools/gen_seccomp.c src/box/seccomp_table.c src/box/seccomp_table.h
	@mkdir -p $(@D)
	$(call say,HOSTCC,$@)
	$(Q)$(HOSTCC) -std=gnu17 -D_GNU_SOURCE -Isrc -O1 $(WARN) -o $@ tools/gen_seccomp.c src/box/seccomp_table.c -lseccomp

$(O)/gen/seccomp_filter.h: $(O)/gen/gen_seccomp
	$(call say,GEN,$@)
	$(Q)$< > $@

$(O)/box/seccomp.o: $(O)/gen/seccomp_filter.h

# Built-in profiles are text files; they are carried inside the program.
$(O)/gen/profiles.c: tools/gen_profiles.sh $(wildcard profiles/*.profile)
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sh tools/gen_profiles.sh $(sort $(wildcard profiles/*.profile)) > $@

$(O)/gen/profiles.o: $(O)/gen/profiles.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -c -o $@ $<

-include $(OBJ:.o=.d)

clean:
	rm -rf out
