/* secret_files_ssh.c - the box's ~/.ssh/known_hosts: the host keys of the places that its keys of
 * ssh are for, so that ssh in the box knows its servers without asking. Called by secret_files.c.
 * No key and no setting of the user's ~/.ssh is ever copied. */
#include "session/secret_files_int.h"
#include "session/sup_ssh.h"

int secret_files_ssh(struct secret_files *f)
{
        _cleanup_buf_ struct buf lines = {0};
        sup_ssh_known_hosts(&f->plan->secrets, f->plan->box.home, &lines);
        return secret_files_block(f, ".ssh/known_hosts", &lines);
}
