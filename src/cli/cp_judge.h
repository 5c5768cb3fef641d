/* cp_judge.h - what `ostiary cp` may bring out of a box: by the table that apply goes by, and by where
 * on the host it would come to lie. */
#ifndef CLI_CP_JUDGE_H
#define CLI_CP_JUDGE_H

#include <stdbool.h>

struct cp_roots;
struct err;
struct store;
struct tree_entry;
struct tree_place;

struct cp_judge;

/* What the user said to classes, and how he is told what was left out (counted by whoever gives it)
 * and what was taken. Sentences are printable. */
struct cp_judge_how {
        bool is_yes;
        bool has_terminal; /* a question for each class */
        void (*on_left)(void *arg, const char *sentence);
        void (*on_taken)(void *arg, const char *sentence);
        void *arg;
};

/* cp_judge_new(place, roots, store, how, err): for one copy to ${place}. NULL and a sentence when the
 * place is within a git directory, into which nothing is copied. All but ${err} is borrowed. */
struct cp_judge *cp_judge_new(const struct tree_place *, const struct cp_roots *,
                              const struct store *, const struct cp_judge_how *, struct err *);
void cp_judge_free(struct cp_judge *);

/* cp_judge_entry(j, dir_fd, path, e, err): as tree_opts wants it (wire/tree.h). */
int cp_judge_entry(struct cp_judge *, int dir_fd, const char *path, const struct tree_entry *,
                   struct err *);

#endif
