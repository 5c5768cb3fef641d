/* path_steps.h - the single things that a server may do to a path before it looks it up, each in
 * place, each giving the new length. path_canon.c and readings.c put them together. Pure. */
#ifndef POLICY_PATH_STEPS_H
#define POLICY_PATH_STEPS_H

#include <stddef.h>

/* path_step_hex(c): the value of a hexadecimal digit, or -1. */
int path_step_hex(char c);

/* path_step_decode(s, n): %XX and %uXXXX once more, as often as there is something to decode; one
 * pass. An encoded slash becomes PATH_ENC_SLASH. */
size_t path_step_decode(char *s, size_t n);
/* path_step_slashes(s, n): encoded slashes and backslashes divide segments too. */
void path_step_slashes(char *s, size_t n);
/* path_step_params(s, n): from ; to the end of each segment. */
size_t path_step_params(char *s, size_t n);
/* path_step_trim(s, n): dots and blanks at the end of each segment, and streams of NTFS, none of
 * which Windows sees. */
size_t path_step_trim(char *s, size_t n);
/* path_step_merge(s, n): // is /. */
size_t path_step_merge(char *s, size_t n);

#endif
