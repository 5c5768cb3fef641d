/* fetch_int.h - one repository at work, shared by the files behind fetch.h:
 *
 *   look.c   which work trees are repositories, in the box and on the host
 *   tips.c   what the box's refs name, and the host's
 *   take.c   the pack into a quarantine of ours, and the proof that nothing is missing
 *   graph.c  new commits and what each changes, by the host's git from the quarantine
 *   read.c   the same by ref, with classes (classes.c, paths.c) and the words of tags (tags.c)
 *   judge.c  HEAD against HEAD
 *   held.c   whether the host has the box's HEAD by now
 *   convert.c which files of the box's work tree git would take for what is committed
 *   landed.c a note that the host has it all, and whether that still holds
 *   aside.c  the index and the configuration, which are only shown */
#ifndef GIT_FETCH_INT_H
#define GIT_FETCH_INT_H

#include "base/buf.h"
#include "base/sha256.h"
#include "git/fetch.h"
#include "git/links.h"
#include "git/names.h"
#include "git/raw.h"

#define FETCH_ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Blobs whose content decides a class: .gitmodules, .gitattributes. */
struct fetch_classes {
        const struct file_classes *table;
        const char *top;    /* where the repository lies in the workspace; NULL: at its top */
        struct fetch *from; /* where they are read; NULL: classes by path alone */
        struct {
                char id[GIT_ID_MAX + 1];
                char *text; /* NULL: not to be had, or too large */
                size_t len;
        } * v;
        size_t n;
        struct git_links links; /* of the host's tree, and of everything that is new */
        struct strs leaving;    /* "ID PATH" of new links that lead out of the workspace */
        bool is_leaving_sorted;
        bool has_links;
        bool are_links_lost; /* some could not be read: nothing is plain then */
        /* Paths come in the order of a tree: what they share with the one before is known. Made when
         * they are first wanted. */
        struct file_trail *by_table, *built_in, *whole;
};
void fetch_classes_free(struct fetch_classes *);
#define _cleanup_fetch_classes_ __attribute__((cleanup(fetch_classes_free)))

extern uint64_t git_take_max;      /* bytes of a pack; smaller in tests */
extern uint32_t git_fetch_pack_ms; /* of all packs of a box; less in tests */
extern int64_t git_show_cpu_ms;    /* to tell all commits of a box; less in tests */
extern uint32_t git_fetch_cpu_s;   /* of a call that tells what commits change; less in tests */
extern size_t git_graph_max; /* bytes of git's list of what commits change; smaller in tests */

/* What is left of the time that a box can cost, of all its repositories. */
struct fetch_left {
        int64_t inside_ms; /* for calls in the box, packs aside */
        int64_t pack_ms;   /* for packs */
        int64_t cpu_ms;    /* processor time of the host's git that reads what the box committed */
};

struct fetch {
        const struct git_want *want;
        struct git_repo *repo;
        struct fetch *owner; /* who has the refs and the quarantine; itself unless repo->shares */
        size_t id_len;       /* 40 or 64 */
        char *box_common;
        bool is_box_shallow, is_host_shallow, is_detached, is_done;
        bool is_linked; /* in the box: a linked work tree, with a git directory beside the common */
        uint32_t patience_ms; /* with git in the box; 0: the usual */
        struct fetch_left *left;
        struct git_tips box;               /* all refs of the box */
        struct git_tips host;              /* all of the host */
        struct strs detached;              /* HEADs of the box's work trees that are on no branch */
        char host_sum[SHA256_HEX_LEN + 1]; /* of landed.c */
        struct strs known; /* sorted: ids of the host's refs that are there, each once */
        char *dir;         /* a bare repository of ours whose objects are the quarantine */
        bool is_ready;     /* ${dir} is there */
        struct strs env;   /* for the host's git over ${dir} */
        struct fetch_classes classes;
};

/* call.c's git over the box, over the user's work tree, over ${dir}. ${in} may be NULL. */
int fetch_inside(struct fetch *, const char *const *argv, const struct buf *in, struct buf *out,
                 struct err *);
/* fetch_pack(f, call, err): the same for a call that makes a pack, with the time of its own. */
int fetch_pack(struct fetch *, struct git_call *, struct err *);
int fetch_host(struct fetch *, const char *const *argv, const struct buf *in, struct buf *out,
               struct err *);
int fetch_ours(struct fetch *, const char *const *argv, const struct buf *in, struct buf *out,
               struct err *);

/* objects.c: fetch_objects(f, type, ids, each_max, all_max, fn, ctx, err): call ${fn} for every
 * object of that type and at most ${each_max} bytes; ${ids} are lines. Others are passed over. -1
 * when git failed or all together are too large: nothing was called then. */
typedef void fetch_object_fn(void *ctx, const char *id, const char *data, size_t len);
int fetch_objects(struct fetch *, const char *type, const struct buf *ids, size_t each_max,
                  size_t all_max, fetch_object_fn *, void *ctx, struct err *);

/* fetch_now_ms(): a clock that only goes on. */
int64_t fetch_now_ms(void);

/* fetch_waits(repo, fmt, ...): say why nothing can be taken now. Returns -1. */
int fetch_waits(struct git_repo *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* fetch_drop_commits(ref): forget what was read of it. */
void fetch_drop_commits(struct git_ref *);

/* look.c: fill ${f} and ${works} (one each) with every repository. */
int look_all(struct git_fetch *, struct fetch **works, const struct git_want *, struct fetch_left *,
             struct err *);

/* tips.c: the refs of both sides. tips_is_known(f, id): a ref of the host names it. */
int tips_list(struct fetch *);
bool tips_is_known(const struct fetch *, const char *id);
/* tips_pending(f): after tips_list: is some ref of the box new, as read.c would say? Asks the host's
 * git alone; what it does not know is new. */
bool tips_pending(struct fetch *);

/* landed.c: landed_begin(f): remember how the host's refs are; before tips_list, so that one that goes
 * meanwhile is noticed. landed_put(f, note): after it, the lines that git_landed_holds reads; false:
 * nothing can be noted of this repository. */
void landed_begin(struct fetch *);
bool landed_put(const struct fetch *, struct buf *note);

/* take.c: get what is new; refs that cannot be had are refused. */
int take_all(struct fetch *);
/* take_ready(f, err): make sure that ${dir} is there, without anything in it. */
int take_ready(struct fetch *, struct err *);

/* read.c: commits, paths and classes of every ref. read_compare(f, from, to, paths, err): two
 * commits; ${from} "": nothing. read_base(f, a, b, base): common ancestor; "" when there is none. */
int read_all(struct fetch *);
int read_compare(struct fetch *, const char *from, const char *to, struct git_paths *,
                 struct err *);
int read_base(struct fetch *, const char *a, const char *b, char base[GIT_ID_MAX + 1],
              struct err *);

/* tags.c: tags_read(f, is_tag): fill git_ref.tag of the refs (one flag each) whose tip is a tag object.
 * A message that is too long is replaced by a sentence. */
void tags_read(struct fetch *, const bool *is_tag);

/* classes.c */
void fetch_class_of(struct fetch_classes *, const struct git_raw *, struct file_class_verdict *);
/* fetch_classes_load(c, raws, n): read what fetch_class_of will need for these. */
void fetch_classes_load(struct fetch_classes *, const struct git_raw *, size_t n);

/* judge.c, held.c, convert.c and aside.c */
int judge_head(struct fetch *);
void held_find(struct fetch *);
void convert_find(struct fetch *); /* sets git_path.is_converted of what is touched and staged */
int aside_staged(struct fetch *);  /* -1: it cannot be told */
void aside_config(struct fetch *);

/* paths.c: entries on their way to a git_paths; they point to what they were made from. */
struct git_bagged {
        const struct git_raw *raw;
        const char *commit; /* NULL: none */
        size_t at;
};
struct git_bag {
        struct git_bagged *v;
        size_t n, cap;
};
void git_bag_add(struct git_bag *, const struct git_raw *, const char *commit);
void git_bag_free(struct git_bag *);
#define _cleanup_git_bag_ __attribute__((cleanup(git_bag_free)))
/* git_bag_settle(b, classes, out): of several entries for a path the first counts, with the most
 * dangerous class of all. */
void git_bag_settle(struct git_bag *, struct fetch_classes *, struct git_paths *out);
enum file_class git_paths_worst(const struct git_paths *);
enum file_class git_paths_worse(enum file_class, enum file_class);

#endif
