/* apply_judge.c - did the host change what the box changed? Judged by the host as it is now: when
 * it was last touched, whether that was us, and whether both sides came to the same. Called before
 * anything is shown as appliable and again, with the lock held, before it is applied. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "workspace/apply_int.h"
#include "workspace/objects.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

const char *apply_conflict_words(enum apply_conflict c)
{
        switch (c) {
        case APPLY_CLEAR:
                return "no conflict";
        case APPLY_HOST_CHANGED:
                return "you changed it too since the box started";
        case APPLY_HOST_GONE:
                return "you deleted or moved it since the box started";
        case APPLY_HOST_NEW:
                return "you made one of that name since the box started";
        case APPLY_HOST_ODD:
                return "something of another kind is in its place on the host";
        }
        return "";
}

/* tick_ns(): timestamps of files are taken at the kernel's last tick, so what happened after a
 * moment may be dated by that much before it. */
static int64_t tick_ns(void)
{
        struct timespec t;
        if (clock_getres(CLOCK_REALTIME_COARSE, &t) < 0)
                return 10000000;
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

mode_t apply_mode(mode_t box, mode_t host)
{
        static mode_t mask = (mode_t)-1;
        if (mask == (mode_t)-1) {
                mask = umask(022);
                (void)umask(mask);
        }
        return (box & host & 0777) | (box & ~host & ~mask & 0777);
}

bool apply_unreadable(const struct err *err)
{
        return err->sys == EACCES || err->sys == EPERM;
}

/* is_equal(c, host): has the box the same there? */
static bool is_equal(const struct ws_change *c, const struct undo_state *host)
{
        if (c->after.kind == WS_LINK && host->kind == 'l') {
                _cleanup_buf_ struct buf target = {0};
                return ws_view_link(&c->root->after, c->path, &target, NULL) == 0 &&
                       strcmp(buf_cstr(&target), host->target) == 0;
        }
        if (c->after.kind != WS_FILE || host->kind != 'f' || c->after.size != host->size ||
            apply_mode(c->after.mode, host->mode) != host->mode)
                return false;
        struct ws_node node;
        char sha[SHA256_HEX_LEN + 1];
        _cleanup_close_ int fd = ws_view_file(&c->root->after, c->path, &node, NULL);
        return fd >= 0 && objects_hash(fd, sha, NULL) == 0 && strcmp(sha, host->sha) == 0;
}

static char kind_of(const struct ws_node *n)
{
        switch (n->kind) {
        case WS_NONE:
                return '-';
        case WS_FILE:
                return 'f';
        case WS_DIR:
                return 'd';
        case WS_LINK:
                return 'l';
        case WS_SPECIAL:
                break;
        }
        return 's';
}

static enum apply_conflict judge(const struct ws_change *c, const struct applied *a,
                                 const struct undo_state *host, const struct undo_ident *id)
{
        char was = kind_of(&c->before);
        if (host->kind == '-') {
                if (c->after.kind == WS_NONE)
                        return APPLY_CLEAR;
                if (applied_is_ours(a, c->root->name, c->path, host))
                        return APPLY_CLEAR;
                /* The box's copy comes from a file that is not there any more: the user took it
                 * away. */
                return was != '-' || apply_origin_is_gone(c, a, c->root->since_ns - tick_ns())
                               ? APPLY_HOST_GONE
                               : APPLY_CLEAR;
        }
        if (host->kind == 's')
                return APPLY_HOST_ODD;
        if (host->kind == 'd') {
                if (c->after.kind == WS_DIR)
                        return APPLY_CLEAR;
                /* A directory that is to go must be one that the box has known: one that was made
                 * since, or where the box's own file comes from a file, is the user's. */
                bool is_new = id->born_ns >= c->root->since_ns - tick_ns() &&
                              !applied_is_ours(a, c->root->name, c->path, host);
                bool was_file = apply_origin_is_gone(c, a, c->root->since_ns - tick_ns());
                return was != 'd' || is_new || was_file ? APPLY_HOST_ODD : APPLY_CLEAR;
        }
        if (is_equal(c, host))
                return APPLY_CLEAR;
        /* Later than the box's start, or not even what the change was compared with. */
        bool is_new = was == '-';
        bool is_touched = is_new || id->ctime_ns >= c->root->since_ns - tick_ns() ||
                          id->ino != c->before.ino || id->ctime_ns != c->before.ctime_ns;
        if (!is_touched)
                is_touched = apply_is_moved(c, a, c->root->since_ns - tick_ns());
        if (!is_touched || applied_is_ours(a, c->root->name, c->path, host))
                return APPLY_CLEAR;
        /* Another name of it was replaced by us: that moves the file's ctime and nothing else. */
        if (!is_new && id->ino == c->before.ino && applied_took(a, c->root->name, id->ino) &&
            id->mtime_ns < c->root->since_ns - tick_ns())
                return APPLY_CLEAR;
        if (is_new)
                return APPLY_HOST_NEW;
        return was == host->kind ? APPLY_HOST_CHANGED : APPLY_HOST_ODD;
}

void apply_judge_state(const struct ws_change *c, const struct applied *a,
                       const struct undo_state *host, const struct undo_ident *id,
                       enum apply_conflict *conflict)
{
        *conflict = judge(c, a, host, id);
}

int apply_judge(const struct ws_change *c, const struct applied *a, enum apply_conflict *conflict,
                struct err *err)
{
        struct undo_state host;
        struct undo_ident id;
        if (c->root->host_fd < 0)
                return err_set(err, E_REFUSED, "the host directory of %s %s", c->root->name,
                               c->root->gone ? c->root->gone : "is not there");
        *conflict = APPLY_CLEAR;
        if (!undo_path_is_fit(c->path)) /* no conflict: apply_run refuses it alone */
                return 0;
        if (undo_state_of(c->root->host_fd, c->path, -1, &host, &id, err) < 0)
                return -1;
        *conflict = judge(c, a, &host, &id);
        undo_state_free(&host);
        return 0;
}

/* host_name(host, sha): of a file its content's, of a link its target's. */
static bool host_name(const struct undo_state *host, char sha[SHA256_HEX_LEN + 1])
{
        if (host->kind == 'f')
                memcpy(sha, host->sha, SHA256_HEX_LEN + 1);
        else if (host->kind == 'l')
                sha256_hex(host->target, strlen(host->target), sha);
        return host->kind == 'f' || host->kind == 'l';
}

int apply_host_sha(const struct ws_change *c, char sha[SHA256_HEX_LEN + 1])
{
        struct undo_state host;
        struct undo_ident id;
        if (c->root->host_fd < 0 || !undo_path_is_fit(c->path) ||
            undo_state_of(c->root->host_fd, c->path, -1, &host, &id, NULL) < 0)
                return -1;
        bool is_named = host_name(&host, sha);
        undo_state_free(&host);
        return is_named ? 0 : -1;
}

bool apply_host_is(const struct undo_state *host, const char *sha)
{
        char now[SHA256_HEX_LEN + 1];
        return host_name(host, now) && strcmp(now, sha) == 0;
}
