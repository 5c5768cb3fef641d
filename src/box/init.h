/* init.h - pid 1 of a box. */
#ifndef BOX_INIT_H
#define BOX_INIT_H

struct box_first;
struct build;

/* init_main(b, first): build the walls, report, run ${first} if there is one, then serve the
 * supervisor until it goes away. */
_Noreturn void init_main(struct build *, const struct box_first *first);

#endif
