/* print_int.h - what the files of print share. Included by workspace/print*.c only. */
#ifndef WORKSPACE_PRINT_INT_H
#define WORKSPACE_PRINT_INT_H

#include "base/buf.h"
#include "workspace/change.h"
#include "workspace/print.h"

/* One side of a change, read. */
struct print_side {
        struct buf bytes; /* of a file, or a link's target; NUL-terminated */
        size_t len;
        uint64_t size; /* of the file; more than len when it was not read */
        bool is_absent;
        bool is_large;  /* over PRINT_FILE_MAX */
        bool is_binary; /* known even of a large one */
};
void print_side_free(struct print_side *);
#define _cleanup_side_ __attribute__((cleanup(print_side_free)))

/* print_side_read(view, path, node, side, err): a node that is no file and no link is absent. */
int print_side_read(const struct ws_view *, const char *path, const struct ws_node *,
                    struct print_side *, struct err *);

/* print_hunks(p, a, b, err): the hunks of two texts, or the line that both are binary or too large,
 * with ${a_name} and ${b_name} quoted already. Nothing when they are equal. */
int print_hunks(struct ws_print *, const struct print_side *a, const struct print_side *b,
                const char *a_name, const char *b_name, struct err *);

/* print_are_equal(a, b): the same bytes, as far as both were read. */
bool print_are_equal(const struct print_side *, const struct print_side *);

/* print_blob_name(s, hex): what git calls this content; zeros when it is absent. print_binary(p, a,
 * b, err): both contents, packed as git packs them; an `index` line with their names goes before.
 */
enum { PRINT_BLOB_LEN = 40 };
void print_blob_name(const struct print_side *, char hex[PRINT_BLOB_LEN + 1]);
int print_binary(struct ws_print *, const struct print_side *a, const struct print_side *b,
                 struct err *);

/* print_flush(p, out, err): hand over what was made. */
int print_flush(struct ws_print *, struct buf *out, struct err *);
/* print_open(out, p, style), print_close: what stands around a line. */
void print_open(struct buf *out, const struct ws_print *, enum ws_print_style);
void print_close(struct buf *out, const struct ws_print *, enum ws_print_style);

#endif
