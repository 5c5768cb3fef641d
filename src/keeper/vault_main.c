/* vault_main.c - see vault_main.h. It holds values for as long as one errand takes, in locked
 * memory, in a process that leaves no core and cannot be looked into; nothing here prints one but
 * `get`, and that only into a pipe. */
#include "keeper/vault_main.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/str.h"
#include "keeper/vault_known.h"
#include "policy/secret_shape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static void wipe_free(char **p)
{
        sodium_free(*p);
}
#define _cleanup_locked_ __attribute__((cleanup(wipe_free)))

struct key {
        uint8_t bytes[VAULT_KEY_LEN];
};

static void key_wipe(struct key *k)
{
        sodium_munlock(k, sizeof *k);
}
#define _cleanup_key_ __attribute__((cleanup(key_wipe)))

/* settle(a, v, key, err): the key of a vault that does not exist yet. */
static int settle(const struct vault_args *a, struct vault *v, struct key *k, struct err *err)
{
        if (!v->is_new)
                return 0;
        if (vault_first_key(&a->ask, &v->head, k->bytes, err) < 0)
                return -1;
        if (v->head.lock == VAULT_BY_KEY)
                fprintf(stderr,
                        "ostiary: a new vault; its key is the file vault.key beside it, which only "
                        "you can read (ostiary secret passwd sets a passphrase instead)\n");
        else
                vault_ring_put(&v->head, k->bytes);
        return 0;
}

int vault_change(const struct vault_args *a,
                 int (*change)(struct vault *, void *with, struct err *), void *with,
                 struct err *err)
{
        _cleanup_vault_ struct vault asked = {0};
        _cleanup_vault_ struct vault v = {0};
        _cleanup_key_ struct key k = {0};
        sodium_mlock(&k, sizeof k);
        /* Questions come before the lock: nobody shall wait for somebody who types. */
        if (vault_open(&a->ask, &asked, k.bytes, err) < 0)
                return -1;
        vault_free(&asked);
        _cleanup_close_ int lock = vault_file_lock(a->ask.dir_fd, err);
        if (lock < 0)
                return -1;
        int got = vault_file_head(a->ask.dir_fd, &v.head, err);
        if (got < 0)
                return -1;
        v.is_new = got == 0;
        if (asked.is_new && !v.is_new) {
                /* Somebody made it between the two. */
                if (vault_open(&a->ask, &v, k.bytes, err) < 0)
                        return -1;
        } else if (!v.is_new && vault_file_read(a->ask.dir_fd, k.bytes, &v, err) < 0) {
                return err->code == E_REFUSED
                               ? err_set(err, E_REFUSED,
                                         "the vault got another key a moment ago; try again")
                               : -1;
        } else if (v.is_new && !asked.is_new) {
                return err_set(err, E_INPUT, "the vault went away a moment ago; try again");
        }
        int r = change(&v, with, err);
        if (r != 0)
                return r;
        return settle(a, &v, &k, err) < 0 || vault_file_write(a->ask.dir_fd, k.bytes, &v, err) < 0
                       ? -1
                       : 0;
}

void vault_warn(const char *name, const char *value, size_t n)
{
        const char *want = vault_known_provider(name), *shape = secret_shape_name(value, n);
        if (want && shape && !vault_known_is_same(want, shape))
                fprintf(stderr,
                        "ostiary: the value of %s looks like a key of %s, and its name says %s; it "
                        "was taken as it is\n",
                        name, shape, want);
}

/* read_stdin(out, err): a value that comes through a pipe or from a file: its length, without one
 * newline at its end, or -1. */
static long read_stdin(char *out, struct err *err)
{
        size_t len = 0;
        ssize_t got;
        while ((got = read(0, out + len, VAULT_VALUE_MAX + 2 - len)) != 0) {
                if (got < 0 && errno != EINTR)
                        return err_sys(err, "read the value");
                if (got > 0)
                        len += (size_t)got;
                if (len == VAULT_VALUE_MAX + 2)
                        return err_set(err, E_INPUT, "the value is longer than %d bytes",
                                       VAULT_VALUE_MAX);
        }
        if (len && out[len - 1] == '\n')
                len--;
        if (len && out[len - 1] == '\r')
                len--;
        return (long)len;
}

static long ask_value(const char *name, char *out, struct err *err)
{
        char prompt[VAULT_NAME_MAX + 32];
        _cleanup_locked_ char *again = sodium_malloc(VAULT_VALUE_MAX + 2);
        if (!again)
                return err_sys(err, "get locked memory");
        snprintf(prompt, sizeof prompt, "Value of %s: ", name);
        long n = vault_tty_secret(prompt, out, VAULT_VALUE_MAX, err);
        if (n < 0 || vault_value_check(out, (size_t)n, err) < 0)
                return -1;
        long m = vault_tty_secret("Once more: ", again, VAULT_VALUE_MAX, err);
        if (m < 0)
                return -1;
        if (m != n || sodium_memcmp(out, again, (size_t)n) != 0)
                return err_set(err, E_INPUT,
                               "the two are not the same; nothing was changed (a value of several "
                               "lines comes from a file: ostiary secret set %s < FILE)",
                               name);
        return n;
}

struct set {
        const struct vault_args *a;
        const char *value;
        size_t n;
        bool must_exist, was_there;
};

static int absent(const struct vault *v, const char *name, struct err *err)
{
        const char *names[VAULT_ENTRIES_MAX];
        for (size_t i = 0; i < v->entries_n; i++)
                names[i] = v->entries[i].name;
        const char *near = str_suggest(name, names, v->entries_n);
        err_set(err, E_ABSENT, "there is no secret %s in the vault", name);
        return near ? err_hint(err, "did you mean %s?", near) : -1;
}

static int do_set(struct vault *v, void *with, struct err *err)
{
        struct set *s = with;
        s->was_there = vault_find(v, s->a->name) != NULL;
        if (s->must_exist && !s->was_there)
                return absent(v, s->a->name, err);
        return vault_put(v, s->a->name, s->value, s->n, s->a->note, (uint64_t)time(NULL), err);
}

static int set_value(const struct vault_args *a, bool must_exist, struct err *err)
{
        _cleanup_locked_ char *value = sodium_malloc(VAULT_VALUE_MAX + 2);
        if (!value)
                return err_sys(err, "get locked memory");
        long n = isatty(0) ? ask_value(a->name, value, err) : read_stdin(value, err);
        if (n < 0 || vault_value_check(value, (size_t)n, err) < 0)
                return -1;
        struct set s = {.a = a, .value = value, .n = (size_t)n, .must_exist = must_exist};
        if (vault_change(a, do_set, &s, err) < 0)
                return -1;
        vault_warn(a->name, value, (size_t)n);
        if (s.was_there)
                fprintf(stderr,
                        "ostiary: %s has a new value; a box that runs gets it with: ostiary rotate "
                        "BOX %s\n",
                        a->name, a->name);
        return 0;
}

static int verb_set(const struct vault_args *a, struct err *err)
{
        return set_value(a, false, err);
}

static int verb_rotate(const struct vault_args *a, struct err *err)
{
        return set_value(a, true, err);
}

static int do_rm(struct vault *v, void *with, struct err *err)
{
        const struct vault_args *a = with;
        return vault_remove(v, a->name) ? 0 : absent(v, a->name, err);
}

static int verb_rm(const struct vault_args *a, struct err *err)
{
        return vault_change(a, do_rm, (void *)a, err);
}

/* look(a, v, err): open it for reading. */
static int look(const struct vault_args *a, struct vault *v, struct err *err)
{
        _cleanup_key_ struct key k = {0};
        sodium_mlock(&k, sizeof k);
        return vault_open(&a->ask, v, k.bytes, err);
}

static int verb_get(const struct vault_args *a, struct err *err)
{
        _cleanup_vault_ struct vault v = {0};
        struct stat st;
        if (fstat(1, &st) < 0 || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
                return err_set(err, E_USAGE,
                               "a value is only written into a pipe, not to a terminal or a file");
        if (look(a, &v, err) < 0)
                return -1;
        const struct vault_entry *e = vault_find(&v, a->name);
        if (!e)
                return absent(&v, a->name, err);
        return fdio_write_all(1, e->value, e->value_len) < 0 ? err_sys(err, "pass the value on")
                                                             : 0;
}

/* One line each: name, provider, created, changed, note. `ostiary secret ls` makes a table. */
static int verb_ls(const struct vault_args *a, struct err *err)
{
        _cleanup_vault_ struct vault v = {0};
        if (look(a, &v, err) < 0)
                return -1;
        for (size_t i = 0; i < v.entries_n; i++) {
                const struct vault_entry *e = &v.entries[i];
                const char *shape = secret_shape_name(e->value, e->value_len);
                printf("%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\n", e->name, shape ? shape : "",
                       e->created, e->changed, e->note);
        }
        return fflush(stdout) == 0 ? 0 : err_sys(err, "write the list");
}

/* A new key for the same entries. */
static int verb_passwd(const struct vault_args *a, struct err *err)
{
        _cleanup_vault_ struct vault v = {0};
        _cleanup_key_ struct key old = {0};
        _cleanup_key_ struct key new = {0};
        sodium_mlock(&old, sizeof old);
        sodium_mlock(&new, sizeof new);
        struct vault_head was, head;
        if (vault_open(&a->ask, &v, old.bytes, err) < 0)
                return -1;
        was = v.head;
        if (!a->is_none && vault_passphrase_key(&a->ask, &head, new.bytes, err) < 0)
                return -1;
        _cleanup_close_ int lock = vault_file_lock(a->ask.dir_fd, err);
        if (lock < 0)
                return -1;
        /* Somebody may have changed it while the passphrase was typed. */
        bool was_new = v.is_new;
        vault_free(&v);
        if (!was_new && vault_file_read(a->ask.dir_fd, old.bytes, &v, err) < 0)
                return -1;
        if (was_new && vault_file_head(a->ask.dir_fd, &head, NULL) != 0)
                return err_set(err, E_INPUT, "somebody made a vault a moment ago; try again");
        if (a->is_none && vault_file_key(a->ask.dir_fd, &head, new.bytes, err) < 0)
                return -1;
        v.head = head;
        if (vault_file_write(a->ask.dir_fd, new.bytes, &v, err) < 0)
                return -1;
        if (!was_new)
                vault_ring_drop(&was);
        if (!a->is_none)
                vault_file_key_drop(a->ask.dir_fd);
        fprintf(stderr, a->is_none ? "ostiary: the vault opens with vault.key now, without a "
                                     "passphrase\n"
                                   : "ostiary: the vault opens with the new passphrase now\n");
        return 0;
}

static int verb_lock(const struct vault_args *a, struct err *err)
{
        struct vault_head h;
        int got = vault_file_head(a->ask.dir_fd, &h, err);
        if (got > 0)
                vault_ring_drop(&h);
        return got < 0 ? -1 : 0;
}

static const struct {
        const char *name;
        int (*run)(const struct vault_args *, struct err *);
        bool wants_name;
} verbs[] = {
        {"set", verb_set, true},    {"rotate", verb_rotate, true},  {"rm", verb_rm, true},
        {"get", verb_get, true},    {"ls", verb_ls, false},         {"import", vault_import, false},
        {"lock", verb_lock, false}, {"passwd", verb_passwd, false},
};

/* hide(): nobody looks into this process, and it leaves nothing behind. */
static void hide(void)
{
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        signal(SIGPIPE, SIG_IGN);
        umask(077);
}

/* open_dir(path, err): where the vault is or will be. */
static int open_dir(const char *path, struct err *err)
{
        for (const char *p = path; (p = strchr(p + 1, '/'));) {
                _cleanup_free_ char *above = str_fmt("%.*s", (int)(p - path), path);
                mkdir(above, 0700);
        }
        mkdir(path, 0700);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "open %s", path) : fd;
}

static int wrong_words(void)
{
        fprintf(stderr, "ostiary-door vault is started by ostiary itself; see: ostiary help "
                        "secret\n");
        return EXIT_BAD_USAGE;
}

int vault_main(int argc, char **argv)
{
        struct vault_args a = {.ask = {.dir_fd = -1, .passphrase_fd = -1}};
        const char *dir = NULL, *verb = NULL;
        for (int i = 1; i < argc; i++) {
                uint64_t n;
                if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
                        dir = argv[++i];
                else if (strcmp(argv[i], "--note") == 0 && i + 1 < argc)
                        a.note = argv[++i];
                else if (strcmp(argv[i], "--passphrase-fd") == 0 && i + 1 < argc &&
                         str_u64(argv[i + 1], &n) == 0 && n < 4096)
                        a.ask.passphrase_fd = (int)n, i++;
                else if (strcmp(argv[i], "--dry-run") == 0)
                        a.is_dry = true;
                else if (strcmp(argv[i], "--yes") == 0)
                        a.is_yes = true;
                else if (strcmp(argv[i], "--none") == 0)
                        a.is_none = true;
                else if (!verb)
                        verb = argv[i];
                else if (!a.name)
                        a.name = argv[i];
                else
                        return wrong_words();
        }
        hide();
        struct err err = {0};
        for (size_t i = 0; verb && dir && i < sizeof verbs / sizeof *verbs; i++) {
                if (strcmp(verb, verbs[i].name) != 0)
                        continue;
                if (verbs[i].wants_name != (a.name != NULL))
                        return wrong_words();
                if (sodium_init() < 0)
                        err_set(&err, E_SYSTEM, "there are no random numbers");
                else if ((!a.name || vault_name_check(a.name, &err) == 0) &&
                         (a.ask.dir_fd = open_dir(dir, &err)) >= 0 && verbs[i].run(&a, &err) >= 0)
                        return 0;
                fprintf(stderr, "ostiary: %s\n", err.text);
                return exitcode_of((int)err.code);
        }
        return wrong_words();
}
