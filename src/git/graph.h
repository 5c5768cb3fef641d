/* graph.h - the commits that a box has and the host does not, with what each changes: read once for
 * all refs, by the host's git from the quarantine. */
#ifndef GIT_GRAPH_H
#define GIT_GRAPH_H

#include "git/fetch_int.h"

struct git_node {
        char id[GIT_ID_MAX + 1];
        size_t *parents; /* those that are new too, as numbers of nodes */
        size_t parents_n, parents_all;
        char first[GIT_ID_MAX + 1]; /* of a merge: its first parent */
        size_t raw_at, raw_n;     /* what it changes; of a merge: against all its parents at once */
        size_t first_at, first_n; /* of a merge: against its first parent, as the log shows it */
        size_t seen;              /* by graph_from */
        bool is_listed;
        char *subject, *author;
        int64_t when_s;
};
struct git_graph {
        struct git_node *v; /* newest first, no parent before its children */
        size_t n;
        size_t *slots, slots_n; /* by id */
        struct git_raw *raws;   /* point into ${text} and ${firsts} */
        size_t raws_n, raws_cap;
        struct buf text, firsts;
        size_t round;
};
void graph_free(struct git_graph *);
#define _cleanup_graph_ __attribute__((cleanup(graph_free)))

enum { GRAPH_COMMITS_MAX = 200000 };

/* graph_load(g, f, tips, err): the commits of ${tips} (ids of commits) that no ref of the host
 * reaches, and their changes. */
int graph_load(struct git_graph *, struct fetch *, const struct strs *tips, struct err *);

/* graph_find(g, id): its number, or g->n. graph_from(g, id): mark what ${id} reaches; a node is
 * marked when its `seen` is g->round. Returns how many. */
size_t graph_find(const struct git_graph *, const char *id);
size_t graph_from(struct git_graph *, const char *id);

/* graph_describe(g, f, err): author, subject and date of those that are listed. */
int graph_describe(struct git_graph *, struct fetch *, struct err *);

/* graph_raws(f, argv, in, text, raws, &n, err): the entries of one comparison. */
int graph_raws(struct fetch *, const char *const *argv, struct buf *text, struct git_raw **,
               size_t *n, struct err *);

/* graph_commit(data, len, node): a commit object's author and subject; for tests too. */
void graph_commit(const char *data, size_t len, struct git_node *);

#endif
