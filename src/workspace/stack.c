/* stack.c - see stack.h: the list of a box's frozen layers as a file, and the way from an entry to
 * its tree. Called by session (start, snapshot, fork), by box_roots.c and by the commands that list
 * layers. Must never pass over a line that it does not understand: what it names would vanish. */
#include "workspace/stack.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

enum { LIST_MAX = 64 << 20, LABEL_MAX = 400 };

void stack_free(struct stack *s)
{
        for (size_t i = 0; i < s->n; i++) {
                free(s->v[i].kind);
                free(s->v[i].label);
        }
        free(s->v);
        *s = (struct stack){0};
}

bool stack_is_id(const char *s)
{
        return strlen(s) == STACK_ID_LEN && strspn(s, "0123456789abcdef") == STACK_ID_LEN;
}

/* one_line(label): no tab and no control byte: it stands on a line with others. */
static char *one_line(const char *label)
{
        char *copy = str_fmt("%.*s", LABEL_MAX, label ? label : "");
        for (char *p = copy; *p; p++)
                if ((unsigned char)*p < 0x20 || *p == 0x7f)
                        *p = ' ';
        return copy;
}

void stack_add(struct stack *s, const char *id, const char *kind, const char *label, int64_t when_s)
{
        struct stack_entry *v = realloc(s->v, (s->n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        s->v = v;
        struct stack_entry *e = &v[s->n++];
        *e = (struct stack_entry){
                .kind = str_dup(kind), .label = one_line(label), .when_s = when_s};
        memcpy(e->id, id, strnlen(id, STACK_ID_LEN));
}

void stack_drop(struct stack *s, size_t at)
{
        free(s->v[at].kind);
        free(s->v[at].label);
        memmove(&s->v[at], &s->v[at + 1], (s->n - at - 1) * sizeof *s->v);
        s->n--;
}

size_t stack_turn(const struct stack *s, unsigned n)
{
        unsigned seen = 0;
        for (size_t i = 0; i < s->n; i++)
                if (strcmp(s->v[i].kind, "turn") == 0 && ++seen == n)
                        return i;
        return s->n;
}

static bool is_kind(const char *s)
{
        static const char *const kinds[] = {"turn", "snapshot", "fork", "squash"};
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                if (strcmp(s, kinds[i]) == 0)
                        return true;
        return false;
}

/* read_entry(s, line): FID<TAB>KIND<TAB>LABEL<TAB>UNIX_S. */
static int read_entry(struct stack *s, char *line)
{
        char *kind = strchr(line, '\t');
        char *label = kind ? strchr(kind + 1, '\t') : NULL;
        char *when = label ? strchr(label + 1, '\t') : NULL;
        uint64_t t;
        if (!when)
                return -1;
        *kind++ = *label++ = *when++ = 0;
        if (!stack_is_id(line) || !is_kind(kind) || str_u64(when, &t) < 0 || t > INT64_MAX ||
            s->n > STACK_MAX)
                return -1;
        stack_add(s, line, kind, label, (int64_t)t);
        return 0;
}

int stack_parse(char *text, struct stack *s, struct err *err)
{
        char *key, *value;
        uint64_t n = 0, want = 0;
        bool has_count = false;
        *s = (struct stack){0};
        while (kv_next(&text, &key, &value)) {
                if (strcmp(key, "layer") == 0) {
                        n++;
                        if (read_entry(s, value) < 0)
                                goto fail;
                } else if (strcmp(key, "layers") == 0) {
                        has_count = str_u64(value, &want) == 0;
                }
        }
        if (has_count && n == want)
                return 0;
fail:
        stack_free(s);
        return err_set(err, E_INPUT, "the list of frozen layers is damaged");
}

int stack_read(int dir_fd, const char *name, struct stack *s, struct err *err)
{
        struct err none = {0};
        *s = (struct stack){0};
        _cleanup_free_ char *text = fdio_read_file(dir_fd, name, LIST_MAX, &none);
        if (!text && none.sys == ENOENT)
                return 0;
        if (!text) {
                if (err)
                        *err = none;
                return err_add(err, "read the list of frozen layers");
        }
        return stack_parse(text, s, err);
}

void stack_put(struct buf *b, const struct stack *s)
{
        for (size_t i = 0; i < s->n; i++) {
                const struct stack_entry *e = &s->v[i];
                _cleanup_free_ char *line =
                        str_fmt("%s\t%s\t%s\t%" PRId64, e->id, e->kind, e->label, e->when_s);
                kv_put(b, "layer", line);
        }
        /* Last: a list that was cut off anywhere is seen to be. */
        kv_put_u64(b, "layers", s->n);
}

int stack_write(int dir_fd, const char *name, const struct stack *s, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        stack_put(&b, s);
        if (b.is_broken)
                return err_set(err, E_INPUT, "the list of frozen layers is too long to keep");
        return fdio_write_file(dir_fd, name, buf_cstr(&b), 0600, err);
}

int stack_open(int frozen_fd, const char *id, const char *layer_name, struct err *err)
{
        if (!stack_is_id(id) || !*layer_name || strchr(layer_name, '/') || layer_name[0] == '.')
                return err_set(err, E_INPUT, "a frozen layer that cannot be: %s", id);
        _cleanup_close_ int entry =
                openat(frozen_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (entry < 0) {
                int e = errno;
                err_sys(err, "open the frozen layer %s", id);
                if (e == ENOENT)
                        return err_set(err, E_INPUT,
                                       "the frozen layer %s is missing from the state directory",
                                       id);
                return -1;
        }
        int fd = openat(entry, layer_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "open %s of the frozen layer %s", layer_name, id) : fd;
}

int stack_hold(int frozen_fd, bool is_alone, struct err *err)
{
        _cleanup_close_ int fd =
                openat(frozen_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return err_sys(err, "open the lock of the frozen layers");
        while (flock(fd, is_alone ? LOCK_EX : LOCK_SH) < 0)
                if (errno != EINTR)
                        return err_sys(err, "lock the frozen layers");
        return take_fd(&fd);
}
