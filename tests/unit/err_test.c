/* err_test.c - an error ends up as one sentence, never overflows, and NULL is allowed. */
#include "unit/check.h"

#include "base/err.h"

#include <errno.h>
#include <string.h>

int main(void)
{
        struct err e = {0};
        CHECK("err_set returns -1", err_set(&e, E_INPUT, "%s is %d", "it", 3) == -1);
        CHECK("err_set keeps code and words", e.code == E_INPUT && !strcmp(e.text, "it is 3"));

        errno = EACCES;
        CHECK("err_sys returns -1", err_sys(&e, "open %s", "x") == -1);
        CHECK("err_sys adds errno's words", e.code == E_SYSTEM && e.sys == EACCES &&
                                                    !strcmp(e.text, "open x: Permission denied"));
        CHECK("err_sys keeps errno", errno == EACCES);

        err_add(&e, "start %s", "a box");
        err_hint(&e, "run %s", "doctor");
        CHECK("clauses in front, the cure behind",
              !strcmp(e.text, "start a box: open x: Permission denied (run doctor)"));
        CHECK("err_add keeps code and errno", e.code == E_SYSTEM && e.sys == EACCES);

        errno = ENOENT;
        CHECK("NULL everywhere", err_set(NULL, E_INPUT, "x") == -1 && err_sys(NULL, "x") == -1 &&
                                         err_add(NULL, "x") == -1 && err_hint(NULL, "x") == -1);

        char big[4096];
        memset(big, 'a', sizeof big - 1);
        big[sizeof big - 1] = 0;
        err_set(&e, E_PROTO, "%s", big);
        for (int i = 0; i < 10; i++) {
                err_add(&e, "%s", big);
                err_hint(&e, "%s", big);
        }
        CHECK("long stories are cut and stay strings",
              strnlen(e.text, sizeof e.text) < sizeof e.text);
        return check_end();
}
