/* foreign.h - words of other tools (Docker, podman, srt, nono, bubblewrap, E2B), as one table of
 * commands and one of flags. A word is understood as ours where it means the same; otherwise the
 * answer names the exact equivalent. `ostiary help other-tools` prints both. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stddef.h>

struct cmd;

struct foreign_answer {
        const char *flag; /* our long flag, without dashes; NULL: answered in words */
        char *value;      /* its value; the caller frees, as it does the words */
        char *words;
};

struct foreign_flag {
        const char *word;  /* "--memory", "-m" */
        const char *tool;  /* whose it is, for people */
        const char *needs; /* the row counts only for commands that have this flag */
        const char *flag;  /* ours, or NULL */
        const char *form;  /* of the value: "memory=%"; NULL: as it is. % stands for it */
        const char *words; /* the answer, when flag is NULL or the value does not fit */
        int values_n;      /* how many values it takes */
        void (*turn)(const struct foreign_flag *, const char *value, const char *second,
                     struct foreign_answer *); /* NULL: by form */
};

/* foreign_flag_find(word, len): the row of a flag as it was typed, dashes included; or NULL. */
const struct foreign_flag *foreign_flag_find(const char *word, size_t len);
/* foreign_flag_turn(row, value, second, answer): what it is called here. */
void foreign_flag_turn(const struct foreign_flag *, const char *value, const char *second,
                       struct foreign_answer *);

/* foreign_command(word, &as): the command of ours that ${word} is, in *as; else NULL there and the
 * answer in words ("ostiary ps -a --json"), or NULL for a word that no other tool has. */
const char *foreign_command(const char *word, const struct cmd **as);

/* foreign_words(word): the answer as a sentence, or NULL for a word that no other tool has; the
 * caller frees. */
char *foreign_words(const char *word);

/* foreign_print(): both tables, on stdout. */
void foreign_print(void);

#endif
