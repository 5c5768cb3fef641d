/* git_config_keys.c - which keys of a git configuration may change without a question. Only those
 * are listed as plain whose value can at worst be wrong; a key that is in no table is not plain,
 * because git and the programs around it learn new ones that run things every year. */
#include "policy/git_config.h"

#include <string.h>
#include <strings.h>

enum how {
        ANY,      /* whatever the value */
        NAME,     /* the name of a remote: no URL, no path */
        OFF,      /* only a false */
        REFSPEC,  /* into refs/remotes/ or refs/tags/ alone */
        REF,      /* refs/... */
        ZERO_ONE, /* 0 or 1 */
};

/* section.name, or section.*.name with any subsection; in lower case. */
static const struct {
        const char *pattern;
        enum how how;
} plain[] = {
        {"core.repositoryformatversion", ZERO_ONE},
        {"core.filemode", ANY},
        {"core.bare", OFF},
        {"core.logallrefupdates", ANY},
        {"core.ignorecase", ANY},
        {"core.precomposeunicode", ANY},
        {"core.symlinks", ANY},
        {"core.autocrlf", ANY},
        {"core.safecrlf", ANY},
        {"core.eol", ANY},
        {"core.quotepath", ANY},
        {"core.abbrev", ANY},
        {"core.compression", ANY},
        {"core.loosecompression", ANY},
        {"core.bigfilethreshold", ANY},
        {"core.checkstat", ANY},
        {"core.trustctime", ANY},
        {"core.preloadindex", ANY},
        {"core.untrackedcache", ANY},
        {"core.splitindex", ANY},
        {"core.commitgraph", ANY},
        {"core.multipackindex", ANY},
        {"core.sparsecheckout", ANY},
        {"core.sparsecheckoutcone", ANY},
        {"core.whitespace", ANY},
        {"core.commentchar", ANY},
        {"core.commentstring", ANY},
        {"core.warnambiguousrefs", ANY},
        {"core.hidedotfiles", ANY},
        {"core.longpaths", ANY},
        {"extensions.objectformat", ANY},
        {"extensions.refstorage", ANY},
        {"branch.autosetupmerge", ANY},
        {"branch.autosetuprebase", ANY},
        {"branch.sort", ANY},
        {"branch.*.remote", NAME},
        {"branch.*.pushremote", NAME},
        {"branch.*.merge", REF},
        {"branch.*.rebase", ANY},
        {"branch.*.description", ANY},
        {"branch.*.vscode-merge-base", ANY},
        {"branch.*.gh-merge-base", ANY},
        {"branch.*.github-pr-owner-number", ANY},
        {"remote.*.fetch", REFSPEC},
        {"remote.*.tagopt", ANY},
        {"remote.*.prune", ANY},
        {"remote.*.prunetags", ANY},
        {"remote.*.skipfetchall", ANY},
        {"remote.*.skipdefaultupdate", ANY},
        {"remote.*.gh-resolved", ANY},
        {"user.name", ANY},
        {"user.email", ANY},
        {"user.useconfigonly", ANY},
        {"author.name", ANY},
        {"author.email", ANY},
        {"committer.name", ANY},
        {"committer.email", ANY},
        {"init.defaultbranch", ANY},
        {"pull.rebase", ANY},
        {"pull.ff", ANY},
        {"push.default", ANY},
        {"push.autosetupremote", ANY},
        {"push.followtags", ANY},
        {"fetch.prune", ANY},
        {"fetch.prunetags", ANY},
        {"fetch.parallel", ANY},
        {"fetch.writecommitgraph", ANY},
        {"merge.conflictstyle", ANY},
        {"merge.ff", ANY},
        {"merge.renames", ANY},
        {"merge.renamelimit", ANY},
        {"merge.directoryrenames", ANY},
        {"merge.log", ANY},
        {"merge.stat", ANY},
        {"merge.autostash", ANY},
        {"rebase.autosquash", ANY},
        {"rebase.autostash", ANY},
        {"rebase.updaterefs", ANY},
        {"rebase.stat", ANY},
        {"rebase.abbreviatecommands", ANY},
        {"rebase.missingcommitscheck", ANY},
        {"rerere.enabled", ANY},
        {"rerere.autoupdate", ANY},
        {"commit.verbose", ANY},
        {"commit.status", ANY},
        {"commit.cleanup", ANY},
        {"tag.sort", ANY},
        {"log.date", ANY},
        {"log.decorate", ANY},
        {"log.follow", ANY},
        {"log.abbrevcommit", ANY},
        {"format.pretty", ANY},
        {"status.short", ANY},
        {"status.branch", ANY},
        {"status.showstash", ANY},
        {"status.showuntrackedfiles", ANY},
        {"status.relativepaths", ANY},
        {"status.renames", ANY},
        {"diff.algorithm", ANY},
        {"diff.colormoved", ANY},
        {"diff.colormovedws", ANY},
        {"diff.context", ANY},
        {"diff.interhunkcontext", ANY},
        {"diff.indentheuristic", ANY},
        {"diff.mnemonicprefix", ANY},
        {"diff.noprefix", ANY},
        {"diff.renames", ANY},
        {"diff.renamelimit", ANY},
        {"diff.relative", ANY},
        {"diff.statgraphwidth", ANY},
        {"diff.wordregex", ANY},
        {"diff.*.xfuncname", ANY},
        {"diff.*.wordregex", ANY},
        {"diff.*.binary", ANY},
        {"apply.whitespace", ANY},
        {"blame.date", ANY},
        {"blame.coloring", ANY},
        {"grep.linenumber", ANY},
        {"grep.patterntype", ANY},
        {"index.version", ANY},
        {"index.threads", ANY},
        {"index.sparse", ANY},
        {"pack.threads", ANY},
        {"pack.window", ANY},
        {"pack.depth", ANY},
        {"gc.auto", ANY},
        {"gc.autodetach", ANY},
        {"gc.autopacklimit", ANY},
        {"maintenance.auto", ANY},
        {"feature.manyfiles", ANY},
        {"feature.experimental", ANY},
        {"i18n.commitencoding", ANY},
        {"i18n.logoutputencoding", ANY},
        {"http.postbuffer", ANY},
        {"advice.*", ANY},
        {"color.*", ANY},
        {"color.*.*", ANY},
        {"column.*", ANY},
        {"gui.wmstate", ANY},
        {"gui.geometry", ANY},
        {"submodule.*.branch", ANY},
        {"submodule.*.shallow", ANY},
        {"submodule.*.ignore", ANY},
        {"submodule.*.fetchrecursesubmodules", ANY},
        {"lfs.repositoryformatversion", ANY},
};

static bool word_is(const char *pattern, size_t len, const char *word, size_t word_len)
{
        if (len == 1 && pattern[0] == '*')
                return true;
        return len == word_len && strncasecmp(pattern, word, len) == 0;
}

/* The parts of a key are what is before the first dot, what is after the last, and what is between.
 * A pattern of two parts allows for no subsection, one of three asks for it. */
bool git_config_key_is(const char *pattern, const char *key)
{
        const char *first = strchr(key, '.'), *last = strrchr(key, '.');
        const char *p_first = strchr(pattern, '.'), *p_last = strrchr(pattern, '.');
        if (!first || (p_first == p_last) != (first == last))
                return false;
        if (!word_is(pattern, (size_t)(p_first - pattern), key, (size_t)(first - key)) ||
            !word_is(p_last + 1, strlen(p_last + 1), last + 1, strlen(last + 1)))
                return false;
        return p_first == p_last || word_is(p_first + 1, (size_t)(p_last - p_first - 1), first + 1,
                                            (size_t)(last - first - 1));
}

static bool is_name(const char *v)
{
        if (!v || !*v || *v == '-')
                return false;
        if (strcmp(v, ".") == 0)
                return true;
        return v[0] != '.' &&
               strspn(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
                       strlen(v);
}

static bool is_off(const char *v)
{
        return v && (strcasecmp(v, "false") == 0 || strcasecmp(v, "no") == 0 ||
                     strcasecmp(v, "off") == 0 || strcmp(v, "0") == 0 || !*v);
}

/* "+refs/heads/x:refs/remotes/origin/x": what a fetch writes is no branch of the user's. */
static bool is_tame_refspec(const char *v)
{
        if (!v)
                return false;
        const char *to = strchr(v, ':');
        return to &&
               (strncmp(to, ":refs/remotes/", 14) == 0 || strncmp(to, ":refs/tags/", 11) == 0);
}

static bool value_is(enum how how, const char *v)
{
        switch (how) {
        case ANY:
                return true;
        case NAME:
                return is_name(v);
        case OFF:
                return is_off(v);
        case REFSPEC:
                return is_tame_refspec(v);
        case REF:
                return v && strncmp(v, "refs/", 5) == 0;
        case ZERO_ONE:
                return v && (strcmp(v, "0") == 0 || strcmp(v, "1") == 0);
        }
        return false;
}

bool git_config_is_plain(const struct git_config_entry *e)
{
        for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
                if (git_config_key_is(plain[i].pattern, e->key))
                        return value_is(plain[i].how, e->value);
        return false;
}

const char *git_config_plain_at(size_t i)
{
        return i < sizeof plain / sizeof plain[0] ? plain[i].pattern : NULL;
}
