/* strs_test.c - a list of strings is NULL-terminated at every moment. */
#include "unit/check.h"

#include "base/strs.h"

#include <string.h>

int main(void)
{
        _cleanup_strs_ struct strs l = {0};
        bool is_ended = true;
        for (int i = 0; i < 1000; i++) {
                strs_addf(&l, "word %d", i);
                is_ended &= l.v[l.n] == NULL;
        }
        CHECK("a thousand words", l.n == 1000 && !strcmp(l.v[999], "word 999") && is_ended);
        strs_remove(&l, 0);
        strs_remove(&l, 998);
        CHECK("the first and the last removed", l.n == 998 && !strcmp(l.v[0], "word 1") &&
                                                        !strcmp(l.v[997], "word 998") && !l.v[998]);
        CHECK("has", strs_has(&l, "word 500") && !strs_has(&l, "word 0"));
        strs_free(&l);
        CHECK("free makes it new", l.n == 0 && !strs_has(&l, "x"));

        strs_set_env(&l, "A", "1");
        strs_set_env(&l, "AB", "2");
        strs_set_env(&l, "A", "3=4");
        CHECK("variables are replaced by whole name",
              l.n == 2 && !strcmp(strs_get_env(&l, "A"), "3=4") &&
                      !strcmp(strs_get_env(&l, "AB"), "2"));
        CHECK("a variable that is not there", !strs_get_env(&l, "B") && !strs_get_env(&l, "A="));
        return check_end();
}
