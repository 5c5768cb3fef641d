/* pending.c - see pending.h. Looks only; what it finds is said in one line, or asked. */
#include "cli/pending.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "session/opts.h"
#include "session/pending.h"
#include "session/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MAX = 20 }; /* boxes whose layers are looked into: this is before every run */

char *pending_box(const struct store *store, const struct session_opts *opts)
{
        struct box_meta *all;
        size_t n, looked = 0;
        const char *asked = opts->workspace ? opts->workspace : ".";
        _cleanup_free_ char *place = strcmp(asked, "none") ? realpath(asked, NULL) : NULL;
        char *id = NULL;
        if (!place || opts->is_live || store_list(store, &all, &n, NULL) < 0)
                return NULL;
        for (size_t i = 0; i < n && !id && looked < LOOK_MAX; i++) {
                const struct box_meta *m = &all[i];
                if ((m->state != BOX_EXITED && m->state != BOX_DEAD) || m->is_live ||
                    strcmp(m->workspace, place) != 0 || (m->state == BOX_EXITED && !m->has_changes))
                        continue;
                looked++;
                /* What cannot be told is not asked about: diff and resume say what is wrong. */
                if (pending_any(store, m->id, NULL) > 0)
                        id = str_dup(m->id);
        }
        store_list_free(all, n);
        return id;
}

static void show(const char *id)
{
        _cleanup_free_ char *copy = str_dup(id);
        char *argv[] = {(char[]){"diff"}, copy, NULL};
        cmd_diff.run(2, argv);
}

enum pending_choice pending_ask(const char *id)
{
        for (;;) {
                char line[64];
                fprintf(stderr,
                        "ostiary: box %s holds changes of this workspace that were not applied.\n"
                        "[c]ontinue in it, start a [n]ew box, show the [d]iff, [q]uit? ",
                        id);
                fflush(stderr);
                if (!fgets(line, sizeof line, stdin))
                        return PENDING_QUIT;
                switch (line[0]) {
                case 'c':
                case 'C':
                        return PENDING_CONTINUE;
                case 'n':
                case 'N':
                        return PENDING_NEW;
                case 'd':
                case 'D':
                        show(id);
                        break;
                case 'q':
                case 'Q':
                        return PENDING_QUIT;
                default:
                        break;
                }
        }
}
