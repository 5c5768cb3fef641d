/* head_names.h - names of fields that mean something to a connection rather than to its ends. For
 * the parsers, which take these fields out, and the writers, which let none of them through. */
#ifndef EGRESS_HEAD_NAMES_H
#define EGRESS_HEAD_NAMES_H

#include <stddef.h>

enum head_hop {
        HOP_NOT,
        HOP_TE,
        HOP_HOST,
        HOP_EXPECT,
        HOP_UPGRADE,
        HOP_CONNECTION,
        HOP_CONTENT_LENGTH,
        HOP_TRANSFER_ENCODING,
        HOP_OTHER,     /* keep-alive, trailer, http2-settings, proxy-... */
        HOP_DISGUISED, /* one of these with _ for -: the same name to a server that speaks CGI */
};

/* head_hop(name, n): which one is this, in any case? */
enum head_hop head_hop(const char *name, size_t);

#endif
