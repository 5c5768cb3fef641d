/* profile.h - what an agent needs, as data: the profile file turned into a struct, and nothing
 * else.
 *
 * A profile is lines in the style of the rule line; # starts a comment, "..." or '...' quotes a
 * word:
 *
 *   extends claude                     begin with everything of another profile (first line only)
 *   about   Claude Code by Anthropic   one line for `ostiary profile ls`
 *   command claude                     what to look for on PATH
 *   install npm install -g ...         how to get it, said when it is missing
 *   args    --skip-prompts ...         put after the command, before the user's own arguments
 *   resume  ~/.x/sessions --continue   put after args when the agent goes on in its box, has left a
 *                                      file at that path, and is told nothing else; the word %TALK%
 *                                      is the UUID in the newest file's name
 *   env     NAME=VALUE                 set in the box; %HOME% and %WORKSPACE% are replaced
 *   pass    NAME                       taken from the caller if set; never a credential
 *   limit   memory=8G cpu=2 pids=4096  keys: memory cpu pids files disk time inotify
 *                                      door-memory; or =none
 *   persist ~/.x/sessions              outlives the box
 *   seed copy  ~/.x/y                  host file or directory copied into the box's home
 *   seed json  ~/.x/s.json drop=KEY,KEY keep=KEY set=/json/pointer=VALUE
 *   seed write ~/.x/f TEXT             \n and \t in "..."; marks are replaced, \ and " escaped
 *   bind    ~/path ro                  a host path seen at its own place: ro, rw or cow
 *   allow, deny, deny!, ask, tcp, splice, secret ...   rules (rule.h), kept as written
 *
 * Pure functions: text in, struct out. Reading files is session/profiles.h. */
#ifndef POLICY_PROFILE_H
#define POLICY_PROFILE_H

#include "base/strs.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum profile_seed_kind { PROFILE_SEED_COPY, PROFILE_SEED_JSON, PROFILE_SEED_WRITE };

struct profile_seed {
        enum profile_seed_kind kind;
        char *path;       /* below the home, without "~/" */
        char *text;       /* WRITE: the content, marks not yet replaced */
        struct strs drop; /* JSON: keys or /pointers removed */
        struct strs keep; /* JSON: the only top-level keys that stay, if has_keep */
        bool has_keep;    /* keep= was written; empty means: begin with nothing */
        struct strs set;  /* JSON: "/pointer=VALUE"; VALUE is JSON, or a plain word for a string */
};

struct profile_bind {
        char *path; /* "~/x" or absolute, as written */
        char *mode; /* "ro", "rw" or "cow" */
};

struct profile {
        char *name;
        char *extends; /* NULL, or the profile this one begins with (not resolved by the parser) */
        char *about;
        char *command;
        char *install;
        struct strs args;
        struct strs resume;  /* words; none: it starts anew */
        char *resume_path;   /* below the home, without "~/": where conversations lie */
        struct strs env;     /* NAME=VALUE */
        struct strs pass;    /* NAME */
        struct strs limits;  /* "memory=8G": checked, later ones win */
        struct strs persist; /* below the home, without "~/" */
        struct profile_seed *seeds;
        size_t seeds_n;
        struct profile_bind *binds;
        size_t binds_n;
        struct strs rules; /* door and secret lines, as written */
};

/* profile_parse(name, text, p, err): read ${text}. On failure -1, ${err} says
 * "profile NAME, line L, column C: ..." with a suggestion for a mistyped word, and ${p} is empty.
 * ${p} is overwritten; release it with profile_free. */
int profile_parse(const char *name, const char *text, struct profile *, struct err *);

/* profile_extend(p, base, err): put everything of ${base} before what ${p} has: single values only
 * where ${p} has none, lists in front. `extends` of ${p} is cleared. ${base} is not changed. */
void profile_extend(struct profile *, const struct profile *base);

void profile_free(struct profile *);
#define _cleanup_profile_ __attribute__((cleanup(profile_free)))

/* profile_name_ok(name): may this be a profile's name, hence a file name? a-z 0-9 - _ . inside. */
bool profile_name_ok(const char *);

/* profile_limit_check("memory=8G", err): is it a limit we know with a value that makes sense? The
 * same check serves the command line. */
int profile_limit_check(const char *, struct err *);

/* profile_fill(text, home, workspace): a copy with %HOME% and %WORKSPACE% replaced (workspace may
 * be NULL: then "/"). The caller frees. */
char *profile_fill(const char *text, const char *home, const char *workspace);

#endif
