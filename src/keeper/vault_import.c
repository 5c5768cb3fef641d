/* vault_import.c - `vault import`: list the keys that were found on this machine, whose they are
 * and which line would grant each, and take them into the vault when the user says yes. The files
 * they came from stay as they are. Prints names and never a value. */
#include "keeper/vault_main.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "keeper/vault_find.h"
#include "policy/secret_shape.h"

#include <fcntl.h>
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

struct import {
        struct vault_finds finds;
        size_t taken_n, same_n;
};

static int open_home(void)
{
        const char *home = getenv("HOME");
        const struct passwd *pw = home && home[0] == '/' ? NULL : getpwuid(geteuid());
        return open(pw                       ? pw->pw_dir
                    : home && home[0] == '/' ? home
                                             : "/",
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void list(const struct import *im)
{
        for (size_t i = 0; i < im->finds.n; i++) {
                const struct vault_found *f = &im->finds.v[i];
                const char *shape = secret_shape_name(f->value, f->value_len);
                printf("%s%s%s\n  from %s\n  secret %s from vault %s\n", f->name,
                       shape ? ", a key of " : "", shape ? shape : "", f->from, f->name, f->grant);
        }
}

static int take(struct vault *v, void *with, struct err *err)
{
        struct import *im = with;
        for (size_t i = 0; i < im->finds.n; i++) {
                const struct vault_found *f = &im->finds.v[i];
                const struct vault_entry *e = vault_find(v, f->name);
                if (e && e->value_len == f->value_len &&
                    sodium_memcmp(e->value, f->value, f->value_len) == 0) {
                        im->same_n++;
                        continue;
                }
                if (e) {
                        fprintf(stderr,
                                "ostiary: the vault has another value of %s, which was kept "
                                "(ostiary secret rotate %s changes it)\n",
                                f->name, f->name);
                        continue;
                }
                if (vault_put(v, f->name, f->value, f->value_len, f->from, (uint64_t)time(NULL),
                              err) < 0)
                        return err_add(err, "take in %s", f->name);
                im->taken_n++;
        }
        return im->taken_n ? 0 : 1;
}

static int import(const struct vault_args *a, struct import *im, struct err *err)
{
        _cleanup_close_ int home = open_home();
        vault_find_env(&im->finds, environ);
        if (home >= 0)
                vault_find_files(&im->finds, home);
        if (im->finds.n == 0)
                return err_set(err, E_ABSENT,
                               "no key was found in the environment, ~/.aws/credentials, ~/.netrc, "
                               "gh's login, ~/.npmrc and ~/.docker/config.json");
        list(im);
        fflush(stdout);
        if (a->is_dry)
                return 0;
        if (!a->is_yes && !vault_tty_is_there())
                return err_set(err, E_USAGE,
                               "nothing was taken in, because there is no terminal to ask at "
                               "(--yes answers yes)");
        if (!a->is_yes && !vault_tty_yes("Take these into the vault? [y/N] ")) {
                fprintf(stderr, "ostiary: nothing was taken in\n");
                return 0;
        }
        if (vault_change(a, take, im, err) < 0)
                return -1;
        fprintf(stderr,
                "ostiary: %zu taken in, %zu were there already; the places they came from "
                "are as they were\n",
                im->taken_n, im->same_n);
        return 0;
}

int vault_import(const struct vault_args *a, struct err *err)
{
        struct import *im = calloc(1, sizeof *im);
        if (!im)
                return err_set(err, E_SYSTEM, "there is no memory left");
        int r = import(a, im, err);
        vault_finds_free(&im->finds);
        free(im);
        return r;
}
