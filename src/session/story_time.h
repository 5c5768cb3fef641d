/* story_time.h - times as people write them ("02:10", "2026-11-16 02:10", "10m") and as the log has
 * them, as microseconds since the epoch. Local time, by TZ or the machine's zone, unless a Z says
 * otherwise. Pure but for the zone's tables. */
#ifndef SESSION_STORY_TIME_H
#define SESSION_STORY_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* What a clock time without a day is counted from. */
struct story_frame {
        int64_t begin_us; /* the box was made */
        int64_t end_us;   /* it ended, or now while it lives */
        int64_t now_us;   /* "10m" is ten minutes before this */
};

/* story_time_parse(words, frame, us, err): one of
 *   02:10  02:10:30  02:10:30.5     the latest such moment that is not after the box's end; when
 *                                   that lies before its beginning, the one a day later
 *   2026-11-16                      midnight, and with a blank or a T and a time as above, that
 *   2026-11-16T02:10:30Z            the same in UTC, as the log writes it
 *   90s  10m  3h  2d                so long ago
 * A moment that is no moment (25:00, the 31st of a short month) is refused with a sentence. */
int story_time_parse(const char *words, const struct story_frame *, int64_t *us, struct err *);

/* story_time_span(since, until, frame, since_us, until_us, err): both ends of a span; either may be
 * NULL and is then open (INT64_MIN, INT64_MAX). A bare clock time for the end that would lie before
 * the beginning is the next such moment after it; otherwise an end before the beginning is refused.
 */
int story_time_span(const char *since, const char *until, const struct story_frame *,
                    int64_t *since_us, int64_t *until_us, struct err *);

/* story_time_of(text, us): a record's time, "2026-11-16T01:35:01.123456Z". 0 or -1. */
int story_time_of(const char *text, int64_t *us);

/* story_time_clock(us, buf): "02:10:01.123", local; story_time_day(us, buf): "2026-11-16";
 * story_time_zone(us, buf): "CET (+01:00)"; story_time_utc(us, buf): as the log writes it. Each
 * returns ${buf}, of at least STORY_TIME_LEN bytes. */
enum { STORY_TIME_LEN = 48 };
const char *story_time_clock(int64_t us, char buf[STORY_TIME_LEN]);
const char *story_time_day(int64_t us, char buf[STORY_TIME_LEN]);
const char *story_time_zone(int64_t us, char buf[STORY_TIME_LEN]);
const char *story_time_utc(int64_t us, char buf[STORY_TIME_LEN]);

/* story_time_span_words(us, buf): "350 ms", "2.4 s", "3 min 20 s", "5 h 2 min". */
const char *story_time_span_words(int64_t us, char buf[STORY_TIME_LEN]);

#endif
