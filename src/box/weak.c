/* weak.c - which walls the test-only build leaves out. Empty in every other build, so that the word
 * OSTIARY_WEAKEN does not even occur in what is shipped; a test looks for it. See weak.h. */
#include "box/weak.h"

#ifdef OSTIARY_WEAK

#include "base/exitcode.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const layer_names[WEAK_LAYERS_N] = {
        [WEAK_SECCOMP] = "seccomp",
        [WEAK_LANDLOCK] = "landlock",
        [WEAK_CAPS] = "caps",
        [WEAK_NNP] = "nnp",
        [WEAK_NOSUID] = "nosuid",
        [WEAK_DUMPABLE] = "dumpable",
        [WEAK_PIDNS] = "pidns",
        [WEAK_NETNS] = "netns",
        [WEAK_IPCNS] = "ipcns",
        [WEAK_UTSNS] = "utsns",
        [WEAK_USERNS_LIMITS] = "userns-limits",
        [WEAK_OVERLAY_RO] = "overlay-ro",
        [WEAK_ETC_FILTER] = "etc-filter",
        [WEAK_ENV] = "env",
        [WEAK_FDS] = "fds",
        [WEAK_RLIMITS] = "rlimits",
        [WEAK_CGROUP] = "cgroup",
        [WEAK_MASKS] = "masks",
        [WEAK_TIOCSTI] = "tiocsti",
        [WEAK_HIGHUID] = "highuid",
        [WEAK_PROPAGATION] = "propagation",
        [WEAK_KEYRING] = "keyring",
        [WEAK_PTY] = "pty",
        [WEAK_HOME_MASK] = "home-mask",
        [WEAK_CWD] = "cwd",
        [WEAK_SCRUB] = "scrub",
        [WEAK_TRIPWIRE] = "tripwire",
        [WEAK_NOTIFY_MEMORY] = "notify-memory",
        [WEAK_NOTIFY_ID] = "notify-id",
        [WEAK_WAIT_TIED] = "wait-tied",
        [WEAK_WAIT_BUILT] = "wait-built",
        [WEAK_WAIT_HELD] = "wait-held",
};

static bool is_weak[WEAK_LAYERS_N];
static char word[512];

static void weaken(const char *name, size_t len)
{
        for (int i = 0; i < WEAK_LAYERS_N; i++)
                if (strlen(layer_names[i]) == len && memcmp(layer_names[i], name, len) == 0) {
                        is_weak[i] = true;
                        return;
                }

        fprintf(stderr,
                "ostiary: OSTIARY_WEAKEN names \"%.*s\", which is not a layer. The layers "
                "are:",
                (int)len, name);
        for (int i = 0; i < WEAK_LAYERS_N; i++)
                fprintf(stderr, " %s", layer_names[i]);
        fprintf(stderr, "\n");
        exit(EXIT_BAD_USAGE);
}

void box_weak_init(void)
{
        const char *at = getenv("OSTIARY_WEAKEN");
        if (at)
                snprintf(word, sizeof word, "OSTIARY_WEAKEN=%s", at);
        while (at && *at) {
                size_t len = strcspn(at, ",");
                weaken(at, len);
                at += len + (at[len] == ',');
        }
}

bool box_weak(enum box_weak_layer layer)
{
        return is_weak[layer];
}

void box_weak_wait(enum box_weak_layer layer, int fd)
{
        struct pollfd end = {.fd = fd};
        if (is_weak[layer])
                poll(&end, 1, 20000);
}

char *box_weak_word(void)
{
        return word[0] ? word : NULL;
}

#endif
