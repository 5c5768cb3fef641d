/* story_time.c - see story_time.h. Called by the commands that tell a box's story. What is parsed
 * is the user's own; what is printed may be any number, since a damaged log can hold any. */
#include "session/story_time.h"

#include "base/err.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_US INT64_C(1000000)

/* Years that can be written with four digits. */
#define TIME_LEAST_US (INT64_C(-62135596800) * SECOND_US)
#define TIME_MOST_US  (INT64_C(253402300799) * SECOND_US)

struct moment { /* what was written, field by field */
        struct tm tm;
        int64_t us; /* below the second */
        bool has_day, is_utc;
};

/* digits(&p, n, most, to): exactly ${n} digits. */
static bool digits(const char **p, int n, int most, int *to)
{
        int v = 0;
        for (int i = 0; i < n; i++) {
                char c = (*p)[i];
                if (c < '0' || c > '9')
                        return false;
                v = v * 10 + (c - '0');
        }
        *p += n;
        *to = v;
        return v <= most;
}

static bool eat(const char **p, char c)
{
        if (**p != c)
                return false;
        ++*p;
        return true;
}

/* read_day(&p, m): "2026-11-16". */
static bool read_day(const char **p, struct moment *m)
{
        int year, month, day;
        if (!digits(p, 4, 9999, &year) || !eat(p, '-') || !digits(p, 2, 12, &month) ||
            !eat(p, '-') || !digits(p, 2, 31, &day) || month < 1 || day < 1)
                return false;
        m->tm.tm_year = year - 1900;
        m->tm.tm_mon = month - 1;
        m->tm.tm_mday = day;
        m->has_day = true;
        return true;
}

/* read_clock(&p, m): "02:10", "02:10:30", "02:10:30.5". */
static bool read_clock(const char **p, struct moment *m)
{
        if (!digits(p, 2, 23, &m->tm.tm_hour) || !eat(p, ':') || !digits(p, 2, 59, &m->tm.tm_min))
                return false;
        if (!eat(p, ':'))
                return true;
        if (!digits(p, 2, 59, &m->tm.tm_sec))
                return false;
        if (!eat(p, '.'))
                return true;
        if (**p < '0' || **p > '9')
                return false;
        for (int64_t unit = SECOND_US / 10; **p >= '0' && **p <= '9'; ++*p, unit /= 10)
                m->us += (**p - '0') * unit;
        return true;
}

/* seconds(m, s): the moment as seconds; false when there is none (the 31st of April). */
static bool seconds(const struct moment *m, int64_t *s)
{
        struct tm tm = m->tm;
        tm.tm_isdst = -1;
        time_t t = m->is_utc ? timegm(&tm) : mktime(&tm);
        if (tm.tm_mday != m->tm.tm_mday || tm.tm_mon != m->tm.tm_mon)
                return false;
        *s = t;
        return true;
}

static bool is_ago(const char *words)
{
        size_t n = strlen(words);
        return n > 1 && strspn(words, "0123456789") == n - 1 && strchr("smhd", words[n - 1]);
}

/* on_day_of(m, at_us, days, us): the clock time of ${m} on the local day of ${at_us}, so many days
 * later. A time that the change to summer time leaves out is what mktime makes of it. */
static bool on_day_of(const struct moment *m, int64_t at_us, int days, int64_t *us)
{
        time_t at = (time_t)(at_us / SECOND_US);
        struct tm day;
        if (!localtime_r(&at, &day))
                return false;
        struct tm tm = m->tm;
        tm.tm_year = day.tm_year;
        tm.tm_mon = day.tm_mon;
        tm.tm_mday = day.tm_mday + days;
        tm.tm_isdst = -1;
        *us = (int64_t)mktime(&tm) * SECOND_US + m->us;
        return true;
}

static bool of_clock(const struct moment *m, const struct story_frame *f, int64_t *us)
{
        if (!on_day_of(m, f->end_us, 0, us))
                return false;
        if (*us > f->end_us && !on_day_of(m, f->end_us, -1, us))
                return false;
        if (*us < f->begin_us) {
                int64_t later;
                if (!on_day_of(m, *us, 1, &later))
                        return false;
                *us = later;
        }
        return true;
}

/* read_moment(words, m): the whole of it. */
static bool read_moment(const char *words, struct moment *m)
{
        const char *p = words;
        *m = (struct moment){.us = 0};
        if (strlen(words) >= 10 && words[4] == '-') {
                if (!read_day(&p, m))
                        return false;
                if (*p && !eat(&p, ' ') && !eat(&p, 'T'))
                        return false;
                if (p[-1] == ' ' || p[-1] == 'T') {
                        if (!read_clock(&p, m))
                                return false;
                        m->is_utc = eat(&p, 'Z');
                }
        } else if (!read_clock(&p, m)) {
                return false;
        }
        return *p == 0;
}

int story_time_parse(const char *words, const struct story_frame *f, int64_t *us, struct err *err)
{
        struct moment m;
        int64_t s;
        uint64_t ago;
        if (is_ago(words)) {
                if (str_duration(words, &ago) == 0 && ago < INT64_C(1) << 40) {
                        *us = f->now_us - (int64_t)ago * SECOND_US;
                        return 0;
                }
        } else if (read_moment(words, &m)) {
                if (!m.has_day && of_clock(&m, f, us))
                        return 0;
                if (m.has_day && seconds(&m, &s)) {
                        *us = s * SECOND_US + m.us;
                        return 0;
                }
        }
        char *shown = str_quote(words);
        err_set(err, E_USAGE,
                "\"%s\" is no time; write 02:10, 02:10:30, \"2026-11-16 02:10\", or 10m for ten "
                "minutes ago",
                shown);
        free(shown);
        return -1;
}

int story_time_span(const char *since, const char *until, const struct story_frame *f,
                    int64_t *since_us, int64_t *until_us, struct err *err)
{
        *since_us = INT64_MIN;
        *until_us = INT64_MAX;
        if (since && story_time_parse(since, f, since_us, err) < 0)
                return -1;
        if (until && story_time_parse(until, f, until_us, err) < 0)
                return -1;
        if (!since || !until || *until_us >= *since_us)
                return 0;
        struct moment m;
        if (!is_ago(until) && read_moment(until, &m) && !m.has_day &&
            on_day_of(&m, *since_us, 0, until_us) &&
            (*until_us >= *since_us || on_day_of(&m, *since_us, 1, until_us)))
                return 0;
        char *shown = str_quote(until), *from = str_quote(since);
        err_set(err, E_USAGE, "the end, \"%s\", lies before the beginning, \"%s\"", shown, from);
        free(shown);
        free(from);
        return -1;
}

int story_time_of(const char *text, int64_t *us)
{
        struct moment m;
        int64_t s;
        if (!read_moment(text, &m) || !m.has_day || !m.is_utc || !seconds(&m, &s))
                return -1;
        *us = s * SECOND_US + m.us;
        return 0;
}

/* --- in words ------------------------------------------------------------------------------------
 */

/* local(us, tm, below): the parts of a moment; false for one that has no four-digit year. */
static bool parts(int64_t us, bool is_utc, struct tm *tm, int *below)
{
        if (us < TIME_LEAST_US || us > TIME_MOST_US)
                return false;
        int64_t s = us / SECOND_US, rest = us % SECOND_US;
        if (rest < 0) {
                s--;
                rest += SECOND_US;
        }
        *below = (int)rest;
        time_t t = (time_t)s;
        return is_utc ? gmtime_r(&t, tm) != NULL : localtime_r(&t, tm) != NULL;
}

static const char *unknown(char buf[STORY_TIME_LEN], const char *words)
{
        snprintf(buf, STORY_TIME_LEN, "%s", words);
        return buf;
}

/* put_day(buf, tm): with four digits for every year, which strftime does not promise. */
static size_t put_day(char buf[STORY_TIME_LEN], const struct tm *tm)
{
        int n = snprintf(buf, STORY_TIME_LEN, "%04d-%02d-%02d", tm->tm_year + 1900, tm->tm_mon + 1,
                         tm->tm_mday);
        return n > 0 && n < STORY_TIME_LEN ? (size_t)n : 0;
}

const char *story_time_clock(int64_t us, char buf[STORY_TIME_LEN])
{
        struct tm tm;
        int below;
        if (!parts(us, false, &tm, &below))
                return unknown(buf, "--:--:--.---");
        snprintf(buf, STORY_TIME_LEN, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
                 below / 1000);
        return buf;
}

const char *story_time_day(int64_t us, char buf[STORY_TIME_LEN])
{
        struct tm tm;
        int below;
        if (!parts(us, false, &tm, &below))
                return unknown(buf, "unknown day");
        put_day(buf, &tm);
        return buf;
}

const char *story_time_zone(int64_t us, char buf[STORY_TIME_LEN])
{
        struct tm tm;
        int below;
        if (!parts(us, false, &tm, &below))
                return unknown(buf, "?");
        char name[32];
        long minutes = labs(tm.tm_gmtoff) / 60;
        strftime(name, sizeof name, "%Z", &tm);
        snprintf(buf, STORY_TIME_LEN, "%.24s (%c%02ld:%02ld)", name, tm.tm_gmtoff < 0 ? '-' : '+',
                 minutes / 60, minutes % 60);
        return buf;
}

const char *story_time_utc(int64_t us, char buf[STORY_TIME_LEN])
{
        struct tm tm;
        int below;
        if (!parts(us, true, &tm, &below))
                return unknown(buf, "");
        size_t n = put_day(buf, &tm);
        snprintf(buf + n, STORY_TIME_LEN - n, "T%02d:%02d:%02d.%06dZ", tm.tm_hour, tm.tm_min,
                 tm.tm_sec, below);
        return buf;
}

const char *story_time_span_words(int64_t us, char buf[STORY_TIME_LEN])
{
        if (us < 0)
                us = 0;
        int64_t s = us / SECOND_US;
        if (us < SECOND_US)
                snprintf(buf, STORY_TIME_LEN, "%lld ms", (long long)(us / 1000));
        else if (s < 60)
                snprintf(buf, STORY_TIME_LEN, "%lld.%lld s", (long long)s,
                         (long long)(us % SECOND_US / (SECOND_US / 10)));
        else if (s < 3600)
                snprintf(buf, STORY_TIME_LEN, "%lld min %lld s", (long long)(s / 60),
                         (long long)(s % 60));
        else
                snprintf(buf, STORY_TIME_LEN, "%lld h %lld min", (long long)(s / 3600),
                         (long long)(s % 3600 / 60));
        return buf;
}
