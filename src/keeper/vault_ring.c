/* vault_ring.c - the key of an opened vault in the user's keyring of the kernel, so that a
 * passphrase is asked once and not for every box. The kernel forgets it after a while and when the
 * user's last process ends. Called by vault_unlock.c and for `lock`.
 *
 * By system call, because three of them are not worth a library. A keyring that is not there (in a
 * container, or by a filter) is no error: then the passphrase is asked again. */
#include "keeper/vault_unlock.h"

#include "base/str.h"

#include <linux/keyctl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TIMEOUT_S = 15 * 60, NAME_LEN = 16 + 2 * VAULT_SALT_LEN };

static long ring(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
        return syscall(SYS_keyctl, what, a, b, c, d);
}

/* possess(): whether a key of @u may be read depends on whether the session's keyring leads there,
 * and that depends on who logged us in. So this process gets a session of its own that does. */
static bool possess(void)
{
        static int is_done;
        if (is_done == 0)
                is_done = ring(KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0) >= 0 &&
                                          ring(KEYCTL_LINK, (unsigned long)KEY_SPEC_USER_KEYRING,
                                               (unsigned long)KEY_SPEC_SESSION_KEYRING, 0, 0) >= 0
                                  ? 1
                                  : -1;
        return is_done > 0;
}

static void name_of(const struct vault_head *h, char name[NAME_LEN + 1])
{
        char hex[2 * VAULT_SALT_LEN + 1];
        sodium_bin2hex(hex, sizeof hex, h->salt, VAULT_SALT_LEN);
        snprintf(name, NAME_LEN + 1, "ostiary:vault:%s", hex);
}

static long find(const struct vault_head *h)
{
        char name[NAME_LEN + 1];
        name_of(h, name);
        return possess() ? ring(KEYCTL_SEARCH, (unsigned long)KEY_SPEC_USER_KEYRING,
                                (unsigned long)"user", (unsigned long)name, 0)
                         : -1;
}

bool vault_ring_get(const struct vault_head *h, uint8_t key[VAULT_KEY_LEN])
{
        long id = find(h);
        return id > 0 && ring(KEYCTL_READ, (unsigned long)id, (unsigned long)key, VAULT_KEY_LEN,
                              0) == VAULT_KEY_LEN;
}

void vault_ring_put(const struct vault_head *h, const uint8_t key[VAULT_KEY_LEN])
{
        const char *said = getenv("OSTIARY_VAULT_TIMEOUT");
        uint64_t timeout = TIMEOUT_S;
        char name[NAME_LEN + 1];
        if (said && str_duration(said, &timeout) < 0)
                timeout = TIMEOUT_S;
        if (timeout == 0 || timeout > UINT32_MAX || !possess())
                return;
        name_of(h, name);
        long id = syscall(SYS_add_key, "user", name, key, (size_t)VAULT_KEY_LEN,
                          KEY_SPEC_USER_KEYRING);
        if (id > 0 && ring(KEYCTL_SET_TIMEOUT, (unsigned long)id, (unsigned long)timeout, 0, 0) < 0)
                ring(KEYCTL_REVOKE, (unsigned long)id, 0, 0, 0);
}

void vault_ring_drop(const struct vault_head *h)
{
        long id = find(h);
        if (id > 0)
                ring(KEYCTL_INVALIDATE, (unsigned long)id, 0, 0, 0);
}
