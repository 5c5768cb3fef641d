/* explain_json.c - a plan for programs: the same facts as explain_text.c. */
#include "cli/explain.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "box/cgroup.h"
#include "box/landlock.h"
#include "cli/boxsecrets.h"
#include "cli/out.h"
#include "session/start.h"

#include <stdlib.h>
#include <string.h>

static void strings(struct json *j, const char *key, const struct strs *l)
{
        json_open(j, key, '[');
        for (size_t i = 0; i < l->n; i++)
                json_str(j, NULL, l->v[i]);
        json_close(j, ']');
}

static void mounts(struct json *j, const struct box_plan *b)
{
        json_open(j, "mounts", '[');
        for (size_t i = 0; i < b->mounts_n; i++) {
                const struct box_mount *m = &b->mounts[i];
                json_open(j, NULL, '{');
                json_str(j, "target", m->target);
                json_str(j, "source", m->source);
                json_str(j, "mode", explain_mode(m));
                json_str(j, "layer", m->layer);
                json_str(j, "why", m->why);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_open(j, "links", '[');
        for (size_t i = 0; i < b->links.n; i++) {
                char *target = str_dup(b->links.v[i]), *cut = strchr(target, '\n');
                if (cut) {
                        *cut = 0;
                        json_open(j, NULL, '{');
                        json_str(j, "path", cut + 1);
                        json_str(j, "target", target);
                        json_close(j, '}');
                }
                free(target);
        }
        json_close(j, ']');
}

static void limits(struct json *j, const struct box_limits *l)
{
        char sentence[640];
        int kind = box_cgroup_probe(sentence, sizeof sentence);
        struct explain_limit rows[EXPLAIN_LIMITS];
        explain_limits(l, kind, rows);
        const uint64_t value[EXPLAIN_LIMITS] = {
                l->memory,          l->cpu_milli,         l->pids, l->files, l->disk, l->time_s,
                l->inotify_watches, l->inotify_instances,
        };
        json_open(j, "limits", '[');
        for (size_t i = 0; i < EXPLAIN_LIMITS; i++) {
                json_open(j, NULL, '{');
                json_str(j, "name", rows[i].name);
                json_u64(j, "value", value[i]);
                json_str(j, "words", rows[i].value);
                json_str(j, "by", rows[i].by);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_str(j, "control_group", sentence);
}

static void named(struct json *j, const char *key, const struct explain_namespace *n)
{
        json_open(j, key, '{');
        for (; n->name; n++)
                json_str(j, n->name, n->why);
        json_close(j, '}');
}

static void rules(struct json *j, const struct door_policy *p)
{
        json_str(j, "level", door_policy_level_word(p->level));
        json_open(j, "rules", '[');
        for (size_t k = 0; k < p->parsed.layers_n; k++) {
                const struct policy_layer *l = &p->parsed.layers[k];
                for (size_t i = 0; i < l->lines_n; i++) {
                        _cleanup_buf_ struct buf b = {0};
                        rule_line_print(&l->lines[i], &b);
                        json_open(j, NULL, '{');
                        json_str(j, "layer", l->name);
                        json_u64(j, "line", l->lines[i].line_no);
                        json_str(j, "rule", buf_cstr(&b));
                        json_close(j, '}');
                }
        }
        json_close(j, ']');
}

static void secrets(struct json *j, const struct session_secrets *all)
{
        json_open(j, "secrets", '[');
        for (size_t i = 0; i < all->n; i++) {
                json_open(j, NULL, '{');
                boxsecrets_json(all->v[i].line.secret, j);
                json_str(j, "said_by", all->v[i].where);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void notes(struct json *j, const char *key, const struct session_plan *p, bool is_left_out)
{
        json_open(j, key, '[');
        for (size_t i = 0; i < p->notes_n; i++) {
                if (p->notes[i].is_left_out != is_left_out)
                        continue;
                json_open(j, NULL, '{');
                json_str(j, "what", p->notes[i].what);
                json_str(j, "why", p->notes[i].why);
                json_close(j, '}');
        }
        json_close(j, ']');
}

int explain_json(const struct session_plan *p)
{
        const struct box_plan *b = &p->box;
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '{');
        json_str(&j, "tier", "ns");
        json_str(&j, "profile", p->profile);
        strings(&j, "command", &p->argv);
        json_str(&j, "workspace", p->workspace);
        json_bool(&j, "live", p->is_live);
        json_str(&j, "cwd", b->cwd);
        json_str(&j, "user", b->user);
        json_str(&j, "home", b->home);
        json_u64(&j, "uid", b->uid);
        json_u64(&j, "gid", b->gid);
        json_u64(&j, "kernel_uid", b->kuid);
        json_u64(&j, "kernel_gid", b->kgid);
        json_bool(&j, "by_root", b->is_by_root);
        named(&j, "namespaces", explain_namespaces);
        named(&j, "walls", explain_walls);
        json_i64(&j, "landlock_abi", landlock_abi());
        mounts(&j, b);
        json_open(&j, "environment", '[');
        for (size_t i = 0; i < b->env.n; i++) {
                char *name = str_fmt("%.*s", (int)strcspn(b->env.v[i], "="), b->env.v[i]);
                json_str(&j, NULL, name);
                free(name);
        }
        json_close(&j, ']');
        limits(&j, &b->limits);
        rules(&j, &p->door);
        secrets(&j, &p->secrets);
        strings(&j, "persist", &p->persist);
        notes(&j, "notes", p, false);
        notes(&j, "left_out", p, true);
        json_close(&j, '}');
        return out_json("plan", &out);
}
