/* keyring.c - see keyring.h: an item of the Secret Service, by its attributes. The session with the
 * service is "plain": the value crosses the user's own bus as it is, and nothing else. It must
 * never prompt: a box may be started where nobody sits. */
#include "session/keyring.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/dbus.h"

#include <stdlib.h>
#include <string.h>

#define SERVICE   "org.freedesktop.secrets"
#define ROOT      "/org/freedesktop/secrets"
#define INTERFACE "org.freedesktop.Secret."

/* service_error(d, err): the words for the errors that people meet. */
static int service_error(const struct dbus *d, struct err *err)
{
        if (strcmp(d->error_name, "org.freedesktop.DBus.Error.ServiceUnknown") == 0 ||
            str_starts(d->error_name, "org.freedesktop.DBus.Error.Spawn.") ||
            strcmp(d->error_name, "org.freedesktop.DBus.Error.NameHasNoOwner") == 0)
                return err_set(err, E_ABSENT,
                               "no keyring runs in this session (nobody on the session bus is "
                               "the Secret Service: gnome-keyring, KWallet or KeePassXC)");
        if (strcmp(d->error_name, INTERFACE "Error.IsLocked") == 0)
                return err_set(err, E_REFUSED, "the keyring is locked; unlock it and start again");
        return -1;
}

/* put_attributes(asked, b): a{ss} of "a=b c=d", or of a name. */
static int put_attributes(const char *asked, struct buf *b, struct err *err)
{
        _cleanup_free_ char *own =
                strchr(asked, '=') ? str_dup(asked) : str_fmt("application=ostiary name=%s", asked);
        _cleanup_buf_ struct buf pairs = {0};
        char *at = own, *pair;
        while ((pair = strsep(&at, " "))) {
                char *eq = strchr(pair, '=');
                if (!*pair)
                        continue;
                if (!eq || eq == pair)
                        return err_set(err, E_INPUT,
                                       "an item of the keyring is named by attributes, such as "
                                       "\"service=github user=me\"");
                *eq = 0;
                dbus_align(&pairs, 8);
                dbus_put_str(&pairs, pair);
                dbus_put_str(&pairs, eq + 1);
        }
        dbus_put_u32(b, (uint32_t)pairs.len);
        dbus_align(b, 8);
        buf_put(b, pairs.data, pairs.len);
        return 0;
}

/* open_session(d, session, err): its object's path, which the caller frees. */
static int open_session(struct dbus *d, char **session, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        struct dbus_in in = {0};
        const char *path, *text;
        dbus_put_str(&b, "plain");
        dbus_put_sig(&b, "s");
        dbus_put_str(&b, "");
        if (dbus_call(d, SERVICE, ROOT, INTERFACE "Service", "OpenSession", "sv", &b, &in, err) < 0)
                return service_error(d, err);
        /* v, which is an empty text, then the object. */
        in.at = in.n > 3 && in.p[0] == 1 && in.p[1] == 's' ? 3 : in.n;
        if (dbus_get_str(&in, &text) < 0 || dbus_get_str(&in, &path) < 0)
                return err_set(err, E_PROTO, "the keyring answers nonsense");
        *session = str_dup(path);
        return 0;
}

static int find_item(struct dbus *d, const char *asked, char **item, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_strs_ struct strs open = {0}, locked = {0};
        struct dbus_in in = {0};
        if (put_attributes(asked, &b, err) < 0)
                return -1;
        if (dbus_call(d, SERVICE, ROOT, INTERFACE "Service", "SearchItems", "a{ss}", &b, &in, err) <
            0)
                return service_error(d, err);
        if (dbus_get_paths(&in, &open) < 0 || dbus_get_paths(&in, &locked) < 0)
                return err_set(err, E_PROTO, "the keyring answers nonsense");
        if (open.n == 0 && locked.n > 0)
                return err_set(err, E_REFUSED, "the keyring is locked; unlock it and start again");
        if (open.n == 0)
                return err_set(err, E_ABSENT,
                               strchr(asked, '=')
                                       ? "the keyring has no item with the attributes %s"
                                       : "the keyring has no such item; make it with: secret-tool "
                                         "store --label=%1$s application ostiary name %1$s",
                               asked);
        if (open.n + locked.n > 1)
                return err_set(err, E_INPUT,
                               "the keyring has %zu items with the attributes %s; name more of "
                               "them",
                               open.n + locked.n, asked);
        *item = str_dup(open.v[0]);
        return 0;
}

static int get_secret(struct dbus *d, const char *item, const char *session, struct buf *value,
                      struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        struct dbus_in in = {0};
        const char *path;
        const uint8_t *bytes;
        size_t n;
        dbus_put_str(&b, session);
        if (dbus_call(d, SERVICE, item, INTERFACE "Item", "GetSecret", "o", &b, &in, err) < 0)
                return service_error(d, err);
        /* (oayays): the session, parameters (none), the value, its type. */
        if (dbus_get_align(&in, 8) < 0 || dbus_get_str(&in, &path) < 0 ||
            dbus_get_bytes(&in, &bytes, &n) < 0 || dbus_get_bytes(&in, &bytes, &n) < 0)
                return err_set(err, E_PROTO, "the keyring answers nonsense");
        if (n == 0)
                return err_set(err, E_INPUT, "the item in the keyring is empty");
        buf_put(value, bytes, n);
        return 0;
}

int keyring_read(const char *bus, const char *asked, struct buf *value, struct err *err)
{
        struct dbus d;
        _cleanup_free_ char *session = NULL, *item = NULL;
        int r = dbus_open(&d, bus, err);
        if (r == 0 &&
            (open_session(&d, &session, err) < 0 || find_item(&d, asked, &item, err) < 0 ||
             get_secret(&d, item, session, value, err) < 0))
                r = -1;
        dbus_close(&d);
        return r;
}
