/* tags.c - the words of annotated tags, which no commit has: read from the quarantine by one call for
 * all tags, and one more for tags of tags. Called by read.c. */
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { TAGS_EACH_MAX = 256 << 10, TAGS_ALL_MAX = 64 << 20, TAGS_DEPTH = 16 };

static const char tags_unseen[] = "(the message of a tag is too long to be shown)\n";

struct tags {
        struct fetch *fetch;
        char (*want)[GIT_ID_MAX + 1]; /* one per ref: the tag object to read; "": none */
        char (*next)[GIT_ID_MAX + 1]; /* what it names, if that is a tag again */
};

/* tags_add(ref, text, len): a NUL byte of a message does not end it. */
static void tags_add(struct git_ref *ref, const char *text, size_t len)
{
        _cleanup_buf_ struct buf all = {0};
        if (ref->tag)
                buf_put(&all, ref->tag, strlen(ref->tag));
        buf_put(&all, text, len);
        for (size_t i = 0; i < all.len; i++)
                if (!all.data[i])
                        all.data[i] = 0x1a; /* "substitute" */
        free(ref->tag);
        ref->tag = str_dup(buf_cstr(&all));
}

/* tags_object(arg, id, data, len): "object ID\ntype TYPE\n..." */
static void tags_object(void *arg, const char *id, const char *data, size_t len)
{
        static const char type[] = "\ntype tag\n";
        struct tags *t = arg;
        size_t id_len = t->fetch->id_len, at = strlen("object ") + id_len;
        bool is_nested = len > at + strlen(type) && strncmp(data, "object ", 7) == 0 &&
                         strncmp(data + at, type, strlen(type)) == 0;
        for (size_t i = 0; i < t->fetch->repo->refs_n; i++) {
                if (strcmp(t->want[i], id) != 0)
                        continue;
                tags_add(&t->fetch->repo->refs[i], data, len);
                t->want[i][0] = 0;
                if (is_nested)
                        git_names_id(data + 7, id_len, id_len, t->next[i]);
        }
}

void tags_read(struct fetch *f, const bool *is_tag)
{
        size_t n = f->repo->refs_n;
        struct tags t = {.fetch = f,
                         .want = calloc(n + 1, sizeof *t.want),
                         .next = calloc(n + 1, sizeof *t.next)};
        if (!t.want || !t.next)
                str_no_memory();
        for (size_t i = 0; i < n; i++)
                if (is_tag[i])
                        memcpy(t.want[i], f->repo->refs[i].tip, sizeof *t.want);
        for (int depth = 0; depth < TAGS_DEPTH; depth++) {
                _cleanup_buf_ struct buf ids = {0};
                struct err none = {0};
                for (size_t i = 0; i < n; i++)
                        if (t.want[i][0])
                                buf_put_fmt(&ids, "%s\n", t.want[i]);
                if (ids.len == 0)
                        break;
                /* What cannot be read is said to be so, below. */
                (void)fetch_objects(f, "tag", &ids, TAGS_EACH_MAX, TAGS_ALL_MAX, tags_object, &t,
                                    &none);
                for (size_t i = 0; i < n; i++) {
                        if (t.want[i][0])
                                tags_add(&f->repo->refs[i], tags_unseen, strlen(tags_unseen));
                        memcpy(t.want[i], t.next[i], sizeof *t.want);
                        t.next[i][0] = 0;
                }
        }
        for (size_t i = 0; i < n; i++)
                if (t.want[i][0])
                        tags_add(&f->repo->refs[i], tags_unseen, strlen(tags_unseen));
        free(t.want);
        free(t.next);
}
