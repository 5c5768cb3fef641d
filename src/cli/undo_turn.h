/* undo_turn.h - `ostiary undo --turn N BOX`: in the box, where `undo` otherwise is for the host. */
#ifndef CLI_UNDO_TURN_H
#define CLI_UNDO_TURN_H

#include <stdbool.h>
#include <stdint.h>

/* undo_turn(box, n, is_dry, is_json): returns the exit code; 1 when something could not be taken
 * back because a later turn changed it too. ${box} NULL means the newest. */
int undo_turn(const char *box, uint64_t n, bool is_dry, bool is_json);

#endif
