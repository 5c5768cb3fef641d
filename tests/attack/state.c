/* state.c - cases 8n, 8m, B8: the walls read back from inside.
 *
 * A wall that cannot be probed without a second hole (no_new_privs, nosuid) is read from /proc. */
#include "attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[262144];

/* status_field(name): the rest of that line in /proc/self/status, or "". */
static const char *status_field(const char *name)
{
        static char value[128];
        char key[64];

        value[0] = 0;
        if (slurp("/proc/self/status", text, sizeof text) <= 0)
                return value;
        snprintf(key, sizeof key, "\n%s:\t", name);
        char *at = strstr(text, key);
        if (at)
                sscanf(at + strlen(key), "%127[^\n]", value);
        return value;
}

static void case_nnp(struct outcome *o)
{
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
                out_escaped(o, "no_new_privs is off");
        out_blocked_why(o, "SET", "no_new_privs is on");
}

/* A single device node can be a mount as well, and holds no program. */
static bool is_device(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

static void case_nosuid(struct outcome *o)
{
        char point[512], options[512];
        int n = 0;

        if (slurp("/proc/self/mountinfo", text, sizeof text) <= 0) {
                out_na(o, "the mount table cannot be read");
                return;
        }
        for (char *line = text; line && *line;) {
                char *end = strchr(line, '\n');
                if (end)
                        *end = 0;
                if (sscanf(line, "%*s %*s %*s %*s %511s %511s", point, options) == 2 &&
                    !is_device(point)) {
                        n++;
                        if (!strstr(options, "nosuid"))
                                out_escaped(o, "%s is mounted without nosuid", point);
                }
                line = end ? end + 1 : NULL;
        }
        out_blocked_why(o, "SET", "all %d mounts of files are nosuid", n);
}

static void case_caps(struct outcome *o)
{
        static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};

        for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
                const char *v = status_field(sets[i]);
                if (!*v) {
                        out_na(o, "the status cannot be read");
                        return;
                }
                if (strtoull(v, NULL, 16) != 0)
                        out_escaped(o, "%s is %s", sets[i], v);
        }
        out_blocked_why(o, "EMPTY", "all five capability sets are empty");
}

static void case_filter_on(struct outcome *o)
{
        if (atoi(status_field("Seccomp")) != 2)
                out_escaped(o, "no system-call filter is on");
        out_blocked_why(o, "SET", "the system-call filter is on");
}

static void case_groups(struct outcome *o)
{
        const char *groups = status_field("Groups");
        const char *as = planted("STARTED_AS");
        bool started_by_user = as && strcmp(as, "user") == 0;
        long own = (long)getgid();

        for (const char *p = groups; p && *p;) {
                char *end;
                long g = strtol(p, &end, 10);
                if (end == p)
                        break;
                /* one-id map: a group that is not mapped shows as 65534 and still counts */
                if (g != own && started_by_user)
                        out_na(o, "an unprivileged process cannot drop the user's groups");
                else if (g != own)
                        out_escaped(o, "supplementary group %ld was kept", g);
                p = end;
        }
        if (o->kind == OUT_NONE)
                out_blocked_why(o, "EMPTY", "no supplementary group of the user's");
}

static void case_kernel_uid(struct outcome *o)
{
        unsigned inside, outside, count;

        if (slurp("/proc/self/uid_map", text, sizeof text) <= 0 ||
            sscanf(text, "%u %u %u", &inside, &outside, &count) != 3) {
                out_na(o, "the id map cannot be read");
                return;
        }
        if (outside == 0)
                out_escaped(o, "the box is uid 0 to the kernel");
        if (count != 1)
                out_escaped(o, "%u ids are mapped", count);
        out_blocked_why(o, "MAPPED", "uid %u is %u to the kernel, one id is mapped", inside,
                        outside);
}

const struct attack_case state_cases[] = {
        /* The kernel takes filter and Landlock from an unprivileged process only under
         * no_new_privs, so without it the box refuses to start unless these are left out as well.
         */
        {"8n", "no_new_privs", EXEC, STATE, 0, case_nnp, "nnp+seccomp+landlock",
         "nnp+seccomp+landlock"},
        {"8m", "nosuid on every mount", EXEC, STATE, 0, case_nosuid, "nosuid", "nosuid"},
        {"B8", "a privilege drop that dropped nothing", EXEC, STATE, 0, case_caps, "caps", "caps"},
        {"B8f", "a filter that was not loaded", EXEC, STATE, 0, case_filter_on, "seccomp",
         "seccomp"},
        {"B8g", "the user's supplementary groups", READ, STATE, 0, case_groups, "shape", "shape"},
        {"B8u", "uid 0 to the kernel", READ, STATE, 0, case_kernel_uid, "shape", "highuid"},
        {0},
};
