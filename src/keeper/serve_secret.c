/* serve_secret.c - values on their way from their source: the supervisor hands over the reading end
 * of a pipe or a file (DOOR_SECRET), and what comes out of it to the end is the value. Read as it
 * comes, into locked memory; a source that hangs holds up nobody here and is the supervisor's to
 * end. Answers DOOR_SECRET_OK or DOOR_SECRET_BAD, which never shows the value. */
#include "keeper/serve_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { LINE_MAX_LEN = 16 << 10, NUMBER_MAX = KEEPER_CAPTURED_FIRST - 1, FIRST_ROOM = 512 };

struct serve_reading {
        struct serve_reading *next;
        uint32_t number;
        int fd;
        struct rule_line line;
        uint8_t *data; /* locked */
        size_t n, room;
};

static void drop(struct serve_reading *r)
{
        rule_line_free(&r->line);
        close_fd(&r->fd);
        store_drop(r->data);
        free(r);
}

static int tell_bad(struct keeper *k, uint32_t number, const char *sentence)
{
        struct buf *b = keeper_message(k, DOOR_SECRET_BAD);
        buf_put_u32(b, number);
        buf_put_lstr(b, sentence);
        return keeper_to_supervisor(k);
}

void serve_readings_drop(struct keeper *k, uint32_t number)
{
        for (struct serve_reading **p = &k->readings; *p;) {
                struct serve_reading *r = *p;
                if (number != DOOR_SECRET_ALL && r->number != number) {
                        p = &r->next;
                        continue;
                }
                *p = r->next;
                drop(r);
        }
}

/* may_change(x, line, err): is it one that can have another value or line? */
static int may_change(const struct store_secret *x, const struct rule_line *line, struct err *err)
{
        const char *name = x->line.secret->name;
        if (x->state != STORE_LIVE)
                return err_set(err, E_REFUSED, "%s %s and stays so for this box", name,
                               x->state == STORE_REVOKED ? "was revoked" : "has expired");
        if (strcmp(name, line->secret->name) != 0)
                return err_set(err, E_PROTO, "a secret cannot change its name");
        return 0;
}

/* put_line(x, line): from now on it goes by ${line}, which is moved. */
static void put_line(struct store_secret *x, struct rule_line *line)
{
        uint64_t ttl_ms = line->secret->ttl_s * 1000;
        if (line->secret->ttl_s != x->line.secret->ttl_s)
                x->expires_ms = ttl_ms ? keeper_now_ms() + ttl_ms : 0;
        store_line(x, line);
}

/* change(k, x, r, err): a fresh value for a secret that is there; its line may be another one, and
 * says what to make of the value. */
static int change(struct keeper *k, struct store_secret *x, struct serve_reading *r,
                  struct err *err)
{
        if (may_change(x, &r->line, err) < 0)
                return -1;
        size_t parts_n = x->parts_n;
        const struct rule_line old = x->line;
        x->line = r->line;
        int took = value_take(k, x, r->data, r->n, err);
        x->line = old;
        if (took < 0)
                return -1;
        bool is_other = !rule_line_equal(&x->line, &r->line);
        if (is_other)
                put_line(x, &r->line);
        /* A new part (keys of AWS that have a session token now) must be known before its fingers.
         */
        return (is_other || parts_n != x->parts_n ? keeper_grant : keeper_fingers)(k, x);
}

static int add(struct keeper *k, struct serve_reading *r, struct err *err)
{
        if (k->is_all_revoked)
                return err_set(err, E_REFUSED, "all secrets of this box were revoked");
        uint64_t ttl_ms = r->line.secret->ttl_s * 1000;
        struct store_secret *x = store_add(k->store, r->number, &r->line, err);
        if (!x)
                return -1;
        if (value_take(k, x, r->data, r->n, err) < 0) {
                store_remove(k->store, x);
                return -1;
        }
        x->expires_ms = ttl_ms ? keeper_now_ms() + ttl_ms : 0;
        return keeper_grant(k, x);
}

/* finish(k, r): all of it is there. */
static int finish(struct keeper *k, struct serve_reading *r)
{
        struct err err = {0};
        struct store_secret *x = store_find(k->store, r->number);
        if ((x ? change(k, x, r, &err) : add(k, r, &err)) < 0)
                return tell_bad(k, r->number, err.code ? err.text : "egress is gone");
        x = store_find(k->store, r->number);
        _cleanup_buf_ struct buf warning = {0};
        value_warn(x, &warning);
        keeper_record(k, &(struct door_record){.verdict = "allow",
                                               .rule = x->line_text,
                                               .secrets = x->line.secret->name,
                                               .note = "the keeper has its value"});
        return keeper_tell_ok(k, x, value_provider(x), buf_cstr(&warning));
}

static int grow(struct serve_reading *r)
{
        size_t room = r->room ? 2 * r->room : FIRST_ROOM;
        uint8_t *data = store_alloc(room);
        if (!data)
                return -1;
        if (r->n)
                memcpy(data, r->data, r->n);
        store_drop(r->data);
        r->data = data;
        r->room = room;
        return 0;
}

/* pull(r, err): read what is there. 1 at the end, 0 when more may come, -1 and a sentence. */
static int pull(struct serve_reading *r, struct err *err)
{
        const char *name = r->line.secret->name;
        for (;;) {
                if (r->n > DOOR_SECRET_MAX)
                        return 1; /* value_take says that it is too long */
                if (r->n == r->room && grow(r) < 0)
                        return err_set(err, E_SYSTEM, "there is no locked memory left for %s",
                                       name);
                ssize_t got = read(r->fd, r->data + r->n, r->room - r->n);
                if (got > 0) {
                        r->n += (size_t)got;
                        continue;
                }
                if (got == 0)
                        return 1;
                if (errno == EAGAIN)
                        return 0;
                if (errno != EINTR)
                        return err_sys(err, "read the value of %s", name);
        }
}

size_t serve_readings_poll(const struct keeper *k, struct pollfd *p)
{
        size_t n = 0;
        for (const struct serve_reading *r = k->readings; r && n < SERVE_READINGS_MAX; r = r->next)
                p[n++] = (struct pollfd){.fd = r->fd, .events = POLLIN};
        return n;
}

int serve_readings_ready(struct keeper *k, const struct pollfd *p, size_t n)
{
        struct serve_reading **at = &k->readings;
        for (size_t i = 0; i < n && *at; i++) {
                struct serve_reading *r = *at;
                struct err err = {0};
                int end = p[i].revents ? pull(r, &err) : 0;
                if (end == 0) {
                        at = &r->next;
                        continue;
                }
                *at = r->next;
                int told = end > 0 ? finish(k, r) : tell_bad(k, r->number, err.text);
                drop(r);
                if (told < 0)
                        return -1;
        }
        return 0;
}

int serve_stand_in(struct keeper *k, struct frame *f)
{
        uint32_t number;
        _cleanup_free_ char *part = NULL, *text = NULL;
        if (cur_u32(&f->body, &number) < 0 || cur_lstr(&f->body, 11, &part) < 0 ||
            cur_lstr(&f->body, DOOR_SECRET_MAX, &text) < 0 || f->body.left)
                return -1;
        struct err err = {0};
        if (number && number <= NUMBER_MAX && !store_find(k->store, number) &&
            value_check("a placeholder", (const uint8_t *)text, strlen(text), &err) == 0)
                store_stand_in(k->store, number, part, text);
        return 0;
}

/* reline(k, number, line): another line for a value that we have. ${line} is moved or freed. */
static int reline(struct keeper *k, uint32_t number, struct rule_line *line)
{
        struct err err = {0};
        struct store_secret *x = store_find(k->store, number);
        const struct store_secret as_new = {.line = *line};
        int r = x ? may_change(x, line, &err) : err_set(&err, E_PROTO, "there is no such secret");
        if (r == 0 && !(value_is_plain(x) && value_is_plain(&as_new)))
                r = err_set(&err, E_PROTO, "its value is wanted again for this line");
        if (!x || r < 0) {
                rule_line_free(line);
                return tell_bad(k, number, err.text);
        }
        put_line(x, line);
        keeper_record(k, &(struct door_record){.verdict = "allow",
                                               .rule = x->line_text,
                                               .secrets = x->line.secret->name,
                                               .note = "its line has changed"});
        _cleanup_buf_ struct buf warning = {0};
        value_warn(x, &warning);
        if (keeper_grant(k, x) < 0)
                return -1;
        return keeper_tell_ok(k, x, value_provider(x), buf_cstr(&warning));
}

/* get_line(f, &number, line, err): u32 number, lstr secret line. 1; 0 when it is no line that can
 * be used, with a sentence; -1 when the message makes no sense. */
static int get_line(struct frame *f, uint32_t *number, struct rule_line *line, struct err *err)
{
        const char *text;
        size_t n, column;
        if (cur_u32(&f->body, number) < 0 ||
            keeper_get_text(&f->body, LINE_MAX_LEN, &text, &n) < 0 || f->body.left ||
            *number == 0 || *number > NUMBER_MAX)
                return -1;
        if (rule_line_parse(text, n, line, &column, err) == 1) {
                if (line->kind == RULE_LINE_SECRET)
                        return 1;
                rule_line_free(line);
        }
        if (!err->code)
                err_set(err, E_INPUT, "this is no line of a secret");
        return 0;
}

int serve_line(struct keeper *k, struct frame *f)
{
        uint32_t number;
        struct err err = {0};
        struct rule_line line = {0};
        int got = get_line(f, &number, &line, &err);
        if (got < 0)
                return -1;
        return got ? reline(k, number, &line) : tell_bad(k, number, err.text);
}

int serve_secret(struct keeper *k, struct frame *f)
{
        uint32_t number;
        size_t pending = 0;
        struct err err = {0};
        struct rule_line line = {0};
        _cleanup_close_ int fd = frame_take_fd(f, 0);
        if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
                return -1;
        int got = get_line(f, &number, &line, &err);
        if (got <= 0)
                return got < 0 ? -1 : tell_bad(k, number, err.text);
        /* A value that is asked for again before it came counts once, as the newer one. */
        serve_readings_drop(k, number);
        for (struct serve_reading *r = k->readings; r; r = r->next)
                pending++;
        struct serve_reading *r = calloc(1, sizeof *r);
        if (!r)
                str_no_memory();
        *r = (struct serve_reading){
                .next = k->readings, .number = number, .fd = take_fd(&fd), .line = line};
        k->readings = r;
        return pending < SERVE_READINGS_MAX ? 0 : -1;
}
