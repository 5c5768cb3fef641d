/* landlock.h - what the kernel's Landlock offers here; used by the step and by doctor and explain.
 */
#ifndef BOX_LANDLOCK_H
#define BOX_LANDLOCK_H

/* landlock_abi(): the ABI version, 0 when Landlock is absent or switched off. */
int landlock_abi(void);

/* landlock_words(abi): what that version gives us, in words. */
const char *landlock_words(int abi);

#endif
