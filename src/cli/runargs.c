/* runargs.c - see runargs.h. Turns words into session_opts; decides nothing about the box itself.
 */
#include "cli/runargs.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/term.h"
#include "policy/profile.h"
#include "session/profiles.h"
#include "session/publish.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void add(struct runargs *r, size_t *n, const struct arg *from, size_t count)
{
        for (size_t i = 0; i < count && *n + 1 < RUNARGS_FLAGS_MAX; i++)
                r->flags[(*n)++] = from[i];
}

enum { ENV_FILE_MAX = 1 << 20 };

#define ADD(table) add(r, &n, table, sizeof(table) / sizeof *(table))

void runargs_init(struct runargs *r, const struct cmd *cmd, enum runargs_kind kind,
                  const struct arg *more, int argc, char **argv)
{
        *r = (struct runargs){.kind = kind, .tty = -1};
        struct session_opts *o = &r->opts;
        const struct arg shape[] = {
                ARG_STR('w', "workspace", &r->workspace, "DIR",
                        "the directory to work on (default: the current one), or none"),
                ARG_BOOL(0, "live", &o->is_live,
                         "write to the workspace itself instead of a copy-on-write layer"),
                ARG_BOOL(0, "no-mask", &o->is_unmasked,
                         "show secrets that lie in the workspace (.env, tokens in git remotes) as "
                         "they are"),
                ARG_STR(0, "profile", &r->profile, "NAME",
                        "what the agent needs (ostiary profile ls)"),
                ARG_LIST('e', "env", &r->env, "NAME[=VALUE]",
                         "set a variable, or pass on your own"),
                ARG_LIST(0, "env-file", &r->env_files, "FILE",
                         "the same from a file: NAME=VALUE or NAME on each line"),
                ARG_LIST(0, "bind", &r->binds, "PATH[:MODE]",
                         "show a host path at its own place; MODE is ro (default), rw or cow"),
                ARG_LIST(0, "limit", &r->limits, "KEY=VALUE",
                         "memory, cpu, pids, files, disk, time, inotify or door-memory: memory=4G "
                         "cpu=1.5 time=8h"),
                ARG_LIST(0, "allow", &o->allow, "RULE",
                         "let it reach something: 'GET example.org/api/**'; repeatable"),
                ARG_LIST(0, "deny", &o->deny, "RULE", "refuse it something; wins over --allow"),
                ARG_LIST(0, "policy", &o->policy, "FILE", "rules that go before your own"),
                ARG_LIST(0, "secret", &o->secrets, "SPEC",
                         "let it use a key that it never has: NAME@HOST[,HOST][:FORM]; repeatable"),
                ARG_STR(0, "as", &r->identity, "IDENTITY",
                        "a named set of secrets (ostiary help secrets)"),
                ARG_STR(0, "level", &r->level, "LEVEL",
                        "what becomes of what no rule speaks of: easy (default) asks, strict "
                        "refuses, learn lets it pass and records it"),
                ARG_STR(0, "upstream-proxy", &r->proxy, "URL",
                        "the HTTP proxy by which this machine reaches the world (default: what "
                        "https_proxy says), or none"),
                ARG_STR(0, "on-door-fault", &r->door_fault, "WHAT",
                        "when a process of the door dies: stop (default) or pause the box"),
                ARG_STR(0, "audit", &r->audit, "LEVEL",
                        "which system calls are recorded: off, default (what matters to "
                        "security), files, all"),
                ARG_STR(0, "audit-full", &r->audit_full, "WHAT",
                        "when the log cannot be written: pause (default) or stop the box"),
                ARG_STR('C', "cwd", &r->cwd, "DIR", "where in the box the command starts"),
                ARG_STR(0, "force", &r->force, "REASON",
                        "use a workspace or publish at an address that would be refused; say why"),
        };
        const struct arg life[] = {
                ARG_STR('n', "name", &r->name, "NAME", "the box's name (default: made up)"),
                ARG_LIST(0, "publish", &o->publish, "[HOST:]PORT[:BOXPORT]",
                         "a port of the box on the host (127.0.0.1); PORT 0 takes a free one; "
                         "repeatable"),
                ARG_STR(0, "from", &r->from, "SNAPSHOT",
                        "begin with what a snapshot holds (ostiary snapshots)"),
                ARG_BOOL(0, "turns", &o->is_turns,
                         "keep what each command changes apart (ostiary help turns)"),
                ARG_BOOL(0, "json", &r->is_json,
                         kind == RUNARGS_RUN ? "with -d: the box as JSON" : "the box as JSON"),
                ARG_BOOL(0, "keep", &o->is_kept, "keep the box at its end, even without changes"),
                ARG_BOOL(0, "rm", &o->is_removed, "discard the box at its end, changes included"),
                ARG_BOOL('q', "quiet", &r->stream.is_quiet,
                         "no line about the box before and after, no notices and no questions: "
                         "what would be asked is refused"),
        };
        const struct arg attach[] = {
                ARG_BOOL(0, "resume", &r->is_resumed,
                         "go on in the box that holds unapplied changes of this workspace, or in "
                         "the last one"),
                ARG_BOOL(0, "new", &r->is_fresh, "start a new box without asking"),
                ARG_BOOL('d', "detach", &r->is_detached,
                         "do not attach; print the box's name; keep it when it ends"),
                ARG_BOOL('i', "interactive", &r->is_interactive, NULL),
                ARG_INT('t', "tty", &r->tty, 1, "give the command a terminal"),
                ARG_INT('T', "no-tty", &r->tty, 0, "give it pipes, also on a terminal"),
                ARG_STR(0, "terminal", &r->terminal, "POLICY",
                        "what its output may do to your terminal: strict, normal or raw, and "
                        "besides: "
                        "normal,clipboard,notify"),
                ARG_STR(0, "detach-key", &r->detach_key, "KEY",
                        "the key before d that detaches (default: ctrl-]), or none"),
        };
        size_t n = 0;
        ADD(shape);
        if (kind != RUNARGS_PLAN)
                ADD(life);
        if (kind == RUNARGS_RUN)
                ADD(attach);
        for (; more && more->name; more++)
                add(r, &n, more, 1);
        r->args = args_of(cmd, r->flags, argc, argv);
}

void runargs_free(struct runargs *r)
{
        session_opts_free(&r->opts);
        store_free(&r->store);
        strs_free(&r->env);
        strs_free(&r->env_files);
        strs_free(&r->limits);
        strs_free(&r->binds);
}

int runargs_env(struct args *a, const struct strs *words, struct strs *env)
{
        for (size_t i = 0; i < words->n; i++) {
                const char *w = words->v[i];
                size_t n = strcspn(w, "=");
                _cleanup_free_ char *name = str_fmt("%.*s", (int)n, w);
                if (n == 0)
                        return args_bad(a, "--env wants NAME or NAME=VALUE, not \"%s\"", w), -1;
                const char *value = w[n] ? w + n + 1 : getenv(name);
                if (value)
                        strs_set_env(env, name, value);
                else
                        out_say("note: %s is not set here, so it is not set in the box", name);
        }
        return 0;
}

int runargs_stream(struct args *a, struct stream *s, const char *terminal, const char *detach_key)
{
        if (filter_policy_parse(terminal ? terminal : "normal", &s->terminal) < 0)
                return args_bad(a,
                                "--terminal wants strict, normal or raw, then any of title, link, "
                                "colour, image, notify, clipboard; not \"%s\"",
                                terminal),
                       -1;
        if (detach_parse(detach_key ? detach_key : "ctrl-]", &s->detach) < 0)
                return args_bad(a, "--detach-key wants a key like ctrl-q, or none; not \"%s\"",
                                detach_key),
                       -1;
        return 0;
}

/* read_env_files(r): their lines, before those of --env, as other tools read them: no quotes, # and
 * empty lines are skipped. What they hold may be keys, so it is wiped like the rest. */
static int read_env_files(struct runargs *r)
{
        struct strs lines = {0};
        int got = 0;
        for (size_t i = 0; got == 0 && i < r->env_files.n; i++) {
                struct err err = {0};
                char *text = fdio_read_file(AT_FDCWD, r->env_files.v[i], ENV_FILE_MAX, &err);
                if (!text) {
                        err.code = E_INPUT;
                        err_add(&err, "--env-file");
                        r->args.exit_code = out_error(&err);
                        got = -1;
                        break;
                }
                for (char *at = text, *line; (line = strsep(&at, "\n"));) {
                        size_t n = strlen(line);
                        if (n && line[n - 1] == '\r')
                                line[n - 1] = 0;
                        if (*line && *line != '#')
                                strs_add(&lines, line);
                }
                explicit_bzero(text, strlen(text));
                free(text);
        }
        if (got == 0)
                got = runargs_env(&r->args, &lines, &r->opts.env);
        for (size_t i = 0; i < lines.n; i++)
                explicit_bzero(lines.v[i], strlen(lines.v[i]));
        strs_free(&lines);
        return got;
}

static int read_binds(struct runargs *r)
{
        for (size_t i = 0; i < r->binds.n; i++) {
                char *w = r->binds.v[i], *colon = strrchr(w, ':');
                const char *mode = "ro";
                if (colon &&
                    (!strcmp(colon, ":ro") || !strcmp(colon, ":rw") || !strcmp(colon, ":cow"))) {
                        *colon = 0;
                        mode = colon + 1;
                }
                if (!*w)
                        return args_bad(&r->args, "--bind wants PATH or PATH:MODE"), -1;
                /* A name may hold a colon; what is there without it and not with it is a slip. */
                if (colon && *colon && access(w, F_OK) < 0) {
                        *colon = 0;
                        bool is_slip = *w && access(w, F_OK) == 0;
                        if (is_slip)
                                return args_bad(&r->args,
                                                "--bind %s: the mode is ro, rw or cow, not \"%s\"",
                                                w, colon + 1),
                                       -1;
                        *colon = ':';
                }
                session_opts_bind(&r->opts, w, mode);
        }
        return 0;
}

/* check_publish(r): other machines reach what is not on loopback, so that wants a reason. */
static int check_publish(struct runargs *r)
{
        struct err err = {0};
        for (size_t i = 0; i < r->opts.publish.n; i++) {
                struct publish p;
                if (publish_parse(r->opts.publish.v[i], &p, &err) < 0)
                        return args_bad(&r->args, "--publish: %s", err.text), -1;
                if (!p.is_loopback && !r->force)
                        return args_bad(&r->args,
                                        "--publish %s would let other machines in; if that is "
                                        "meant, say why: --force REASON",
                                        r->opts.publish.v[i]),
                               -1;
        }
        return 0;
}

/* read_proxy(r): as curl does, a proxy of the caller's is used unless another is named. */
static int read_proxy(struct runargs *r)
{
        static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
        const char *url = r->proxy;
        for (size_t i = 0; !url && i < sizeof names / sizeof *names; i++)
                url = getenv(names[i]);
        if (!url || !*url || strcmp(url, "none") == 0)
                return 0;
        if (str_starts(url, "http://")) {
                r->opts.proxy = str_dup(url);
        } else if (!strstr(url, "://")) {
                r->opts.proxy = str_fmt("http://%s", url);
        } else if (r->proxy) {
                args_bad(&r->args, "--upstream-proxy wants http://HOST:PORT or none, not \"%s\"",
                         url);
                return -1;
        }
        return 0;
}

/* check_allow(r): nono's --allow takes a directory, ours a rule. */
static int check_allow(struct runargs *r)
{
        for (size_t i = 0; i < r->opts.allow.n; i++) {
                const char *v = r->opts.allow.v[i];
                if (v[0] != '/' && v[0] != '~' && !str_starts(v, "./") && strcmp(v, ".") != 0)
                        continue;
                _cleanup_free_ char *shown = str_quote(v);
                args_bad(&r->args,
                         "--allow is a rule about the network; a path is shown with --bind %s:rw, "
                         "the project with --workspace",
                         shown);
                return -1;
        }
        return 0;
}

static int read_values(struct runargs *r)
{
        struct session_opts *o = &r->opts;
        struct err err = {0};
        char **const to[] = {&o->name,  &o->profile,    &o->workspace, &o->cwd,   &o->force_reason,
                             &o->level, &o->door_fault, &o->identity,  &o->audit, &o->audit_full};
        const char *const from[] = {r->name,  r->profile,    r->workspace, r->cwd,   r->force,
                                    r->level, r->door_fault, r->identity,  r->audit, r->audit_full};
        for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
                if (from[i]) {
                        free(*to[i]);
                        *to[i] = str_dup(from[i]);
                }
        }
        /* Before anything is asked or looked up. */
        if (session_opts_check(o, &err) < 0)
                return args_bad(&r->args, "%s", err.text), -1;
        for (size_t i = 0; i < r->limits.n; i++) {
                if (profile_limit_check(r->limits.v[i], &err) < 0)
                        return args_bad(&r->args, "--limit: %s", err.text), -1;
                strs_add(&o->limits, r->limits.v[i]);
        }
        if (check_publish(r) < 0 || check_allow(r) < 0)
                return -1;
        if (r->force && !*r->force)
                return args_bad(&r->args, "--force wants a reason, in words"), -1;
        if (r->from)
                o->from = str_dup(r->from);
        if (r->from && r->is_resumed)
                return args_bad(&r->args, "--from and --resume contradict each other"), -1;
        if (r->kind == RUNARGS_RUN && r->is_json && !r->is_detached)
                return args_bad(&r->args, "--json goes with -d: otherwise the output is the "
                                          "command's own"),
                       -1;
        if (r->is_fresh && r->is_resumed)
                return args_bad(&r->args, "--new and --resume contradict each other"), -1;
        if (o->is_kept && o->is_removed)
                return args_bad(&r->args, "--keep and --rm contradict each other"), -1;
        if (read_env_files(r) < 0 || runargs_env(&r->args, &r->env, &o->env) < 0 ||
            read_binds(r) < 0 || read_proxy(r) < 0)
                return -1;
        for (size_t i = 0; i < r->env.n;
             i++) /* it may be a key that is to be a secret of the box */
                explicit_bzero(r->env.v[i], strlen(r->env.v[i]));
        return runargs_stream(&r->args, &r->stream, r->terminal, r->detach_key);
}

/* is_profile(r, word): is the first word an agent of ours? A word with a slash never is. */
static bool is_profile(struct runargs *r, const char *word)
{
        if (!profile_name_ok(word))
                return false;
        _cleanup_free_ char *text = profiles_text(r->store.config, word, NULL, NULL);
        return text != NULL;
}

static bool is_on_path(const char *word)
{
        const char *path = getenv("PATH");
        if (strchr(word, '/'))
                return true;
        for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *full = str_fmt("%.*s/%s", (int)n, p, word);
                if (n && access(full, X_OK) == 0)
                        return true;
                p += n + (p[n] == ':');
        }
        return false;
}

/* refuse_near(r, word): neither profile nor command, but close to a profile: say which. */
static int refuse_near(struct runargs *r, const char *word)
{
        if (is_on_path(word))
                return 0;
        _cleanup_strs_ struct strs names = {0};
        profiles_names(r->store.config, &names);
        const char *near = str_suggest(word, (const char *const *)names.v, names.n);
        if (!near)
                return 0;
        _cleanup_free_ char *shown = str_quote(word);
        args_bad(&r->args,
                 "\"%s\" is neither an agent nor a command on PATH; did you mean: ostiary %s %s",
                 shown, r->args.cmd->name, near);
        return -1;
}

/* refuse_pair(r, word): bubblewrap's --bind takes two paths, and the second would be the command. */
static int refuse_pair(struct runargs *r, const char *word)
{
        const char *last = r->binds.n ? r->binds.v[r->binds.n - 1] : NULL;
        struct stat st;
        if (!last || word[0] != '/' || strncmp(last, word, strlen(word)) != 0 ||
            stat(word, &st) < 0 || !S_ISDIR(st.st_mode))
                return 0;
        args_bad(&r->args, "--bind takes one path, which is seen at its own place: --bind %s:rw",
                 word);
        return -1;
}

/* read_words(r): after the flags. AGENT may be followed by more flags and then by words for it. */
static int read_words(struct runargs *r)
{
        struct args *a = &r->args;
        struct session_opts *o = &r->opts;
        char *word = args_next(a);
        if (a->is_over)
                return -1;
        if (word && !r->profile && is_profile(r, word)) {
                r->profile = word;
                a->agent = word;
                word = args_next(a);
                if (a->is_over)
                        return -1;
                /* An agent's --resume has a session behind it; ours has nothing. */
                if (word && strcmp(a->argv[a->at - 2], "--resume") == 0)
                        return args_for_agent(a, "--resume", word);
                if (word)
                        strs_add(&o->extra_args, word);
                for (char **w = args_rest(a); *w; w++)
                        strs_add(&o->extra_args, *w);
                return 0;
        }
        if (word) {
                if (refuse_pair(r, word) < 0 || (!r->profile && refuse_near(r, word) < 0))
                        return -1;
                strs_add(&o->argv, word);
        }
        for (char **w = args_rest(a); *w; w++)
                strs_add(&o->argv, *w);
        return 0;
}

int runargs_parse(struct runargs *r)
{
        struct err err = {0};
        /* Only to know the user's profiles; a fault here is told below, after faults of the line.
         */
        store_paths(&r->store, NULL);
        if (read_words(r) < 0 || read_values(r) < 0)
                return -1;
        r->opts.is_quiet = r->stream.is_quiet;
        store_free(&r->store);
        int got = r->kind == RUNARGS_PLAN ? store_paths(&r->store, &err)
                                          : store_open(&r->store, &err);
        if (got < 0)
                r->args.exit_code = out_error(&err);
        return got;
}

void runargs_attach(struct runargs *r)
{
        struct session_opts *o = &r->opts;
        /* Detached, an agent still wants a terminal (somebody will attach); a command does not. */
        o->is_tty = r->tty >= 0 ? r->tty : term_is_ours() && (!r->is_detached || r->profile);
        o->has_stdin = !r->is_detached && !term_is_background(STDIN_FILENO);
        term_size(&o->cols, &o->rows);
        r->stream.is_tty = o->is_tty && isatty(STDIN_FILENO) && !r->is_detached;
        r->stream.has_stdin = o->has_stdin;
}

int runargs_fixed(const struct runargs *r, const char *id, struct err *err)
{
        const struct session_opts *o = &r->opts;
        const struct {
                bool is_said;
                const char *flag;
        } rows[] = {
                {o->is_unmasked, "--no-mask"},
                {r->env.n > 0, "--env"},
                {r->binds.n > 0, "--bind"},
                {r->limits.n > 0, "--limit"},
                {o->allow.n > 0, "--allow"},
                {o->deny.n > 0, "--deny"},
                {o->policy.n > 0, "--policy"},
                {o->secrets.n > 0, "--secret"},
                {r->identity, "--as"},
                {r->level, "--level"},
                {r->proxy, "--upstream-proxy"},
                {r->door_fault, "--on-door-fault"},
                {r->audit, "--audit"},
                {r->audit_full, "--audit-full"},
                {r->cwd, "--cwd"},
                {r->name, "--name"},
                {o->publish.n > 0, "--publish"},
                {o->is_turns, "--turns"},
                {o->is_removed, "--rm"},
        };
        _cleanup_buf_ struct buf said = {0};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (rows[i].is_said)
                        buf_put_fmt(&said, "%s%s", said.len ? ", " : "", rows[i].flag);
        if (said.len == 0)
                return 0;
        return err_set(err, E_USAGE,
                       "box %s goes on with the flags it was started with, so %s cannot be said "
                       "now: leave it out, or start a new box with --new",
                       id, buf_cstr(&said));
}
