/* secret_list.c - see secret_list.h. Called by cmd_secret.c. The lines that it reads hold names and
 * times; values stay in the program that opened the vault. */
#include "cli/secret_list.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "session/vault_key.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LIST_MAX = 4 << 20 };

enum { NAME, PROVIDER, CREATED, CHANGED, NOTE, FIELDS };

/* cut(line, fields): a line of tab-separated fields, in place. */
static bool cut(char *line, char *fields[FIELDS])
{
        for (size_t i = 0; i < FIELDS; i++)
                if (!(fields[i] = strsep(&line, "\t")))
                        return false;
        return true;
}

static uint64_t number(const char *s)
{
        uint64_t n = 0;
        return str_u64(s, &n) < 0 ? 0 : n;
}

static void when(uint64_t at, char words[32])
{
        time_t t = (time_t)at;
        struct tm tm;
        if (!localtime_r(&t, &tm) || strftime(words, 32, "%Y-%m-%d %H:%M", &tm) == 0)
                words[0] = 0;
}

static int as_json(char *text)
{
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '[');
        for (char *line, *f[FIELDS]; (line = strsep(&text, "\n"));) {
                if (!cut(line, f))
                        continue;
                json_open(&j, NULL, '{');
                json_str(&j, "name", f[NAME]);
                json_str(&j, "provider", *f[PROVIDER] ? f[PROVIDER] : NULL);
                envelope_time(&j, "created", (int64_t)number(f[CREATED]) * 1000000);
                envelope_time(&j, "changed", (int64_t)number(f[CHANGED]) * 1000000);
                json_str(&j, "note", f[NOTE]);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        return out_json("vault", &out);
}

static int as_table(char *text)
{
        struct out_table t = {.cols = 4};
        out_row(&t, "NAME", "PROVIDER", "CHANGED", "NOTE");
        for (char *line, *f[FIELDS]; (line = strsep(&text, "\n"));) {
                char changed[32];
                if (!cut(line, f))
                        continue;
                _cleanup_free_ char *note = str_quote(f[NOTE]);
                when(number(f[CHANGED]), changed);
                out_row(&t, f[NAME], *f[PROVIDER] ? f[PROVIDER] : "-", changed, note);
        }
        if (t.rows == 1)
                out_say("the vault is empty (ostiary secret set NAME puts something in)");
        out_table_print(&t);
        return EXIT_OK;
}

/* listen_to(data_dir, argv, b): start the program and read what it prints. Its exit code. */
static int listen_to(const char *data_dir, char *const argv[], struct buf *b)
{
        struct err err = {0};
        _cleanup_close_ int list = memfd_create("list", MFD_CLOEXEC);
        if (list < 0) {
                err_sys(&err, "make room for the list");
                return out_error(&err);
        }
        int code = vault_key_program(data_dir, argv, list, &err);
        if (code != 0)
                return code < 0 ? out_error(&err) : code;
        b->max = LIST_MAX + 4096;
        if (lseek(list, 0, SEEK_SET) < 0 || fdio_read_all(list, b, LIST_MAX) < 0) {
                err_sys(&err, "read the list");
                return out_error(&err);
        }
        buf_put_u8(b, 0);
        return EXIT_OK;
}

int secret_list(const char *data_dir, char *const argv[], bool is_json)
{
        _cleanup_buf_ struct buf b = {0};
        int code = listen_to(data_dir, argv, &b);
        if (code != EXIT_OK)
                return code;
        return is_json ? as_json((char *)b.data) : as_table((char *)b.data);
}

int secret_said(const char *data_dir, char *const argv[], const char *verb, const char *name)
{
        _cleanup_buf_ struct buf b = {0}, out = {0};
        int code = listen_to(data_dir, argv, &b);
        if (code != EXIT_OK) {
                /* The program told people why; it alone holds the values, so its words stay there. */
                _cleanup_free_ char *said =
                        str_fmt("secret %s failed (standard error says why)", verb);
                envelope_error(code, said);
                return code;
        }
        struct json j = json_of(&out);
        char *text = (char *)b.data;
        json_open(&j, NULL, '{');
        json_str(&j, "verb", verb);
        json_str(&j, "name", name);
        json_open(&j, "lines", '[');
        for (char *line; (line = strsep(&text, "\n"));)
                if (*line)
                        json_str(&j, NULL, line);
        json_close(&j, ']');
        json_close(&j, '}');
        return out_json("vault-change", &out);
}
