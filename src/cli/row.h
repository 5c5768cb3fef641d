/* row.h - the row of ours below the box's screen: what waits for the user, shown where the box cannot
 * draw, and answered by the prefix key and a letter.
 *
 * Questions of the door come first, then alarms, then an address that the box wants opened, then
 * notices, which go by themselves. While there is something the box has a row less (screen.h); `?`
 * shows all of a text, on more rows. An answer counts for the question that was shown when the prefix
 * was pressed. Texts that a box chose are quoted: printable ASCII only.
 *
 * Used by stream.c. Where there can be no row (no terminal, --terminal raw, fewer than three rows)
 * row_is_on() is false, and sentences are printed as without a terminal. */
#ifndef CLI_ROW_H
#define CLI_ROW_H

#include "base/strs.h"
#include "cli/screen.h"

#include <stdbool.h>
#include <stdint.h>

struct cur;
struct sink;

enum row_kind { ROW_NOTHING, ROW_REPLY, ROW_QUESTION, ROW_ALARM, ROW_URL, ROW_NOTICE, ROW_KINDS };

struct row_item {
        char *text;         /* one line, our words and the box's quoted */
        char *all;          /* all of it, lines separated by \n */
        uint64_t id;        /* of a question */
        uint64_t until_ms;  /* 0: until it is answered */
        uint64_t ends_ms;   /* of a question: when nobody can answer it any more */
        bool has_always;    /* a rule would allow it for good */
        bool is_everywhere; /* and would be kept for every box */
};

struct row {
        struct sink *sink; /* NULL: there is none */
        const char *box;
        char key;      /* "]" of Ctrl-]; 0: there are no keys */
        bool is_quiet; /* only alarms, and replies to keys */

        struct row_item items[ROW_KINDS]; /* text NULL: nothing of that kind */
        struct strs alarms;               /* unseen, the oldest first; items[ROW_ALARM] is that */
        uint32_t waiting_n;               /* questions, shown or not */
        uint32_t port;                    /* of the box, that f would forward; or 0 */
        uint64_t tick_ms;                 /* when a shown text with the time left changes; or 0 */
        unsigned page;                    /* of the shown text; 0: the short form */
        enum row_kind shown;
        uint64_t shown_id;
        bool is_pressed;     /* the prefix was, and nothing behind it yet */
        enum row_kind armed; /* what was shown when the prefix was pressed */
        uint64_t armed_id;
};

void row_init(struct row *, struct sink *, const char *box, uint32_t key, bool is_quiet);
void row_free(struct row *);
bool row_is_on(const struct row *);

/* What came from the supervisor. row_waiting takes the body of MSG_WAITING. */
void row_waiting(struct row *, struct cur *body);
void row_alarm(struct row *, const char *words);
void row_notice(struct row *, const char *words, bool is_reply);
void row_url(struct row *, const char *url, uint32_t port);

/* row_press(r): the prefix was pressed: which letters mean something now. Says so when nothing
 * waits. */
const char *row_press(struct row *);
/* row_pass(r): the key behind it was not for us. */
void row_pass(struct row *);

/* row_letter(r, letter, &act): what the letter asks for. */
struct row_act {
        enum { ROW_NO_ACT, ROW_ANSWER, ROW_FORWARD } what;
        uint64_t question;
        bool is_yes, is_kept;
        uint32_t port;
};
struct row_act row_letter(struct row *, char letter);

/* row_update(r): show what is to be shown now. true when the box's number of rows is another. */
bool row_update(struct row *);
/* row_wait_ms(r): how long until something goes by itself; -1: nothing does. */
int row_wait_ms(const struct row *);
/* row_last_words(r): after the terminal is back: alarms that nobody has seen, and questions. */
void row_last_words(const struct row *, bool is_detached);

/* row_text.c: */
/* row_quote(s): printable ASCII; everything else, quotation marks and backslashes as \xNN, \" and
 * \\, so that nothing looks like something else. The caller frees. */
char *row_quote(const char *);
/* row_short(before, what, after, cols): one line; ${what}, quoted already, is cut to what fits. Of an
 * address the end of the host is kept. The caller frees. */
char *row_short(const char *before, const char *what, const char *after, unsigned cols);
/* row_wrap(text, cols, lines): lines of at most ${cols}; long words go on in the next, joined. */
void row_wrap(const char *text, unsigned cols, struct strs *lines);

#endif
