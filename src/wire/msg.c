/* msg.c - writing and reading the message bodies of msg.h. Readers check every length and count. */
#include "wire/msg.h"

#include "base/buf.h"
#include "base/exitcode.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 200000, STRING_MAX = 1 << 20 };

void msg_list_put(struct buf *b, const struct strs *l)
{
        buf_put_u32(b, (uint32_t)l->n);
        for (size_t i = 0; i < l->n; i++)
                buf_put_lstr(b, l->v[i]);
}

int msg_list_get(struct cur *c, struct strs *l, size_t max_n, size_t max_len)
{
        uint32_t n;
        if (cur_u32(c, &n) < 0 || n > max_n)
                return -1;
        for (uint32_t i = 0; i < n; i++) {
                char *s;
                if (cur_lstr(c, max_len, &s) < 0)
                        return -1;
                strs_add(l, s);
                free(s);
        }
        return 0;
}

void msg_spawn_free(struct msg_spawn *s)
{
        free(s->cwd);
        strs_free(&s->argv);
        strs_free(&s->env);
        *s = (struct msg_spawn){0};
}

void msg_spawn_put(struct buf *b, const struct msg_spawn *s)
{
        buf_put_u8(b, s->is_tty);
        buf_put_u8(b, s->has_stdin);
        buf_put_u32(b, s->cols);
        buf_put_u32(b, s->rows);
        buf_put_lstr(b, s->cwd ? s->cwd : "");
        msg_list_put(b, &s->argv);
        msg_list_put(b, &s->env);
}

int msg_spawn_get(struct cur *c, struct msg_spawn *s)
{
        uint8_t tty, in;
        *s = (struct msg_spawn){0};
        if (cur_u8(c, &tty) < 0 || cur_u8(c, &in) < 0 || cur_u32(c, &s->cols) < 0 ||
            cur_u32(c, &s->rows) < 0 || cur_lstr(c, 4096, &s->cwd) < 0 ||
            msg_list_get(c, &s->argv, ARGS_MAX, STRING_MAX) < 0 ||
            msg_list_get(c, &s->env, ARGS_MAX, STRING_MAX) < 0 || s->argv.n == 0 || c->left) {
                msg_spawn_free(s);
                return -1;
        }
        s->is_tty = tty;
        s->has_stdin = in;
        return 0;
}

void msg_started_free(struct msg_started *s)
{
        free(s->workspace);
        free(s->tier);
        free(s->grants);
        strs_free(&s->masked);
        *s = (struct msg_started){0};
}

static void started_put(struct buf *b, const char *words, size_t max)
{
        size_t n = words ? strlen(words) : 0;
        if (n > max)
                n = max;
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, words, n);
}

void msg_started_put(struct buf *b, const struct msg_started *s)
{
        size_t n = s->masked.n < MSG_STARTED_MASKED_MAX ? s->masked.n : MSG_STARTED_MASKED_MAX;
        buf_put_u32(b, s->pid);
        started_put(b, s->workspace, MSG_STARTED_WORDS_MAX);
        started_put(b, s->tier, MSG_STARTED_WORDS_MAX);
        started_put(b, s->grants, MSG_STARTED_WORDS_MAX);
        buf_put_u8(b, s->is_live);
        buf_put_u32(b, (uint32_t)n);
        for (size_t i = 0; i < n; i++)
                started_put(b, s->masked.v[i], MSG_STARTED_LINE_MAX);
}

int msg_started_get(struct cur *c, struct msg_started *s)
{
        uint8_t live;
        *s = (struct msg_started){0};
        if (cur_u32(c, &s->pid) < 0 || cur_lstr(c, MSG_STARTED_WORDS_MAX, &s->workspace) < 0 ||
            cur_lstr(c, MSG_STARTED_WORDS_MAX, &s->tier) < 0 ||
            cur_lstr(c, MSG_STARTED_WORDS_MAX, &s->grants) < 0 || cur_u8(c, &live) < 0 ||
            msg_list_get(c, &s->masked, MSG_STARTED_MASKED_MAX, MSG_STARTED_LINE_MAX) < 0 ||
            c->left) {
                msg_started_free(s);
                return -1;
        }
        s->is_live = live;
        return 0;
}

void msg_ended_free(struct msg_ended *e)
{
        free(e->words);
        *e = (struct msg_ended){0};
}

void msg_ended_put(struct buf *b, const struct msg_ended *e)
{
        buf_put_u32(b, e->how);
        buf_put_u32(b, e->value);
        buf_put_lstr(b, e->words ? e->words : "");
        buf_put_u8(b, e->is_kept);
        buf_put_u64(b, e->cpu_us);
        buf_put_u64(b, e->peak_kib);
}

int msg_ended_get(struct cur *c, struct msg_ended *e)
{
        uint8_t kept;
        *e = (struct msg_ended){0};
        if (cur_u32(c, &e->how) < 0 || e->how >= MSG_END_COUNT || cur_u32(c, &e->value) < 0 ||
            cur_lstr(c, 4096, &e->words) < 0 || cur_u8(c, &kept) < 0 ||
            cur_u64(c, &e->cpu_us) < 0 || cur_u64(c, &e->peak_kib) < 0 || c->left) {
                msg_ended_free(e);
                return -1;
        }
        e->is_kept = kept;
        return 0;
}

int msg_ended_exit_code(const struct msg_ended *e)
{
        switch ((enum msg_end)e->how) {
        case MSG_END_EXIT:
                return (int)(e->value & 0xff);
        case MSG_END_SIGNAL:
                return 128 + (int)(e->value & 0x7f);
        case MSG_END_TIME:
                return EXIT_BY_TIME;
        case MSG_END_MEMORY:
        case MSG_END_DISK:
                return EXIT_BY_LIMIT;
        case MSG_END_STOPPED:
                return 128 + 15;
        case MSG_END_FAULT:
        case MSG_END_COUNT:
                break;
        }
        return EXIT_OURS;
}

void msg_info_free(struct msg_info *i)
{
        free(i->limits_words);
        *i = (struct msg_info){0};
}

void msg_info_put(struct buf *b, const struct msg_info *i)
{
        buf_put_u32(b, i->supervisor_pid);
        buf_put_u32(b, i->init_pid);
        buf_put_u32(b, i->execs_n);
        buf_put_u32(b, i->clients_n);
        buf_put_u64(b, i->memory);
        buf_put_u64(b, i->memory_peak);
        buf_put_u64(b, i->cpu_us);
        buf_put_u64(b, i->pids);
        buf_put_u64(b, i->disk);
        buf_put_lstr(b, i->limits_words ? i->limits_words : "");
}

int msg_info_get(struct cur *c, struct msg_info *i)
{
        *i = (struct msg_info){0};
        if (cur_u32(c, &i->supervisor_pid) < 0 || cur_u32(c, &i->init_pid) < 0 ||
            cur_u32(c, &i->execs_n) < 0 || cur_u32(c, &i->clients_n) < 0 ||
            cur_u64(c, &i->memory) < 0 || cur_u64(c, &i->memory_peak) < 0 ||
            cur_u64(c, &i->cpu_us) < 0 || cur_u64(c, &i->pids) < 0 || cur_u64(c, &i->disk) < 0 ||
            cur_lstr(c, 4096, &i->limits_words) < 0 || c->left) {
                msg_info_free(i);
                return -1;
        }
        return 0;
}
