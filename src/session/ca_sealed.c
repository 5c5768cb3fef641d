/* ca_sealed.c - what the door's roles get of certificates: copies in memory that nobody can change
 * any more, so that a file that is edited meanwhile is read whole or not at all. And the
 * environment that leads the box's programs to theirs. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "policy/trust_list.h"
#include "session/ca.h"
#include "session/ca_int.h"
#include "session/store.h"
#include "wire/door.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum { ROOTS_MAX = 16 << 20 };

int ca_sealed(int fd, size_t max, const char *name, struct err *err)
{
        _cleanup_close_ int to = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        size_t sum = 0;
        ssize_t n;
        if (to < 0)
                return err_sys(err, "make a memory file");
        while ((n = sendfile(to, fd, NULL, max + 1 - sum)) > 0)
                if ((sum += (size_t)n) > max)
                        return err_set(err, E_INPUT, "it is larger than %zu bytes", max);
        if (n < 0)
                return err_sys(err, "read it");
        if (sum == 0)
                return err_set(err, E_INPUT, "it is empty");
        if (fcntl(to, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
                return err_sys(err, "seal a memory file");
        return take_fd(&to);
}

int ca_roots(const struct store *store, struct err *err)
{
        struct ca_host host;
        ca_host_roots(&host);
        if (!host.bundle)
                return err_set(err, E_ABSENT,
                               "this machine has no list of trusted authorities (install the "
                               "package ca-certificates)");
        _cleanup_free_ char *path = str_fmt("%s/ca/%s.roots", store->state, host.roots);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                if (ca_pool_index(store, &host, err) < 0)
                        return -1;
                fd = open(path, O_RDONLY | O_CLOEXEC);
        }
        if (fd < 0)
                return err_sys(err, "open %s", path);
        int sealed = ca_sealed(fd, ROOTS_MAX, "ostiary-roots", err);
        return sealed < 0 ? err_add(err, "take over %s", path) : sealed;
}

int ca_file(const char *name, const char *home, struct err *err)
{
        _cleanup_free_ char *path =
                str_starts(name, "~/") ? str_fmt("%s%s", home, name + 1) : str_dup(name);
        struct stat st;
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0) {
                err_sys(err, "the file that a rule names with ca=%s cannot be read", name);
                if (err)
                        err->code = E_INPUT;
                return -1;
        }
        if (!S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "what a rule names with ca=%s is not a file", name);
        int sealed = ca_sealed(fd, DOOR_CA_FILE_MAX, "ostiary-ca", err);
        return sealed < 0 ? err_add(err, "the file that a rule names with ca=%s", name) : sealed;
}

static const char java_option[] = "-Djavax.net.ssl.trustStore=" TRUST_LIST_JAVA;

/* Most programs look into /etc. These bring roots of their own and have a variable for it; the ones
 * that add to theirs get our authority alone, the ones that replace theirs get the bundle. */
static const struct {
        const char *name, *value;
} variables[] = {
        {"SSL_CERT_FILE", TRUST_LIST_BUNDLE},      /* OpenSSL, rustls, uv, httpx: of any origin */
        {"NODE_EXTRA_CA_CERTS", TRUST_LIST_OURS},  /* Node, npm, Bun */
        {"REQUESTS_CA_BUNDLE", TRUST_LIST_BUNDLE}, /* requests, pip, botocore */
        {"GIT_SSL_CAINFO", TRUST_LIST_BUNDLE},     /* git that is not the system's */
        {"DENO_CERT", TRUST_LIST_OURS},            /* Deno */
        {"JAVA_TOOL_OPTIONS", java_option},
        {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", TRUST_LIST_BUNDLE}, /* gRPC in C, Python, Ruby */
};

void ca_env(struct strs *env)
{
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
                if (variables[i].value != java_option)
                        strs_set_env(env, variables[i].name, variables[i].value);
}

void ca_env_java(struct strs *env)
{
        const char *java = strs_get_env(env, "JAVA_HOME");
        if (!java)
                return;
        _cleanup_free_ char *own = str_fmt("%s/lib/security/cacerts", java);
        _cleanup_free_ char *real = realpath(own, NULL);
        if (real && !str_starts(real, "/etc/"))
                strs_set_env(env, "JAVA_TOOL_OPTIONS", java_option);
}

void ca_env_drop(struct strs *env)
{
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
                _cleanup_free_ char *pair = str_fmt("%s=%s", variables[i].name, variables[i].value);
                for (size_t j = env->n; j-- > 0;)
                        if (strcmp(env->v[j], pair) == 0)
                                strs_remove(env, j);
        }
}
