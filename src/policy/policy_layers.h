/* policy_layers.h - a policy out of the bytes in which its layers travel between our processes
 * (wire/door.h: u32 rank, lstr name, u32 has_lines, lstr text, one layer after the other). Called
 * by egress and dial. Pure. */
#ifndef POLICY_POLICY_LAYERS_H
#define POLICY_POLICY_LAYERS_H

#include <stddef.h>

struct err;
struct policy;

/* policy_layers_parse(bytes, len, p, err): all layers, or -1, a sentence, and ${p} is empty. ${p}
 * is overwritten; release it with policy_free. No bytes at all is a policy that denies everything.
 */
int policy_layers_parse(const void *bytes, size_t len, struct policy *, struct err *);

#endif
