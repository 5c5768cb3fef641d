/* title.c - see title.h. Arguments and environment lie in one piece at the top of the stack. */
#include "base/title.h"

#include <stdio.h>
#include <string.h>

extern char **environ;

static char *block;
static size_t block_len, args_len;

void title_init(int argc, char **argv)
{
        if (argc < 1)
                return;
        block = argv[0];
        char *end = block;
        for (int i = 0; i < argc; i++)
                if (argv[i] == end)
                        end = argv[i] + strlen(argv[i]) + 1;
        args_len = (size_t)(end - block);
        for (char **e = environ; e && *e; e++)
                if (*e == end)
                        end = *e + strlen(*e) + 1;
        block_len = (size_t)(end - block);
}

void title_set(const char *words)
{
        for (char **e = environ; e && *e; e++)
                explicit_bzero(*e, strlen(*e));
        environ = NULL;
        if (!block)
                return;
        explicit_bzero(block, block_len);
        snprintf(block, args_len, "%s", words);
}
