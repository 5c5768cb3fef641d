/* secret_scan.h - secrets that lie in a workspace: which files are worth a look, and where in such
 * a file a secret stands. Reads, and changes nothing; secret_mask.h hides what was found. */
#ifndef SESSION_SECRET_SCAN_H
#define SESSION_SECRET_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct strs;

enum {
        SECRET_SCAN_FILE_MAX = 1 << 20, /* larger files are only listed */
        SECRET_SCAN_NAME_MAX = 64,
};

enum secret_scan_kind {
        SECRET_SCAN_NOT,    /* not worth a look */
        SECRET_SCAN_TEXT,   /* values after names, in any of the usual writings */
        SECRET_SCAN_SHAPES, /* only what is unmistakable: such files are often under version control
                             */
        SECRET_SCAN_NETRC,
        SECRET_SCAN_KEY, /* a private key: told of, and shown as it is */
};

/* secret_scan_kind(path): by the name of a file, relative to the workspace. */
enum secret_scan_kind secret_scan_kind(const char *path);

/* secret_scan_walk(dir_fd, paths): files below ${dir_fd} whose name is worth a look, as relative
 * paths. The first levels are always looked through, deeper ones only of small trees; never more
 * than 20,000 names nor longer than 2 seconds. Links are not followed; .git/objects, node_modules
 * and their like are not entered. */
void secret_scan_walk(int dir_fd, struct strs *paths);

struct secret_span {
        size_t at, len;
        char name[SECRET_SCAN_NAME_MAX + 1]; /* the variable or key it belongs to, or "" */
        char host[256];                      /* to which it is shown, when the text says so */
        bool is_bearer;                      /* there it is a bearer, and else basic */
};

struct secret_spans {
        struct secret_span *v;
        size_t n;
};
void secret_spans_free(struct secret_spans *);
#define _cleanup_spans_ __attribute__((cleanup(secret_spans_free)))

/* secret_scan_text(kind, text, n, names, spans): where secrets stand in ${text}, in order and
 * without overlap: values with a provider's shape, values of keys that are named like secrets or in
 * ${names}, passwords in URLs, bodies of private keys. References to variables and obvious blanks
 * ("changeme", "<your key>") are none. */
void secret_scan_text(enum secret_scan_kind, const char *text, size_t n, const struct strs *names,
                      struct secret_spans *);

#endif
