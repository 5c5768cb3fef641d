/* egress.h - the role that every connection of the box ends in. */
#ifndef EGRESS_EGRESS_H
#define EGRESS_EGRESS_H

int egress_main(int argc, char **argv);

/* egress_index_main: `ostiary-door index-roots BUNDLE OUT`: the system's trusted roots as an index
 * (egress/trust.h). */
int egress_index_main(int argc, char **argv);

#endif
