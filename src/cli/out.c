/* out.c - see out.h. */
#include "cli/out.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/envelope.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

int out_code(int err_code)
{
        return exitcode_of(err_code);
}

int out_error(const struct err *e)
{
        out_wait(NULL);
        bool leads = e->code == E_MACHINE && !strstr(e->text, "ostiary doctor");
        char *words = str_fmt("%s%s", e->text,
                              leads ? "; `ostiary doctor` says what this machine lacks and how to "
                                      "fix it"
                                    : "");
        int code = out_code((int)e->code);
        out_fault(code, words);
        free(words);
        return code;
}

int out_fault(int code, const char *sentence)
{
        out_say("%s", sentence);
        envelope_error(code, sentence);
        return code;
}

void out_say(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *words = str_vfmt(fmt, ap);
        va_end(ap);
        /* One write: the line stays whole when others write to the same terminal. */
        char *line = str_fmt("ostiary: %s\n", words);
        fdio_write_all(STDERR_FILENO, line, strlen(line));
        envelope_said(words);
        free(line);
        free(words);
}

bool out_has_colour(int fd)
{
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
        return (!no || !*no) && term && strcmp(term, "dumb") != 0 && isatty(fd);
}

const char *out_mark(enum out_mark m)
{
        static const char *const plain[] = {"ok  ", "BAD ", "warn", "info"};
        static const char *const colour[] = {"\033[32mok\033[0m  ", "\033[1;31mBAD\033[0m ",
                                             "\033[33mwarn\033[0m", "\033[36minfo\033[0m"};
        return out_has_colour(STDOUT_FILENO) ? colour[m] : plain[m];
}

const char *out_bold(const char *s)
{
        static char *ring[4];
        static size_t at;
        if (!out_has_colour(STDOUT_FILENO))
                return s;
        char **slot = &ring[at++ % 4];
        free(*slot);
        return *slot = str_fmt("\033[1m%s\033[0m", s);
}

void out_row(struct out_table *t, ...)
{
        char **v = realloc(t->cells, (t->rows + 1) * t->cols * sizeof *v);
        if (!v)
                str_no_memory();
        t->cells = v;
        va_list ap;
        va_start(ap, t);
        for (size_t c = 0; c < t->cols; c++)
                v[t->rows * t->cols + c] = str_dup(va_arg(ap, const char *));
        va_end(ap);
        t->rows++;
}

/* columns(s): width as shown, counting code points; our strings have no wide ones to speak of. */
static size_t columns(const char *s)
{
        size_t n = 0;
        for (; *s; s++)
                n += ((unsigned char)*s & 0xc0) != 0x80;
        return n;
}

/* cut(s, width): shorten to so many columns, in place. */
static void cut(char *s, size_t width)
{
        size_t n = 0;
        for (; *s; s++) {
                if (((unsigned char)*s & 0xc0) != 0x80 && n++ == width) {
                        *s = 0;
                        return;
                }
        }
}

static size_t screen_width(void)
{
        struct winsize w;
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
                return 0;
        return w.ws_col;
}

void out_table_print(struct out_table *t)
{
        size_t width[OUT_COLS_MAX] = {0}, used = 0, screen = screen_width();
        for (size_t i = 0; i < t->rows * t->cols; i++)
                if (columns(t->cells[i]) > width[i % t->cols])
                        width[i % t->cols] = columns(t->cells[i]);
        for (size_t c = 0; c + 1 < t->cols; c++)
                used += width[c] + 2;

        for (size_t r = 0; r < t->rows; r++) {
                for (size_t c = 0; c < t->cols; c++) {
                        char *cell = t->cells[r * t->cols + c];
                        bool is_last = c + 1 == t->cols;
                        if (is_last && screen > used + 8)
                                cut(cell, screen - used);
                        int pad = is_last ? 0 : (int)(width[c] + 2 - columns(cell));
                        printf("%s%*s", r == 0 ? out_bold(cell) : cell, pad, "");
                        free(cell);
                }
                putchar('\n');
        }
        free(t->cells);
        *t = (struct out_table){.cols = t->cols};
}

/* wrap_line(column, indent, line, n): one line of the text; its own leading blanks are kept and
 * count for what is broken off it. */
static void wrap_line(size_t column, size_t indent, const char *line, size_t n)
{
        size_t blanks = 0;
        while (blanks < n && line[blanks] == ' ')
                blanks++;
        printf("%*s", (int)blanks, "");
        column += blanks;
        indent += blanks;
        bool is_first = true;
        for (const char *p = line + blanks, *end = line + n; p < end;) {
                size_t word = 0;
                while (p + word < end && p[word] != ' ')
                        word++;
                if (!is_first && column + 1 + word > 80) {
                        printf("\n%*s", (int)indent, "");
                        column = indent;
                        is_first = true;
                }
                column += (size_t)printf("%s%.*s", is_first ? "" : " ", (int)word, p);
                is_first = false;
                p += word;
                while (p < end && *p == ' ')
                        p++;
        }
}

void out_wrap(size_t column, size_t indent, const char *text)
{
        for (;;) {
                size_t n = strcspn(text, "\n");
                wrap_line(column, indent, text, n);
                putchar('\n');
                text += n;
                if (!text[0] || !text[1])
                        return;
                text++;
                if (*text != '\n')
                        printf("%*s", (int)indent, "");
                column = indent;
        }
}

int out_json(const char *kind, struct buf *b)
{
        return envelope_data(kind, b);
}

/* The turning mark runs on a timer signal: what we wait for is one long call. */
static const char *volatile wait_words;
static volatile sig_atomic_t wait_ticks;

static void on_tick(int sig)
{
        static const char turn[] = "|/-\\";
        (void)sig;
        const char *words = wait_words;
        if (!words)
                return;
        char head[] = {'\r', turn[wait_ticks++ % 4], ' '};
        ssize_t ignored = write(STDERR_FILENO, head, sizeof head);
        ignored = write(STDERR_FILENO, words, strlen(words));
        (void)ignored;
}

void out_wait(const char *words)
{
        if (!words && !wait_words)
                return;
        if (words && !isatty(STDERR_FILENO))
                return;
        struct sigaction act = {.sa_handler = words ? on_tick : SIG_IGN, .sa_flags = SA_RESTART};
        struct itimerval every = {.it_value.tv_sec = words ? 1 : 0,
                                  .it_interval.tv_usec = words ? 150000 : 0};
        wait_words = words;
        sigaction(SIGALRM, &act, NULL);
        setitimer(ITIMER_REAL, &every, NULL);
        if (!words && wait_ticks) {
                wait_ticks = 0;
                fdio_write_all(STDERR_FILENO, "\r\033[K", 4);
        }
}

const char *out_age(long s, char buf[16])
{
        static const struct {
                long size;
                char unit;
        } steps[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
        if (s < 0)
                s = 0;
        size_t i = 0;
        while (i < 3 && s < steps[i].size)
                i++;
        snprintf(buf, 16, "%ld%c", s / steps[i].size % 1000000, steps[i].unit);
        return buf;
}

char *out_path(const char *path)
{
        const char *home = getenv("HOME");
        if (home && home[0] == '/' && home[1] && str_is_beneath(path, home))
                return str_fmt("~%s", path + strlen(home));
        return str_dup(path);
}

char *out_command(char *const *argv)
{
        struct buf b = {0};
        for (size_t i = 0; argv[i]; i++) {
                char *word = str_quote(argv[i]);
                bool is_plain = *word && !strpbrk(word, " \t\n\\\"'$&|;<>()*?[]#~`!{}");
                if (i)
                        buf_put_u8(&b, ' ');
                if (is_plain) {
                        buf_put_str(&b, word);
                } else {
                        buf_put_u8(&b, '\'');
                        for (const char *p = word; *p; p++)
                                buf_put(&b, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
                        buf_put_u8(&b, '\'');
                }
                free(word);
        }
        char *s = str_dup(buf_cstr(&b));
        buf_free(&b);
        return s;
}

enum { NAMES_MAX = 8 };

void out_names_add(struct out_names *l, const char *quoted)
{
        l->n++;
        if (l->v.n < NAMES_MAX)
                strs_add(&l->v, quoted);
}

char *out_names_words(const struct out_names *l)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < l->v.n; i++)
                buf_put_fmt(&b, "%s%s", i ? ", " : "", l->v.v[i]);
        if (l->n > l->v.n)
                buf_put_fmt(&b, " and %llu more", (unsigned long long)(l->n - l->v.n));
        return str_dup(b.len ? buf_cstr(&b) : "");
}
