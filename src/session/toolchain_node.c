/* toolchain_node.c - what a program from npm, pnpm, yarn or bun needs beside its own package: Node
 * looks for each package that package.json names in a node_modules of the package's directory and of
 * every directory above it, by the resolved name.
 *
 * Called while a command is resolved. Of the directories above, only a node_modules that holds
 * something the package asks for is shown, never the project it stands in. */
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/toolchain_int.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_MAX = 1 << 20, PACKAGES_MAX = 512 };

/* One command's walk over its packages. */
struct node_walk {
        struct toolchain_finder *f;
        struct strs seen; /* directories of packages that were looked at */
};

static void json_free(json_t **j)
{
        json_decref(*j);
}
#define _cleanup_json_ __attribute__((cleanup(json_free)))

static json_t *manifest(const char *dir)
{
        _cleanup_free_ char *path = str_fmt("%s/package.json", dir);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, MANIFEST_MAX, NULL);
        json_t *j = text ? json_loads(text, 0, NULL) : NULL;
        if (json_is_object(j))
                return j;
        json_decref(j);
        return NULL;
}

bool toolchain_node_is_named(const char *dir)
{
        _cleanup_json_ json_t *j = manifest(dir);
        return json_is_string(json_object_get(j, "name"));
}

/* The last "/node_modules/" of ${path}, or NULL. */
static const char *last_modules(const char *path)
{
        const char *found = NULL;
        for (const char *at = path; (at = strstr(at, "/node_modules/")); at++)
                found = at;
        return found;
}

char *toolchain_node_package(const char *real)
{
        const char *modules = last_modules(real);
        if (!modules)
                return NULL;
        const char *name = modules + strlen("/node_modules/");
        size_t n = strcspn(name, "/");
        if (name[0] == '@' && name[n])
                n += 1 + strcspn(name + n + 1, "/");
        /* .bin and the like are no packages. */
        return name[0] != '.' && name[n] ? str_fmt("%.*s", (int)(name + n - real), real) : NULL;
}

/* Where package managers put each package into a directory of its own and tie them together by
 * links: one store is one thing to show. pnpm, bun, yarn and npm have it as a dotted directory in
 * node_modules; pnpm also keeps one for all projects, STORE/vN/links. NULL: in no such store. */
static char *store_of(const char *package)
{
        for (const char *at = package; (at = strstr(at, "/node_modules/.")); at++) {
                const char *name = at + strlen("/node_modules/");
                size_t n = strcspn(name, "/");
                if (name[n])
                        return str_fmt("%.*s", (int)(name + n - package), package);
        }
        for (const char *at = package; (at = strstr(at, "/links/")); at++) {
                const char *v = at;
                while (v > package && v[-1] >= '0' && v[-1] <= '9')
                        v--;
                if (v < at && v - package >= 2 && v[-1] == 'v' && v[-2] == '/' &&
                    strstr(at, "/node_modules/"))
                        return str_fmt("%.*s", (int)(at + strlen("/links") - package), package);
        }
        return NULL;
}

/* PREFIX/lib/node_modules/P beside PREFIX/bin: npm install -g, where each package has all it needs
 * within itself. */
static bool is_global(const char *package)
{
        const char *modules = last_modules(package);
        size_t n = modules ? (size_t)(modules - package) : 0;
        if (n < 5 || strncmp(modules - 4, "/lib", 4) != 0 ||
            strstr(package, "/node_modules") != modules)
                return false;
        _cleanup_free_ char *bin = str_fmt("%.*s/bin", (int)n - 4, package);
        return access(bin, F_OK) == 0;
}

static bool is_name(const char *s)
{
        return *s && s[0] != '/' && s[0] != '.' && !strstr(s, "/.") && !strstr(s, "//");
}

static void package_show(struct node_walk *, const char *package);

/* found(w, modules, at): a package that is asked for is ${at}, below ${modules}. */
static void found(struct node_walk *w, const char *modules, const char *at)
{
        char real[PATH_MAX], holds[PATH_MAX];
        if (!realpath(at, real) || !realpath(modules, holds))
                return;
        bool is_link = !str_is_beneath(real, holds);
        if (!toolchain_is_shown(w->f, is_link ? holds : real))
                toolchain_show(w->f, holds, "packages of the command");
        /* A link leads to another package of the same repository, to `npm link`, or into a store. */
        if (!toolchain_is_shown(w->f, real)) {
                _cleanup_free_ char *manifest_at = str_fmt("%s/package.json", real);
                if (access(manifest_at, F_OK) == 0)
                        package_show(w, real);
        }
}

/* need(w, package, name): find it as Node does. */
static void need(struct node_walk *w, const char *package, const char *name)
{
        _cleanup_free_ char *dir = str_dup(package);
        for (bool is_own = true;; is_own = false) {
                _cleanup_free_ char *modules = str_fmt("%s/node_modules", dir);
                _cleanup_free_ char *at = str_fmt("%s/%s", modules, name);
                if (!str_ends(dir, "/node_modules") && access(at, F_OK) == 0) {
                        if (is_own) /* it comes with its own needs, which may be higher up */
                                package_show(w, at);
                        found(w, modules, at);
                        return;
                }
                char *slash = strrchr(dir, '/');
                if (!slash || slash == dir)
                        return;
                *slash = 0;
        }
}

static void needs(struct node_walk *w, const char *package)
{
        static const char *const lists[] = {"dependencies", "optionalDependencies",
                                            "peerDependencies"};
        _cleanup_json_ json_t *j = manifest(package);
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
                json_t *list = json_object_get(j, lists[i]);
                for (void *it = json_object_iter(list); it; it = json_object_iter_next(list, it))
                        if (is_name(json_object_iter_key(it)))
                                need(w, package, json_object_iter_key(it));
        }
}

/* package_show(w, package): the package itself, or the store it is in, and what it asks for. */
static void package_show(struct node_walk *w, const char *package)
{
        char real[PATH_MAX];
        if (!realpath(package, real) || w->seen.n >= PACKAGES_MAX || strs_has(&w->seen, real))
                return;
        strs_add(&w->seen, real);
        _cleanup_free_ char *store = store_of(real);
        if (!store || !toolchain_show(w->f, store, "packages of the command"))
                toolchain_show(w->f, real, "package of the command");
        if (!is_global(real))
                needs(w, real);
}

bool toolchain_node(struct toolchain_finder *f, const char *package)
{
        struct node_walk w = {.f = f};
        if (!toolchain_refused(f, package))
                package_show(&w, package);
        strs_free(&w.seen);
        return toolchain_is_shown(f, package);
}
