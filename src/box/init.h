/* init.h - pid 1 of a box. */
#ifndef BOX_INIT_H
#define BOX_INIT_H

struct box_first;
struct build;

/* init_main(b, first, go_fd): build the walls, report, run ${first} if there is one, then serve the
 * supervisor until it goes away. ${go_fd} >= 0: wait for a byte there before anything else. */
_Noreturn void init_main(struct build *, const struct box_first *first, int go_fd);

#endif
