/* landing.h - what a box committed on its way to the host: which of its files belong to commits, who
 * decides, and the order in which objects, files, index and refs land. Asks through hooks and prints
 * nothing, for whoever drives it (cli/apply_git.c).
 *
 * Landing has two units: commits, ref by ref, and changes that the box did not commit. A path that
 * new commits of the box's branch touch lands with them or not at all: as a loose file it would be
 * in the way of the merge that brings them later. */
#ifndef SESSION_LANDING_H
#define SESSION_LANDING_H

#include "base/buf.h"
#include "base/strs.h"
#include "git/fetch.h"
#include "git/land.h"
#include "session/changes.h"
#include "workspace/apply.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct store;

/* What became, or will become, of a change. */
enum landing_fate {
        FATE_OPEN,     /* nobody has decided */
        FATE_TAKE,     /* is to be applied */
        FATE_APPLIED,  /* was */
        FATE_CONFLICT, /* the host changed it too */
        FATE_REFUSED,  /* never applied, or the host would not have it */
        FATE_UNASKED,  /* of a class that nobody approved, and nobody could be asked */
        FATE_DECLINED, /* the user said no */
        FATE_IMPLIED,  /* a directory that is made with what is in it */
        FATE_MASKED,   /* a stand-in of ours, untouched: nothing to speak of */
        FATE_HELD,     /* committed, merged on the host, and gone on with there: nothing either */
        FATE_UNIT,     /* belongs to commits that nobody has decided about */
        FATE_WAITS,    /* stays in the box with the commits it belongs to */
};

struct landing_item {
        const struct ws_change *change;
        size_t root; /* index in the box's roots */
        enum landing_fate fate;
        enum apply_conflict conflict;
        const char *why; /* FATE_REFUSED; a note for FATE_CONFLICT */
        enum apply_how how;
        struct buf bytes;                  /* APPLY_BYTES, APPLY_MERGE */
        char host_sha[SHA256_HEX_LEN + 1]; /* apply_choice.host_sha */
        char shown[SHA256_HEX_LEN + 1];    /* the content that was shown, or "" */
        size_t unit;    /* index plus one in the job's units: commits touch the path; 0: none do */
        bool is_on_top; /* of a unit: it is not what the commits have there; known when a person is
                           asked for the unit's head */
};

/* What a repository of the box brings: its refs, and the files that belong to its commits. */
struct landing_unit {
        struct git_repo *repo;
        enum landing_fate
                *refs;    /* one per ref: OPEN, TAKE, APPLIED, UNASKED, DECLINED, REFUSED; WAITS:
                                  nothing of it is new */
        bool takes_head;  /* the host's branch moves, and its files land */
        char *waits;      /* why it does not; or NULL */
        char *items_wait; /* the same for its files, one by one */
        bool is_declined; /* because somebody said no: nothing is missing then */
        struct git_land *land;
        bool is_done;
        char *stuck;      /* its files landed and could not be taken back: why; or NULL */
        struct strs kept; /* refs that keep what others were before */
};

struct landing;

/* Questions to a person, asked only when has_terminal is set and nothing else decides: is the ref taken,
 * does the branch move with its files? The second is asked when the answer to the first does not cover
 * them: a class that is not plain, a ref that is here already, or items that are on top of the commits.
 * Who wants no further question sets is_over. */
struct landing_asks {
        bool (*ref)(void *arg, struct landing *, struct landing_unit *, size_t ref);
        bool (*head)(void *arg, struct landing *, const struct landing_unit *);
        void *arg;
};

struct landing {
        struct changes *c;
        const struct store *store;
        bool is_dry;
        bool is_files;              /* files without commits */
        bool is_hunks;              /* parts of files: no whole commits either */
        bool has_yes;               /* plain ones without a question */
        bool yes[FILE_CLASS_COUNT]; /* classes that need no question */
        bool has_terminal;          /* somebody can be asked */
        bool is_over;               /* who is asked wants no further question */
        struct landing_asks asks;
        struct landing_item *v; /* of all roots, in the order of the walk */
        size_t n;
        struct apply_result *results; /* one per root */
        struct strs git_trees;        /* work trees whose git directories the box touched */
        struct git_fetch fetch;
        struct landing_unit *units; /* one per repository of ${fetch} */
};

/* In this order. landing_fetch(l, err): what the box committed, by the work trees that were found.
 * landing_find(l): which items belong to it. landing_decide(l): each ref, by its classes or by a
 * question; sets the fates of refs and of the items that belong to them. landing_begin(l, undo_fd):
 * objects and locks; what cannot be had waits. Then the caller writes the items. landing_end(l,
 * undo_fd): index and refs, or the files back. landing_free(l). */
int landing_fetch(struct landing *, struct err *);
void landing_find(struct landing *);
void landing_decide(struct landing *);
void landing_begin(struct landing *, int undo_fd);
void landing_end(struct landing *, int undo_fd);
void landing_free(struct landing *);

/* landing_unit_of(l, item): the repository that it lands with, or NULL. landing_unit_waits(unit, why):
 * its branch does not move; the first reason counts. Takes ${why} over. landing_name(l, item): how its
 * path is told, quoted; the caller frees. */
struct landing_unit *landing_unit_of(const struct landing *, const struct landing_item *);
void landing_unit_waits(struct landing_unit *, char *why);
char *landing_name(const struct landing *, const struct landing_item *);

#endif
