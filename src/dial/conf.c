/* conf.c - see conf.h. The files are the user's own; they are read with care all the same, since a
 * network can have written parts of them. */
#include "dial/conf.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "dial/addr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANK " \t\r"

/* add_server(c, word): an address, or [ADDR]:PORT. One with a zone is passed over. */
static void add_server(struct conf *c, const char *word, int *n)
{
        char host[64], text[ADDR_TEXT_MAX];
        unsigned port = 0;
        struct addr a;
        if (word[0] == '[') {
                char end = 0;
                if (sscanf(word, "[%63[0-9a-fA-F:.]]:%5u%c", host, &port, &end) != 2 || !port ||
                    port > 65535)
                        return;
        } else {
                snprintf(host, sizeof host, "%s", word);
        }
        if (*n >= CONF_SERVERS_MAX || addr_parse(host, &a) < 0)
                return;
        size_t len = strlen(c->servers);
        snprintf(c->servers + len, sizeof c->servers - len, "%s%s", len ? "," : "",
                 addr_words(&a, port, text));
        ++*n;
}

static int number(const char *word, int least, int most)
{
        uint64_t n;
        if (str_u64(word, &n) < 0 || n > (uint64_t)most)
                return most;
        return n < (uint64_t)least ? least : (int)n;
}

static void option(struct conf *c, const char *word)
{
        if (str_starts(word, "timeout:"))
                c->timeout_ms = number(word + 8, 1, 10) * 1000;
        else if (str_starts(word, "attempts:"))
                c->tries = number(word + 9, 1, 5);
        else if (strcmp(word, "rotate") == 0)
                c->is_rotated = true;
        else if (strcmp(word, "use-vc") == 0)
                c->is_tcp = true;
}

void conf_resolv(const char *text, struct conf *c)
{
        int servers_n = 0;
        *c = (struct conf){.timeout_ms = 2000, .tries = 3};
        _cleanup_free_ char *copy = str_dup(text);
        for (char *rest = copy, *line; (line = strsep(&rest, "\n"));) {
                char *save, *key;
                line[strcspn(line, "#;")] = 0;
                if (!(key = strtok_r(line, BLANK, &save)))
                        continue;
                bool is_server = strcmp(key, "nameserver") == 0;
                if (!is_server && strcmp(key, "options") != 0)
                        continue;
                for (char *word; (word = strtok_r(NULL, BLANK, &save));) {
                        if (is_server)
                                add_server(c, word, &servers_n);
                        else
                                option(c, word);
                        if (is_server)
                                break;
                }
        }
        if (servers_n == 0)
                snprintf(c->servers, sizeof c->servers, "127.0.0.1");
}

bool conf_equal(const struct conf *a, const struct conf *b)
{
        return strcmp(a->servers, b->servers) == 0 && a->timeout_ms == b->timeout_ms &&
               a->tries == b->tries && a->is_rotated == b->is_rotated && a->is_tcp == b->is_tcp;
}

/* at_word(text, at, len): does a whole word of the file stand here? */
static bool at_word(const char *text, const char *at, size_t len)
{
        bool is_begun = at > text && strchr(" \t", at[-1]);
        return is_begun && (at[len] == 0 || strchr(" \t\r\n#", at[len]));
}

void conf_hosts(const char *text, const char *name, struct addr_list *l)
{
        size_t len = strlen(name);
        /* Lists of a hundred thousand names exist: look for the name first, for its line then. */
        for (const char *at = text; (at = strstr(at, name)); at += len) {
                const char *line = at;
                while (line > text && line[-1] != '\n')
                        line--;
                if (!at_word(text, at, len) || memchr(line, '#', (size_t)(at - line)))
                        continue;
                char first[64];
                struct addr a;
                line += strspn(line, " \t");
                size_t n = strcspn(line, " \t\r\n");
                if (n >= sizeof first || line + n > at)
                        continue;
                memcpy(first, line, n);
                first[n] = 0;
                if (addr_parse(first, &a) == 0)
                        addr_list_add(l, a.bytes, a.len);
        }
}
