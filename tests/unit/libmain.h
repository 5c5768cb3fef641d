/* libmain.h - the table of a program that holds many unit tests; the Makefile writes one per program. */
#ifndef TESTS_UNIT_LIBMAIN_H
#define TESTS_UNIT_LIBMAIN_H

#include <stddef.h>
#include <stdint.h>

/* A test has ${run}, its own main; a fuzz target has ${replay}, which takes one input. The table
 * ends with a row without a name. */
struct unit_entry {
        const char *name;
        int (*run)(int argc, char **argv);
        int (*replay)(const uint8_t *data, size_t len);
};

extern const struct unit_entry unit_table[];

#endif
