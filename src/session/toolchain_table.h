/* toolchain_table.h - which layouts of toolchains we know, and what is never shown: two const
 * tables, so that what a box sees of a home directory can be read on one screen. */
#ifndef SESSION_TOOLCHAIN_TABLE_H
#define SESSION_TOOLCHAIN_TABLE_H

#include <stdbool.h>

enum { TOOLCHAIN_SHOW_MAX = 12, TOOLCHAIN_PASS_MAX = 4 };

struct toolchain_row {
        const char *name;
        const char *root_env; /* a variable that moves the root, or NULL */
        const char *root;     /* "~/x" or absolute; NULL when only the variable tells */
        const char *match;    /* what must follow below the root, by component, * matches within
                                 one; "" is the root itself */
        const char *show[TOOLCHAIN_SHOW_MAX]; /* below the root; "." the root, "=" root and match,
                                                 "~/x" elsewhere in the home */
        const char *also;                     /* another row, by name, that comes with it */
        const char *pass[TOOLCHAIN_PASS_MAX]; /* variables taken from the caller if set */
        const char *set[TOOLCHAIN_PASS_MAX];  /* NAME=VALUE, %HOME% replaced */
};

extern const struct toolchain_row toolchain_rows[]; /* ends with a NULL name; first match wins */

struct toolchain_never {
        const char *path;   /* "~/x" or absolute */
        bool is_whole_tree; /* nothing below it either; else only itself and what holds it */
        const char *why;
};

extern const struct toolchain_never toolchain_nevers[]; /* ends with a NULL path */

#endif
