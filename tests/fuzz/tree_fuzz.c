/* tree_fuzz.c - a sender that says anything: the receiver makes what it likes below its directory
 * and nothing beside it, and no temporary file stays. The input is records: a type byte, two length
 * bytes, the body; entries are also built from short forms, so that the fuzzer gets past the first
 * check. */
#include "base/beneath.h"
#include "base/err.h"
#include "wire/tree_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory: a disk would be the slowest part by far. */
static char top[] = "/dev/shm/ostiary-fuzz.XXXXXX";
static int top_fd = -1;

static void clean_up(void)
{
        beneath_remove_tree(AT_FDCWD, top, NULL);
}

static void on_note(void *arg, const char *sentence)
{
        (void)arg;
        if (strlen(sentence) > 65536)
                abort();
}

/* The scratch directory holds "dest" and "witness", and nothing in dest is a temporary file. */
static void look(void)
{
        int n = 0;
        DIR *d = opendir(top);
        for (struct dirent *e; d && (e = readdir(d));)
                n++;
        if (!d || n != 4)
                abort();
        closedir(d);
        int dest = openat(top_fd, "dest", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        d = dest < 0 ? NULL : fdopendir(dest);
        for (struct dirent *e; d && (e = readdir(d));)
                if (!strncmp(e->d_name, ".ostiary-cp.", 12))
                        abort();
        if (!d)
                abort();
        closedir(d);
        char got[16];
        int w = openat(top_fd, "witness", O_RDONLY | O_CLOEXEC);
        if (read(w, got, sizeof got) != 7 || memcmp(got, "witness", 7) != 0)
                abort();
        close(w);
}

/* short_entry(b, p, n): kind, mode, size, then the name, then "\n" and the target. */
static void short_entry(struct buf *b, const uint8_t *p, size_t n)
{
        struct tree_entry e = {.kind = n > 0 ? (enum tree_kind)(p[0] & 3) : TREE_FILE,
                               .mode = n > 1 ? p[1] : 0,
                               .size = n > 2 ? p[2] : 0};
        const char *rest = n > 3 ? (const char *)p + 3 : "";
        size_t left = n > 3 ? n - 3 : 0;
        const char *nl = memchr(rest, '\n', left);
        size_t name_len = nl ? (size_t)(nl - rest) : left;
        snprintf(e.name, sizeof e.name, "%.*s", (int)name_len, rest);
        if (nl)
                snprintf(e.target, sizeof e.target, "%.*s", (int)(left - name_len - 1), nl + 1);
        tree_entry_put(b, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (top_fd < 0) {
                if (!mkdtemp(top))
                        abort();
                atexit(clean_up);
                top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                int w = openat(top_fd, "witness", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
                if (w < 0 || write(w, "witness", 7) != 7)
                        abort();
                close(w);
        }
        if (mkdirat(top_fd, "dest", 0700) < 0)
                abort();
        struct tree_place place = {.dir_fd = openat(top_fd, "dest", O_PATH | O_DIRECTORY),
                                   .parent_fd = -1,
                                   .base = strdup(size && data[0] & 1 ? "base" : "")};
        struct tree_opts opts = {.owner_uid = (uid_t)-1,
                                 .owner_gid = (gid_t)-1,
                                 .max_bytes = 1 << 20,
                                 .on_note = on_note};
        struct tree_count count = {0};
        struct err err = {0};
        struct tree_recv r;
        tree_recv_init(&r, &place, &opts, &count);

        struct cur in = cur_of(size ? data + 1 : data, size ? size - 1 : 0);
        uint8_t type, hi, lo;
        const uint8_t *body;
        while (cur_u8(&in, &type) == 0 && cur_u8(&in, &hi) == 0 && cur_u8(&in, &lo) == 0) {
                size_t n = (size_t)hi << 8 | lo;
                n = n < in.left ? n : in.left;
                if (cur_bytes(&in, n, &body) < 0)
                        break;
                struct buf b = {0};
                bool is_short = type & 0x80;
                uint32_t t = TREE_ROOT + (type & 0x0fu);
                if (is_short && (t == TREE_ROOT || t == TREE_ENTRY))
                        short_entry(&b, body, n);
                struct cur c = b.len ? cur_of(b.data, b.len) : cur_of(body, n);
                int got = tree_recv_feed(&r, t, &c, &err);
                buf_free(&b);
                if (got != 0)
                        break;
        }
        tree_recv_close(&r);
        look();
        tree_place_free(&place);
        if (beneath_remove_tree(top_fd, "dest", NULL) < 0)
                abort();
        return 0;
}
