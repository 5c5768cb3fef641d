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
#include <time.h>

enum { LOOK_MAX = 20 }; /* boxes whose layers are looked into: this is before every run */

void pending_free(struct pending *p)
{
        free(p->id);
        free(p->words);
        *p = (struct pending){0};
}

/* is_fit(opts, m): may what is asked for run in that box? A plain command and a shell may in any; an
 * agent wants the home, the rules and the secrets of its own profile. */
static bool is_fit(const struct session_opts *opts, const struct box_meta *m)
{
        const char *asked = opts->profile;
        return !asked || strcmp(asked, "default") == 0 || strcmp(asked, "shell") == 0 ||
               strcmp(asked, m->profile) == 0;
}

static char *words_of(const struct box_meta *m)
{
        char age[16];
        int64_t since_us = m->ended_us ? m->ended_us : m->created_us;
        _cleanup_free_ char *command = str_quote(m->command);
        bool is_agent = *m->profile && strcmp(m->profile, "default") != 0;
        out_age((long)(time(NULL) - since_us / 1000000), age);
        return str_fmt("%s%s%s%s%s, %s %s ago", is_agent ? m->profile : "", is_agent ? ", " : "",
                       *command ? "\"" : "", *command ? command : "made to wait",
                       *command ? "\"" : "", m->ended_us ? "ended" : "made", age);
}

static void take(struct pending *p, const struct box_meta *m, bool is_other)
{
        pending_free(p);
        *p = (struct pending){.id = str_dup(m->id), .words = words_of(m), .is_other = is_other};
}

bool pending_box(const struct store *store, const struct session_opts *opts, struct pending *p)
{
        struct box_meta *all;
        size_t n, looked = 0;
        const char *asked = opts->workspace ? opts->workspace : ".";
        _cleanup_free_ char *place = strcmp(asked, "none") ? realpath(asked, NULL) : NULL;
        *p = (struct pending){0};
        if (!place || opts->is_live || store_list(store, &all, &n, NULL) < 0)
                return false;
        for (size_t i = 0; i < n && (!p->id || p->is_other) && looked < LOOK_MAX; i++) {
                const struct box_meta *m = &all[i];
                if ((m->state != BOX_EXITED && m->state != BOX_DEAD) || m->is_live ||
                    strcmp(m->workspace, place) != 0 || (m->state == BOX_EXITED && !m->was_written))
                        continue;
                bool is_other = !is_fit(opts, m);
                if (p->id && is_other)
                        continue;
                looked++;
                /* What cannot be told is not asked about: diff and resume say what is wrong. */
                if (pending_any(store, m->id, NULL) > 0)
                        take(p, m, is_other);
        }
        store_list_free(all, n);
        return p->id != NULL;
}

bool pending_last(const struct store *store, const struct session_opts *opts, struct pending *p)
{
        struct box_meta *all;
        size_t n;
        const char *asked = opts->workspace ? opts->workspace : ".";
        _cleanup_free_ char *place = strcmp(asked, "none") ? realpath(asked, NULL) : NULL;
        struct pending found = {0};
        if (!place || opts->is_live || store_list(store, &all, &n, NULL) < 0)
                return false;
        for (size_t i = 0; i < n && !found.is_alive; i++) {
                const struct box_meta *m = &all[i];
                bool is_alive = box_state_is_alive(m->state);
                if (m->is_live || strcmp(m->workspace, place) != 0 || !is_fit(opts, m) ||
                    (found.id && !is_alive))
                        continue;
                take(&found, m, false);
                found.is_alive = is_alive;
        }
        store_list_free(all, n);
        if (!found.id)
                return false;
        pending_free(p);
        *p = found;
        return true;
}

static void show(const char *id)
{
        _cleanup_free_ char *copy = str_dup(id);
        char *argv[] = {(char[]){"diff"}, copy, NULL};
        cmd_diff.run(2, argv);
}

enum pending_choice pending_ask(const struct pending *p)
{
        for (;;) {
                char line[64];
                fprintf(stderr,
                        "ostiary: box %s holds changes of this workspace that were not applied "
                        "(%s).\n",
                        p->id, p->words);
                if (p->is_other)
                        fprintf(stderr,
                                "It is not one of the agent that you ask for (ostiary resume %s "
                                "goes on in it).\n"
                                "Start a [n]ew box, show the [d]iff, [q]uit? ",
                                p->id);
                else
                        fprintf(stderr, "[c]ontinue in it, start a [n]ew box, show the [d]iff, "
                                        "[q]uit? ");
                fflush(stderr);
                if (!fgets(line, sizeof line, stdin))
                        return PENDING_QUIT;
                switch (line[0]) {
                case 'c':
                case 'C':
                        if (p->is_other)
                                break;
                        return PENDING_CONTINUE;
                case 'n':
                case 'N':
                        return PENDING_NEW;
                case 'd':
                case 'D':
                        show(p->id);
                        break;
                case 'q':
                case 'Q':
                        return PENDING_QUIT;
                default:
                        break;
                }
        }
}
