/* explain_text.c - a plan for people, at 80 columns. */
#include "cli/explain.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "box/cgroup.h"
#include "box/landlock.h"
#include "cli/boxsecrets.h"
#include "cli/out.h"
#include "session/start.h"

#include <stdio.h>
#include <string.h>

static void head(const char *words)
{
        printf("\n%s\n", out_bold(words));
}

/* item(width, name, words): one aligned line, broken at 80 columns. */
static void item(int width, const char *name, const char *words)
{
        _cleanup_free_ char *shown = str_quote(name);
        size_t at = (size_t)width + 4;
        if (strlen(shown) > (size_t)width)
                printf("  %s\n%*s", shown, (int)at, "");
        else
                printf("  %-*s  ", width, shown);
        out_wrap(at, at, words);
}

static void who(const struct session_plan *p)
{
        const struct box_plan *b = &p->box;
        _cleanup_free_ char *command = p->argv.n ? out_command(p->argv.v) : str_dup("(waits)");
        _cleanup_free_ char *place =
                p->workspace ? str_fmt("%s, %s", p->workspace,
                                       p->is_live ? "LIVE: written to directly"
                                                  : "copy-on-write: changes stay in the box")
                             : str_dup("none");
        _cleanup_free_ char *ids =
                str_fmt("%s, uid %u and gid %u inside; %u and %u for the kernel%s", b->user, b->uid,
                        b->gid, b->kuid, b->kgid, b->is_by_root ? "; mounts are id-mapped" : "");
        item(10, "tier", "ns: namespaces, seccomp, Landlock, control group");
        item(10, "profile", p->profile ? p->profile : "default");
        item(10, "command", command);
        item(10, "workspace", place);
        item(10, "starts in", b->cwd);
        item(10, "user", ids);
        item(10, "home", b->home);
}

static void files(const struct session_plan *p)
{
        const struct box_plan *b = &p->box;
        head("Files");
        for (size_t i = 0; i < b->mounts_n; i++) {
                const struct box_mount *m = &b->mounts[i];
                bool is_elsewhere = m->source && strcmp(m->source, m->target) != 0;
                bool is_told = strstr(m->why, explain_mode(m)) != NULL;
                _cleanup_free_ char *words = str_fmt(
                        "%s%s%s%s%s", is_told ? "" : explain_mode(m), is_told ? "" : ": ", m->why,
                        is_elsewhere ? ", from " : "", is_elsewhere ? m->source : "");
                item(28, m->target, words);
        }
        for (size_t i = 0; i < b->links.n; i++) {
                const char *cut = strchr(b->links.v[i], '\n');
                if (!cut)
                        continue;
                _cleanup_free_ char *words =
                        str_fmt("link to %.*s", (int)(cut - b->links.v[i]), b->links.v[i]);
                item(28, cut + 1, words);
        }
        item(28, "/etc",
             "a new directory: a named list of the host's files, and passwd, group, hosts "
             "and resolv.conf made up for the box");
        item(28, "/proc /dev /tmp /run", "the box's own");
}

static void environment(const struct session_plan *p)
{
        head("Environment (names; everything else is left out)");
        _cleanup_free_ char *all = str_dup("");
        for (size_t i = 0; i < p->box.env.n; i++) {
                char *next = str_fmt("%s%s%.*s", all, i ? " " : "",
                                     (int)strcspn(p->box.env.v[i], "="), p->box.env.v[i]);
                free(all);
                all = next;
        }
        fputs("  ", stdout);
        out_wrap(2, 2, all);
}

static void limits(const struct session_plan *p)
{
        char sentence[640];
        struct explain_limit l[EXPLAIN_LIMITS];
        int kind = box_cgroup_probe(sentence, sizeof sentence);
        explain_limits(&p->box.limits, kind, l);
        head("Limits");
        for (size_t i = 0; i < EXPLAIN_LIMITS; i++) {
                _cleanup_free_ char *words = strcmp(l[i].value, "none") == 0
                                                     ? str_dup("none")
                                                     : str_fmt("%-12s by %s", l[i].value, l[i].by);
                printf("  %-18s  %s\n", l[i].name, words);
        }
        fputs("  ", stdout);
        out_wrap(2, 2, sentence);
}

static void list(const char *title, const struct strs *l)
{
        if (l->n == 0)
                return;
        head(title);
        for (size_t i = 0; i < l->n; i++) {
                _cleanup_free_ char *shown = str_quote(l->v[i]);
                printf("  %s\n", shown);
        }
}

/* rules(p): layer by layer, in the order in which they are asked. */
static void rules(const struct door_policy *p)
{
        _cleanup_free_ char *title = str_fmt("Network (level %s): the first line that fits decides",
                                             door_policy_level_word(p->level));
        head(title);
        for (size_t k = 0; k < p->parsed.layers_n; k++) {
                const struct policy_layer *l = &p->parsed.layers[k];
                _cleanup_free_ char *name = str_quote(l->name);
                printf("  %s\n", name);
                for (size_t i = 0; i < l->lines_n; i++) {
                        _cleanup_buf_ struct buf b = {0};
                        rule_line_print(&l->lines[i], &b);
                        _cleanup_free_ char *shown = str_quote(buf_cstr(&b));
                        printf("    %s\n", shown);
                }
        }
        if (p->parsed.layers_n == 0)
                puts("  no line");
}

/* secrets(p): what kind of source each has, never what is asked there, and no value. */
static void secrets(const struct session_plan *p)
{
        if (p->secrets.n == 0)
                return;
        head("Secrets (the box has placeholders; values are with its keeper)");
        for (size_t i = 0; i < p->secrets.n; i++) {
                const struct session_secret *s = &p->secrets.v[i];
                const struct rule_secret *line = s->line.secret;
                _cleanup_buf_ struct buf at = {0}, as = {0}, besides = {0};
                boxsecrets_places(line, &at);
                boxsecrets_forms(line, &as);
                boxsecrets_extras(line, &besides);
                _cleanup_free_ char *words =
                        str_fmt("from %s at %s as %s%s%s (%s)", rule_source_word(line->source),
                                buf_cstr(&at), buf_cstr(&as), besides.len ? ", " : "",
                                buf_cstr(&besides), s->where);
                item(28, line->name, words);
        }
}

static void notes(const struct session_plan *p, bool is_left_out, const char *title)
{
        bool has_head = false;
        for (size_t i = 0; i < p->notes_n; i++) {
                if (p->notes[i].is_left_out != is_left_out)
                        continue;
                if (!has_head)
                        head(title);
                has_head = true;
                item(28, p->notes[i].what, p->notes[i].why);
        }
}

void explain_text(const struct session_plan *p)
{
        puts(out_bold("The box that would be started"));
        who(p);
        head("Namespaces");
        for (const struct explain_namespace *n = explain_namespaces; n->name; n++)
                item(14, n->name, n->why);
        head("Walls besides");
        for (const struct explain_namespace *n = explain_walls; n->name; n++)
                item(14, n->name, n->why);
        _cleanup_free_ char *abi =
                str_fmt("its ABI is %d: %s", landlock_abi(), landlock_words(landlock_abi()));
        item(14, "landlock here", abi);
        files(p);
        environment(p);
        limits(p);
        rules(&p->door);
        secrets(p);
        list("Kept of the home for the next box of this profile", &p->persist);
        notes(p, false, "Notes");
        notes(p, true, "Left out");
}
