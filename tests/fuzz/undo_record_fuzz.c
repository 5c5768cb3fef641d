/* undo_record_fuzz.c - any bytes as a record of undo: read without a fault, every path in it stays
 * below its root, and every state comes out as it went in. */
#include "base/buf.h"
#include "base/fdio.h"
#include "workspace/objects.h"
#include "workspace/undo.h"
#include "workspace/undo_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_state(const struct undo_state *s)
{
        struct buf b = {0};
        struct undo_state again;
        if (s->kind == 'f' && !objects_is_name(s->sha))
                abort();
        undo_state_put(&b, s);
        if (undo_state_parse(buf_cstr(&b), &again) < 0)
                abort();
        if (s->kind != '?' && s->kind != 's' && !undo_state_same(s, &again))
                abort();
        undo_state_free(&again);
        buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        int fd = memfd_create("record", MFD_CLOEXEC);
        if (fd < 0 || fdio_write_all(fd, data, size) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                abort();
        struct undo_record r;
        if (undo_parse(fd, true, &r, NULL) < 0)
                abort();
        for (size_t i = 0; i < r.entries_n; i++) {
                const char *p = r.v[i].path;
                if (!undo_path_is_fit(p) || *p == '/' || strcmp(p, "..") == 0 ||
                    strncmp(p, "../", 3) == 0 || strstr(p, "/../"))
                        abort();
                check_state(&r.v[i].before);
                check_state(&r.v[i].after);
        }
        undo_record_free(&r);
        if (lseek(fd, 0, SEEK_SET) < 0 || undo_parse(fd, false, &r, NULL) < 0)
                abort();
        undo_record_free(&r);
        close(fd);
        return 0;
}
