/* toolchain_int.h - what the files of toolchain share: the set under construction, the tables put
 * to use, the head of a script. Included by session/toolchain_*.c only. */
#ifndef SESSION_TOOLCHAIN_INT_H
#define SESSION_TOOLCHAIN_INT_H

#include "session/toolchain.h"
#include "session/toolchain_table.h"

struct toolchain_finder {
        const struct toolchain_query *q;
        struct toolchain_set *set;
        char *home;           /* as given, without a slash at the end; NULL when unusable */
        char *home_real;      /* resolved; equal to home most of the time */
        int depth;            /* scripts whose interpreter is a script ... */
        bool is_by_workspace; /* what is looked at was named by a file of the workspace, which came
                                 with a clone: only known toolchains are shown for it */
};

/* toolchain_set.c */
void toolchain_add(struct toolchain_set *, enum toolchain_kind, const char *path, const char *link,
                   const char *why);
/* toolchain_has(set, path): does a TREE of the set hold ${path}, or is it one of its FILEs? */
bool toolchain_has(const struct toolchain_set *, const char *path);
/* toolchain_tidy(set): sort by path, drop what lies in a TREE or is there twice. */
void toolchain_tidy(struct toolchain_set *);

/* toolchain_expose.c */
void toolchain_finder_open(struct toolchain_finder *, const struct toolchain_query *,
                           struct toolchain_set *);
void toolchain_finder_close(struct toolchain_finder *);
const char *toolchain_env(const struct toolchain_query *, const char *name);
/* toolchain_is_shown(f, path): will a box see ${path} anyway or by what is in the set? */
bool toolchain_is_shown(const struct toolchain_finder *, const char *path);
/* toolchain_refused(f, path): why ${path} (resolved) may never be shown as a tree, or NULL. */
const char *toolchain_refused(const struct toolchain_finder *, const char *path);
/* toolchain_show(f, path, why): resolve ${path} and put it into the set as a TREE or a FILE unless
 * it is shown already, absent or refused. True when it is shown afterwards. */
bool toolchain_show(struct toolchain_finder *, const char *path, const char *why);
/* toolchain_by_row(f, path): if a row of the table fits ${path}, show what it says. True when
 * ${path} is shown afterwards; ${row} (may be NULL) is the row that fitted. */
bool toolchain_by_row(struct toolchain_finder *, const char *path);

/* toolchain_follow.c */
/* toolchain_follow(f, path): resolve ${path}, noting every link on the way that the box will not
 * have by itself. The caller frees; NULL when something is missing. */
char *toolchain_follow(struct toolchain_finder *, const char *path);

/* toolchain_resolve.c */
/* toolchain_program(f, path): ${path} is to be executed in the box: show all it needs. True when
 * the kernel would find it there. */
bool toolchain_program(struct toolchain_finder *, const char *path);
/* toolchain_venv(f, dir): show a virtual environment and the python it was made from. */
bool toolchain_venv(struct toolchain_finder *, const char *dir);

/* toolchain_node.c */
/* toolchain_node_package(real): the package that a file below a node_modules belongs to, by its name
 * alone; the caller frees. NULL: in none. */
char *toolchain_node_package(const char *real);
/* toolchain_node_is_named(dir): is it the root of a package? Some package.json only set a type. */
bool toolchain_node_is_named(const char *dir);
/* toolchain_node(f, package): show the package ${package} and what it asks for. True when it is shown
 * afterwards. */
bool toolchain_node(struct toolchain_finder *, const char *package);

/* toolchain_script.c - what a script names as its interpreter. */
struct toolchain_script {
        char *interpreter;  /* absolute path, or NULL: not a script */
        char *word;         /* env's program, to be looked for on PATH; or NULL */
        struct strs execs;  /* shell scripts: absolute paths after "exec", ~ and $HOME filled in */
        struct strs beside; /* and words of such lines that begin with $basedir, without it: paths
                               relative to the script's directory */
};
void toolchain_script_read(const char *path, const char *home, struct toolchain_script *);
/* toolchain_script_parse(head, len, home, s): the same from the first bytes of a file. */
void toolchain_script_parse(const char *head, size_t len, const char *home,
                            struct toolchain_script *);
void toolchain_script_free(struct toolchain_script *);
#define _cleanup_script_ __attribute__((cleanup(toolchain_script_free)))

#endif
