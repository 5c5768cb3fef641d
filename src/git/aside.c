/* aside.c - what a box has in its index and in its configuration, which never lands: it is told,
 * and the configuration as commands that the user may type. Text of git in the box: hostile. */
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void aside_staged(struct fetch *f)
{
        (void)f;
}

void aside_config(struct fetch *f)
{
        (void)f;
}
