/* psl.h - the guard for wildcards: who owns the names below a name?
 *
 * The public suffix list of the machine that built the program is carried inside
 * (tools/gen_psl.sh). A wildcard that grants something must not stand above a registry's suffix:
 * *.co.uk is everybody. Pure, called by the rule parser only. */
#ifndef POLICY_PSL_H
#define POLICY_PSL_H

struct host_name;

enum psl_class {
        PSL_OWNED,  /* one owner: *.example.org */
        PSL_SHARED, /* strangers side by side under one company: *.github.io */
        PSL_PUBLIC, /* anybody may register below: *.co.uk, *.com */
};

/* psl_below(name): who owns what lies directly below ${name}? A single label that the list does not
 * know is PUBLIC, except names that are set aside for private networks (internal, lan, ...). */
enum psl_class psl_below(const struct host_name *);

#endif
