/* peek_fuzz.c - whatever a program's arguments are, the words made of them are short, hold nothing
 * a terminal would act on, and end where they should; and whatever a head's bytes are, reading them
 * is safe. */
#include "audit/head.h"
#include "audit/peek.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look(const struct buf *b, size_t max)
{
        if (b->len > max)
                abort();
        for (size_t i = 0; i < b->len; i++)
                if (b->data[i] < 0x20 || b->data[i] == 0x7f)
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
        static struct peek p;
        static int head_fd = -1;
        _cleanup_buf_ struct buf b = {0};
        peek_quote(&b, data, n);
        look(&b, 4 * n + 2);

        /* A vector whose words lie in the input, each where the byte before it says. */
        char *words = malloc(n + 1);
        uint64_t *argv = calloc(n + 1, sizeof *argv);
        if (!words || !argv)
                abort();
        memcpy(words, data, n);
        words[n] = 0;
        for (size_t i = 0; i < n; i++)
                argv[i] = data[i] == 1 ? 8 : (uintptr_t)words + data[i] % (n + 1);
        b.len = 0;
        peek_begin(&p, getpid());
        peek_argv(&p, (uintptr_t)argv, 300, &b);
        look(&b, 310);
        free(words);
        free(argv);

        struct head h;
        struct err err = {0};
        if (head_fd < 0)
                head_fd = memfd_create("head", MFD_CLOEXEC);
        if (ftruncate(head_fd, 0) < 0 || pwrite(head_fd, data, n, 0) != (ssize_t)n)
                abort();
        head_read(head_fd, &h, &err);
        return 0;
}
