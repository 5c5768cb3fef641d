/* gitdirs.h - git directories outside the workspace that it cannot work without.
 *
 * A linked worktree or a submodule has a .git *file* that names a directory elsewhere. That file
 * came with the clone and may lie (case 62), so a directory is believed only when it is a git
 * directory and itself points back at this workspace. Never runs git. */
#ifndef SESSION_GITDIRS_H
#define SESSION_GITDIRS_H

struct err;
struct strs;

/* gitdirs_find(workspace, home, dirs, notes, err): append to ${dirs} the directories (absolute,
 * resolved) that must be visible copy-on-write beside ${workspace} (resolved). Refused ones are
 * named in ${notes} ("path\nwhy"), which may be NULL. ${home} may be NULL; with it, a directory
 * that is the home or holds it is refused. -1 only when the workspace cannot be read. */
int gitdirs_find(const char *workspace, const char *home, struct strs *dirs, struct strs *notes,
                 struct err *);

#endif
