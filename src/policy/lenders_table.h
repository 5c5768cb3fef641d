/* lenders_table.h - the rows of data/lenders, made C by tools/gen_lenders.sh; for lenders.c alone.
 * Each list ends in a row of NULL. */
#ifndef POLICY_LENDERS_TABLE_H
#define POLICY_LENDERS_TABLE_H

#include "policy/lenders.h"

#include <stdbool.h>

struct lender_place {
        const char *path, *host, *query, *who; /* host and query "": any */
        unsigned lends;                        /* enum lenders_kind */
};

struct lender_field {
        const char *name;  /* letters and digits; a leading * is any beginning */
        const char *piece; /* of a key of AWS: "id", "key", "token"; or ""; or "none" */
        bool is_sure;      /* whatever it looks like */
};

extern const struct lender_place lender_places[];
extern const struct lender_field lender_fields[];

#endif
