/* err.h - an error is a value with a story: a code, an errno and one sentence.
 *
 * It lives on the caller's stack. The place that finds the fault calls err_set or err_sys; each
 * layer on the way up may put one clause in front with err_add; the CLI prints the whole chain on
 * one line. All of them return -1, so that a refusal is one line: return err_set(err, ...). */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_code {
        E_NONE = 0,
        E_USAGE,   /* the user's words are wrong: exit 64 */
        E_SYSTEM,  /* the kernel said no */
        E_PROTO,   /* bytes from elsewhere that make no sense */
        E_INPUT,   /* a file or value the user gave is unusable */
        E_MACHINE, /* this machine cannot build the walls: doctor has the cure */
        E_ABSENT,  /* no such box, profile, command */
        E_REFUSED, /* a rule of ours says no */
        E_NOEXEC,  /* the command exists and cannot be executed: exit 126 */
        E_NOCMD,   /* the command does not exist: exit 127 */
};

struct err {
        enum err_code code;
        int sys; /* errno, or 0 */
        char text[1024];
};

/* err_set(err, code, fmt, ...): start a story. Returns -1. ${err} may be NULL everywhere. */
int err_set(struct err *, enum err_code, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* err_sys(err, fmt, ...): the same from errno, whose text is added after the words. Returns -1. */
int err_sys(struct err *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* err_add(err, fmt, ...): put "words: " before what is there. Keeps code and errno. Returns -1. */
int err_add(struct err *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* err_hint(err, fmt, ...): put " (words)" after what is there, for the cure. Returns -1. */
int err_hint(struct err *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
