/* ended.c - see ended.h. Sentences that may hold a box's words are quoted. */
#include "cli/ended.h"

#include "audit/refused.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/out.h"
#include "wire/msg.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* Signals that come from the walls or the kernel rather than from the program or its user. */
static const struct {
        int sig;
        const char *words;
} signals[] = {
        {SIGSYS,
         "the command was killed by the box's system-call filter: it made a call of another "
         "architecture, such as a 32-bit program does"},
        {SIGKILL, "the command was killed"},
        {SIGSEGV, "the command crashed (segmentation fault)"},
        {SIGABRT, "the command aborted"},
        {SIGBUS, "the command crashed (bus error)"},
        {SIGILL, "the command crashed (illegal instruction)"},
        {SIGFPE, "the command crashed (arithmetic error)"},
        {SIGXCPU, "the command used up its processor time"},
        {SIGXFSZ, "the command wrote a file larger than its limit"},
};

void ended_say(const struct msg_ended *e)
{
        static const char *const usual[MSG_END_COUNT] = {
                [MSG_END_TIME] = "the box reached its time limit and was ended",
                [MSG_END_MEMORY] = "the box used up its memory and was ended",
                [MSG_END_DISK] = "the box used up its disk space and was ended",
                [MSG_END_STOPPED] = "the box was stopped",
                [MSG_END_FAULT] = "one of ostiary's own processes died; the box was closed",
        };
        if (e->words && *e->words) {
                _cleanup_free_ char *shown = str_quote(e->words);
                out_say("%s", shown);
        } else if (usual[e->how]) {
                out_say("%s", usual[e->how]);
        } else if (e->how == MSG_END_SIGNAL) {
                for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
                        if (signals[i].sig == (int)e->value)
                                out_say("%s", signals[i].words);
        }
}

/* say_refused(h): the host, and what would allow it next time. */
static void say_refused(const struct refused_host *h, const char *box, bool is_kept)
{
        _cleanup_free_ char *host = str_quote(h->host), *cure = str_quote(h->cure);
        _cleanup_free_ char *times = h->n > 1 ? str_fmt(" (%" PRIu64 " times)", h->n) : str_dup("");
        const char *rule = str_starts(cure, "allow ") ? cure + 6 : cure;
        if (!*rule || strchr(rule, '\''))
                out_say("refused: %s%s", host, times);
        else if (is_kept)
                out_say("refused: %s%s; to allow it: ostiary allow %s '%s'", host, times, box,
                        rule);
        else
                out_say("refused: %s%s; to allow it: --allow '%s'", host, times, rule);
}

void ended_refused(const struct buf *body, const char *box, bool is_kept)
{
        enum { NAMED_MAX = 5 };
        struct cur c = cur_of(body->data, body->len);
        _cleanup_refused_ struct refused r = {0};
        if (body->len == 0 || refused_get(&c, &r) < 0 || r.hosts_n == 0)
                return;
        say_refused(&r.hosts[0], box, is_kept);
        if (r.hosts_n == 1 && !r.more)
                return;
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 1; i < r.hosts_n && i < NAMED_MAX; i++) {
                _cleanup_free_ char *host = str_quote(r.hosts[i].host);
                buf_put_fmt(&b, "%s%s", i > 1 ? ", " : "", host);
        }
        if (r.more || r.hosts_n > NAMED_MAX)
                buf_put_str(&b, b.len ? " and more" : "more hosts");
        out_say("refused: %s%s%s%s", buf_cstr(&b), is_kept ? "; ostiary log " : "",
                is_kept ? box : "", is_kept ? " --denied tells of each" : "");
}

void ended_failure(struct cur *body, struct err *err)
{
        uint32_t code;
        _cleanup_free_ char *words = NULL;
        if (cur_u32(body, &code) < 0 || cur_lstr(body, 4096, &words) < 0 || code > E_NOCMD) {
                err_set(err, E_PROTO, "the supervisor refused, in words that make no sense");
                return;
        }
        _cleanup_free_ char *shown = str_quote(words);
        err_set(err, (enum err_code)code, "%s", shown);
}

void ended_notice(bool is_raw, const char *words)
{
        _cleanup_free_ char *shown = str_quote(words);
        if (!is_raw) {
                out_say("%s", shown);
                return;
        }
        _cleanup_free_ char *line = str_fmt("\r\nostiary: %s\r\n", shown);
        fdio_write_all(STDERR_FILENO, line, strlen(line));
}

void ended_url(bool is_raw, const char *box, const char *url, uint32_t port, uint32_t key)
{
        _cleanup_free_ char *shown = str_quote(url);
        _cleanup_free_ char *way = key ? str_fmt("Ctrl-%c f", toupper((int)key))
                                       : str_fmt("ostiary forward %s %u:%u", box, port, port);
        const char *nl = is_raw ? "\r\n" : "\n";
        _cleanup_free_ char *back =
                port ? str_fmt("ostiary: it comes back to port %u of the box; to let it: %s%s",
                               port, way, nl)
                     : str_dup("");
        _cleanup_free_ char *line = str_fmt("%sostiary: the box wants this opened: %s%s%s",
                                            is_raw ? nl : "", shown, nl, back);
        fdio_write_all(STDERR_FILENO, line, strlen(line));
}
