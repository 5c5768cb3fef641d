/* story_text.c - see story_text.h. */
#include "cli/story_text.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "cli/out.h"
#include "session/story.h"
#include "session/story_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *story_text_size(uint64_t n, char buf[8])
{
        static const char units[] = "KMGTPE";
        if (n < 1000) {
                snprintf(buf, 8, "%u", (unsigned)n);
                return buf;
        }
        double v = (double)n / 1024;
        size_t u = 0;
        for (; v >= 999.5 && u < 5; u++)
                v /= 1024;
        snprintf(buf, 8, v < 9.95 ? "%.1f%c" : "%.0f%c", v, units[u]);
        return buf;
}

static bool is_usual_port(const struct audit_record *r)
{
        return r->port == 0 || r->port == 443 || (r->port == 80 && strcmp(r->kind, "http") == 0);
}

char *story_text_target(const struct audit_record *r)
{
        _cleanup_free_ char *host = str_quote(r->host);
        _cleanup_free_ char *path = str_quote(r->path);
        char port[24] = "";
        if (!is_usual_port(r))
                snprintf(port, sizeof port, ":%" PRIu64, r->port);
        return str_fmt("%s%s%s", host, port, path);
}

static const char *base_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash && slash[1] ? slash + 1 : path;
}

char *story_text_who(const struct audit_record *r)
{
        if (!r->pid)
                return str_dup("");
        /* A process that executes is told by what it becomes. */
        bool is_exec = strcmp(r->kind, "exec") == 0 && *r->path;
        _cleanup_free_ char *name = str_quote(base_of(is_exec ? r->path : r->exe));
        return str_fmt("%s[%" PRIu64 "]", name, r->pid);
}

char *story_text_command(const struct audit_record *r)
{
        if (!*r->note)
                return str_quote(r->path);
        _cleanup_buf_ struct buf b = {0};
        _cleanup_free_ char *copy = str_dup(r->note);
        for (char *at = copy, *part; (part = strsep(&at, "\\"));) {
                _cleanup_free_ char *shown = str_quote(part);
                buf_put_str(&b, shown);
                buf_put_str(&b, at ? "\\" : "");
        }
        return str_dup(buf_cstr(&b));
}

/* put(b, before, s, after): quoted, and nothing at all for "". */
static void put(struct buf *b, const char *before, const char *s, const char *after)
{
        if (!*s)
                return;
        _cleanup_free_ char *shown = str_quote(s);
        buf_put_str(b, before);
        buf_put_str(b, shown);
        buf_put_str(b, after);
}

/* --- records ---------------------------------------------------------------------------------- */

/* why(b, r): the rule and what was noted, in brackets. */
static void why(struct buf *b, const struct audit_record *r)
{
        bool has_note = *r->note && strcmp(r->note, r->rule) != 0;
        if (!*r->rule && !has_note)
                return;
        buf_put_str(b, b->len ? "  (" : "(");
        put(b, "", r->rule, "");
        if (has_note)
                put(b, *r->rule ? "; " : "", r->note, "");
        buf_put_str(b, ")");
}

static void verdict(struct buf *b, const struct audit_record *r)
{
        if (story_text_is_absent(r))
                buf_put_str(b, "not there: ");
        else if (strcmp(r->verdict, "deny") == 0)
                buf_put_str(b, "DENIED ");
        else if (strcmp(r->verdict, "ask-no") == 0)
                buf_put_str(b, "NOT APPROVED ");
        else if (strcmp(r->verdict, "ask-yes") == 0)
                buf_put_str(b, "approved ");
        else if (strcmp(r->verdict, "allow") != 0)
                put(b, "", r->verdict, " ");
}

static void put_request(struct buf *b, const struct audit_record *r)
{
        char up[8], down[8];
        _cleanup_free_ char *target = story_text_target(r);
        verdict(b, r);
        put(b, "", r->method, " ");
        buf_put_str(b, target);
        if (r->status)
                buf_put_fmt(b, " %" PRIu64, r->status);
        if (r->bytes_up || r->bytes_down)
                buf_put_fmt(b, ", %s sent, %s got", story_text_size(r->bytes_up, up),
                            story_text_size(r->bytes_down, down));
        put(b, ", with ", r->secrets, "");
        why(b, r);
}

static void put_exec(struct buf *b, const struct audit_record *r)
{
        _cleanup_free_ char *command = story_text_command(r);
        verdict(b, r);
        buf_put_str(b, command);
        if (r->ppid)
                buf_put_fmt(b, "  (child of %" PRIu64 ")", r->ppid);
}

static void put_exit(struct buf *b, const struct audit_record *r)
{
        char cpu[STORY_TIME_LEN], peak[16];
        buf_put_fmt(b, "status %" PRIu64, r->status);
        if (r->cpu_us)
                buf_put_fmt(b, ", CPU %s", story_time_span_words((int64_t)r->cpu_us, cpu));
        if (r->peak_kib && r->peak_kib < UINT64_MAX / 1024)
                buf_put_fmt(b, ", peak %s", str_size_words(r->peak_kib * 1024, peak));
        put(b, "  (", r->note, ")");
}

static void put_socket(struct buf *b, const struct audit_record *r)
{
        verdict(b, r);
        put(b, "", *r->address ? r->address : *r->host ? r->host : r->path, "");
        if (r->port && !strchr(r->address, ':'))
                buf_put_fmt(b, " port %" PRIu64, r->port);
        put(b, " ", r->protocol, "");
        why(b, r);
}

/* word(b, s): the next word of a line, quoted; nothing for "". */
static void word(struct buf *b, const char *s)
{
        put(b, b->len && b->data[b->len - 1] != ' ' ? " " : "", s, "");
}

/* put_any(b, r): a kind with no form of its own, known or not: all that it says. */
static void put_any(struct buf *b, const struct audit_record *r)
{
        char status[24];
        _cleanup_free_ char *target = story_text_target(r);
        verdict(b, r);
        word(b, r->method);
        if (*target && b->len && b->data[b->len - 1] != ' ')
                buf_put_str(b, " ");
        buf_put_str(b, target);
        word(b, r->address);
        snprintf(status, sizeof status, "%" PRIu64, r->status);
        word(b, r->status ? status : "");
        word(b, r->secrets);
        why(b, r);
}

char *story_text_record(const struct audit_record *r)
{
        _cleanup_buf_ struct buf b = {0};
        enum story_group g = story_group_of(r->kind);
        if (g == STORY_REQUEST)
                put_request(&b, r);
        else if (strcmp(r->kind, "exec") == 0)
                put_exec(&b, r);
        else if (strcmp(r->kind, "exit") == 0)
                put_exit(&b, r);
        else if (g == STORY_SOCKET)
                put_socket(&b, r);
        else
                put_any(&b, r);
        return str_dup(buf_cstr(&b));
}

/* --- files and review ------------------------------------------------------------------------- */

bool story_text_is_odd_time(const struct story_change *c)
{
        int64_t apart = c->time_us - c->mtime_us;
        return c->mtime_us && c->time_us && (apart > 1000000 || apart < -1000000);
}

char *story_text_change(const struct story_change *c)
{
        char t[STORY_TIME_LEN], day[STORY_TIME_LEN];
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b, "%s ", ws_what_name(c->what));
        if (c->from)
                put(&b, "", c->from, " -> ");
        put(&b, "", c->name, c->kind == WS_DIR ? "/" : "");
        if (c->class != FILE_PLAIN) {
                buf_put_fmt(&b, "  [%s", file_class_words(c->class));
                put(&b, ": ", c->why, "");
                buf_put_str(&b, "]");
        }
        if (c->is_applied)
                buf_put_str(&b, "  [applied since]");
        if (c->is_odd)
                buf_put_str(&b, "  [a name that looks like another]");
        put(&b, "  [cannot be applied: ", c->refused ? c->refused : "", "]");
        if (c->is_at_latest)
                buf_put_str(&b, "  (then or before)");
        if (story_text_is_odd_time(c))
                buf_put_fmt(&b, "  (says it is of %s %.8s, which a box can set)",
                            story_time_day(c->mtime_us, day), story_time_clock(c->mtime_us, t));
        return str_dup(buf_cstr(&b));
}

char *story_text_undo(const struct story_undo *u)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_free_ char *root = out_path(u->root);
        buf_put_fmt(&b, "number %" PRIu64 ": %" PRIu64 " path%s", u->n, u->paths_n,
                    u->paths_n == 1 ? "" : "s");
        put(&b, " in ", root, "");
        if (u->paths_n == 1)
                put(&b, ": ", u->first, "");
        if (!u->is_done)
                buf_put_str(&b, "  (interrupted)");
        if (u->is_undone)
                buf_put_str(&b, "  (taken back)");
        return str_dup(buf_cstr(&b));
}

char *story_text_what(const struct story_event *e)
{
        return e->record   ? story_text_record(e->record)
               : e->change ? story_text_change(e->change)
                           : story_text_undo(e->undo);
}

bool story_text_is_absent(const struct audit_record *r)
{
        return strcmp(r->kind, "call") == 0 && strcmp(r->note, "ENOSYS") == 0;
}

bool story_text_is_bad(const struct story_event *e)
{
        if (e->group == STORY_ALARM)
                return true;
        return e->record && audit_record_is_refused(e->record) && !story_text_is_absent(e->record);
}
