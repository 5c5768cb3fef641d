/* file_class.h - what a change of a file means for the host tomorrow: does somebody run it, or obey
 * it, without being asked? Tables as data, a user's additions, pure functions: no I/O.
 *
 * A path is judged by its components, folded (case, Unicode compatibility forms as far as ASCII
 * goes, trailing dots and blanks, NTFS streams and 8.3 names: case 75), at any depth (65), whether
 * it existed or not (64). Git directories are found by shape anywhere (62): a component `.git`, or
 * a directory that holds HEAD, objects and refs. */
#ifndef POLICY_FILE_CLASS_H
#define POLICY_FILE_CLASS_H

#include "base/strs.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum file_class {
        FILE_PLAIN,
        FILE_RUNS_ON_COMMIT,
        FILE_RUNS_ON_OPEN,
        FILE_RUNS_ON_BUILD,
        FILE_RUNS_IN_CI,
        FILE_STEERS_AGENT,
        FILE_CONFIGURES_OSTIARY,
        FILE_CLASS_COUNT
};

struct file_class_verdict {
        enum file_class class;
        char why[96]; /* "git hook", "core.hooksPath", "editor tasks", ...; "" for plain */
        bool is_odd;  /* the name only looks like one of these, or like another name (case 75) */
};

/* file_class_name(c): "runs-on-commit", ..., "plain": what --yes= takes. file_class_words(c): "runs
 * on commit". file_class_by_name(name): FILE_CLASS_COUNT when there is none. */
const char *file_class_name(enum file_class);
const char *file_class_words(enum file_class);
enum file_class file_class_by_name(const char *);

/* The tables and a user's own lines: "CLASS GLOB" each, # comments; CLASS may be plain to take a
 * built-in row back for a GLOB, except within git directories. */
struct file_classes;
struct file_classes *file_classes_new(void);
int file_classes_add_text(struct file_classes *, const char *text, const char *whose, struct err *);
void file_classes_free(struct file_classes *);
/* The user's rows, in the order given; of two that hold the later one decides. */
size_t file_classes_user_n(const struct file_classes *);
const char *file_classes_user_at(const struct file_classes *, size_t i, enum file_class *);
const char *file_classes_user_whose(const struct file_classes *, size_t i);

/* file_class_of(t, path, verdict): by path alone. A git config file is RUNS_ON_COMMIT here until
 * file_class_git_config has looked at its keys. ${t} NULL: the built-in tables. */
void file_class_of(const struct file_classes *, const char *path, struct file_class_verdict *);

/* file_class_leads(t, path, verdict): of a symbolic link: could something of a class be found through
 * it, because a row names a directory that it takes the place of (".github" of ".github/workflows/")?
 * What it leads to need not be looked at then. ${t} NULL: the built-in tables. */
bool file_class_leads(const struct file_classes *, const char *path, struct file_class_verdict *);

/* file_class_is_git_config(verdict): of the built-in tables' verdict on a path: is it one whose keys
 * decide (config, config.worktree in a git directory, .gitmodules, .gitconfig)?
 * file_class_is_attributes(verdict): .gitattributes, info/attributes. */
bool file_class_is_git_config(const struct file_class_verdict *);
bool file_class_is_attributes(const struct file_class_verdict *);

/* file_class_in_git(path, verdict): by the path from a git directory that was found by its shape
 * (a bare repository, a git directory elsewhere). */
void file_class_in_git(const char *path, struct file_class_verdict *);

/* file_class_attributes(before, before_len, after, after_len, verdict): two texts of attributes:
 * plain when the lines that name a filter, driver, macro or unknown attribute are the same. */
void file_class_attributes(const char *before, size_t before_len, const char *after,
                           size_t after_len, struct file_class_verdict *);

/* file_class_git_config(before, before_len, after, after_len, verdict): compare two texts key by
 * key (either may be NULL): plain when no key that makes git run, include or fetch something was
 * added, changed or removed to that effect; otherwise the class, and the first such key in why. A
 * text that git might read otherwise than we do is not plain. */
void file_class_git_config(const char *before, size_t before_len, const char *after,
                           size_t after_len, struct file_class_verdict *);

/* file_class_is_ignored_name(component): output that everybody ignores: node_modules, __pycache__,
 * target, .venv, ... Only for a directory that the host does not track and only if plain. */
bool file_class_is_ignored_name(const char *component);

/* file_class_print(t, out): the tables as `ostiary diff --classes` shows them. */
struct buf;
void file_class_print(const struct file_classes *, struct buf *out);

#endif
