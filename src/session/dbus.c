/* dbus.c - see dbus.h. Written against the D-Bus specification (wire format, EXTERNAL
 * authentication). Called by keyring.c. What comes is untrusted only as far as the user's own bus
 * is; it is bounded and read through getters all the same. */
#include "session/dbus.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
        CALL = 1,
        RETURN = 2,
        ERROR = 3,
        FIELD_PATH = 1,
        FIELD_INTERFACE = 2,
        FIELD_MEMBER = 3,
        FIELD_ERROR = 4,
        FIELD_REPLY = 5,
        FIELD_TO = 6,
        FIELD_SIGNATURE = 8,
        HEAD = 16,
        MESSAGE_MAX = 4 << 20,
        OTHERS_MAX = 1000, /* signals and the like before our answer */
        WAIT_S = 20,
};

/* --- writing --------------------------------------------------------------------------------- */

void dbus_align(struct buf *b, size_t to)
{
        while (b->len % to && !b->is_broken)
                buf_put_u8(b, 0);
}

void dbus_put_u32(struct buf *b, uint32_t v)
{
        v = htole32(v);
        dbus_align(b, 4);
        buf_put(b, &v, sizeof v);
}

void dbus_put_str(struct buf *b, const char *s)
{
        dbus_put_u32(b, (uint32_t)strlen(s));
        buf_put(b, s, strlen(s) + 1);
}

void dbus_put_sig(struct buf *b, const char *s)
{
        buf_put_u8(b, (uint8_t)strlen(s));
        buf_put(b, s, strlen(s) + 1);
}

/* --- reading --------------------------------------------------------------------------------- */

int dbus_get_align(struct dbus_in *in, size_t to)
{
        size_t at = (in->at + to - 1) / to * to;
        if (at > in->n)
                return -1;
        in->at = at;
        return 0;
}

int dbus_get_u32(struct dbus_in *in, uint32_t *v)
{
        if (dbus_get_align(in, 4) < 0 || in->n - in->at < 4)
                return -1;
        memcpy(v, in->p + in->at, 4);
        *v = in->is_large ? be32toh(*v) : le32toh(*v);
        in->at += 4;
        return 0;
}

int dbus_get_str(struct dbus_in *in, const char **s)
{
        uint32_t n;
        if (dbus_get_u32(in, &n) < 0 || n >= in->n - in->at || in->p[in->at + n] != 0 ||
            memchr(in->p + in->at, 0, n))
                return -1;
        *s = (const char *)in->p + in->at;
        in->at += n + 1;
        return 0;
}

static int get_sig(struct dbus_in *in, const char **s)
{
        if (in->at >= in->n)
                return -1;
        size_t n = in->p[in->at];
        if (n + 1 >= in->n - in->at || in->p[in->at + 1 + n] != 0)
                return -1;
        *s = (const char *)in->p + in->at + 1;
        in->at += n + 2;
        return 0;
}

int dbus_get_bytes(struct dbus_in *in, const uint8_t **p, size_t *n)
{
        uint32_t len;
        if (dbus_get_u32(in, &len) < 0 || len > in->n - in->at)
                return -1;
        *p = in->p + in->at;
        *n = len;
        in->at += len;
        return 0;
}

int dbus_get_paths(struct dbus_in *in, struct strs *list)
{
        uint32_t len;
        const char *s;
        if (dbus_get_u32(in, &len) < 0 || len > in->n - in->at)
                return -1;
        for (size_t end = in->at + len; in->at < end;) {
                if (dbus_get_str(in, &s) < 0 || in->at > end)
                        return -1;
                strs_add(list, s);
        }
        return 0;
}

/* --- the connection -------------------------------------------------------------------------- */

static int read_all(int fd, void *p, size_t n)
{
        for (size_t at = 0; at < n;) {
                ssize_t got = read(fd, (char *)p + at, n - at);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got <= 0)
                        return -1;
                at += (size_t)got;
        }
        return 0;
}

/* unescape(s, n, out, max): a value of an address: %2f is a slash. */
static int unescape(const char *s, size_t n, char *out, size_t max)
{
        size_t k = 0;
        for (size_t i = 0; i < n; i++) {
                char hex[3] = {0};
                if (k + 1 >= max)
                        return -1;
                if (s[i] == '%' && i + 2 < n) {
                        memcpy(hex, s + i + 1, 2);
                        out[k++] = (char)strtoul(hex, NULL, 16);
                        i += 2;
                } else {
                        out[k++] = s[i];
                }
        }
        out[k] = 0;
        return (int)k;
}

/* address(text, un): the first of the addresses that is a UNIX socket; its length, or 0. */
static socklen_t address(const char *text, struct sockaddr_un *un)
{
        *un = (struct sockaddr_un){.sun_family = AF_UNIX};
        for (const char *one = text; *one; one += strcspn(one, ";"), one += *one == ';') {
                if (!str_starts(one, "unix:"))
                        continue;
                size_t n = strcspn(one, ";");
                for (const char *key = one + 5; key < one + n; key += strcspn(key, ",;") + 1) {
                        size_t len = strcspn(key, ",;");
                        bool is_path = str_starts(key, "path="),
                             is_name = str_starts(key, "abstract=");
                        size_t skip = is_path ? 5 : 9;
                        if (!is_path && !is_name)
                                continue;
                        int k = unescape(key + skip, len - skip, un->sun_path + is_name,
                                         sizeof un->sun_path - is_name);
                        if (k > 0)
                                return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
                                                   (size_t)k + 1);
                }
        }
        return 0;
}

/* authenticate(fd): as the user that we are; the bus sees who that is. */
static int authenticate(int fd)
{
        char uid[16], answer[256] = "";
        _cleanup_buf_ struct buf b = {0};
        size_t n = 0;
        int len = snprintf(uid, sizeof uid, "%u", (unsigned)getuid());
        buf_put_u8(&b, 0);
        buf_put_str(&b, "AUTH EXTERNAL ");
        for (int i = 0; i < len; i++)
                buf_put_fmt(&b, "%02x", (unsigned char)uid[i]);
        buf_put_str(&b, "\r\n");
        if (b.is_broken || fdio_write_all(fd, b.data, b.len) < 0)
                return -1;
        while (n < 2 || answer[n - 1] != '\n') {
                if (n == sizeof answer - 1 || read_all(fd, answer + n, 1) < 0)
                        return -1;
                n++;
        }
        return strncmp(answer, "OK ", 3) == 0 ? fdio_write_all(fd, "BEGIN\r\n", 7) : -1;
}

char *dbus_address(const struct strs *env)
{
        const char *set = strs_get_env(env, "DBUS_SESSION_BUS_ADDRESS");
        const char *dir = strs_get_env(env, "XDG_RUNTIME_DIR");
        if (set && *set)
                return str_dup(set);
        if (dir && *dir)
                return str_fmt("unix:path=%s/bus", dir);
        return str_fmt("unix:path=/run/user/%u/bus", (unsigned)getuid());
}

int dbus_open(struct dbus *d, const char *text, struct err *err)
{
        struct sockaddr_un un;
        struct dbus_in in = {0};
        const char *name;
        *d = (struct dbus){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        socklen_t len = address(text, &un);
        const struct timeval wait = {.tv_sec = WAIT_S};
        if (d->fd < 0 || len == 0 || connect(d->fd, (struct sockaddr *)&un, len) < 0)
                return err_set(err, E_ABSENT,
                               "there is no session bus here (%s), so that no desktop keyring can "
                               "be asked",
                               text);
        setsockopt(d->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        setsockopt(d->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
        if (authenticate(d->fd) < 0)
                return err_set(err, E_REFUSED, "the session bus does not let this user in");
        const char bus[] = "org.freedesktop.DBus";
        if (dbus_call(d, bus, "/org/freedesktop/DBus", bus, "Hello", "", NULL, &in, err) < 0)
                return -1;
        return dbus_get_str(&in, &name) < 0
                       ? err_set(err, E_PROTO, "the session bus answers nonsense")
                       : 0;
}

void dbus_close(struct dbus *d)
{
        if (d->fd >= 0)
                close(d->fd);
        if (d->in.data)
                explicit_bzero(d->in.data, d->in.cap);
        buf_free(&d->in);
        d->fd = -1;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void put_field(struct buf *b, uint8_t code, const char *type, const char *value)
{
        dbus_align(b, 8);
        buf_put_u8(b, code);
        dbus_put_sig(b, type);
        if (*type == 'g')
                dbus_put_sig(b, value);
        else
                dbus_put_str(b, value);
}

/* What of a head counts for us. */
struct answer {
        uint8_t type;
        uint32_t reply_to;
        struct dbus_in body;
};

/* read_fields(in, end, a, error): the fields of a head. One of a type that we do not know would have
 * to be skipped by its type; the bus sends none. */
static int read_fields(struct dbus_in *in, size_t end, struct answer *a, char *error, size_t max)
{
        while (in->at < end) {
                const char *type, *text = "";
                uint32_t number = 0;
                if (dbus_get_align(in, 8) < 0 || in->at >= end)
                        return -1;
                uint8_t code = in->p[in->at++];
                if (get_sig(in, &type) < 0)
                        return -1;
                int r = strcmp(type, "u") == 0   ? dbus_get_u32(in, &number)
                        : strcmp(type, "g") == 0 ? get_sig(in, &text)
                        : strcmp(type, "s") == 0 || strcmp(type, "o") == 0 ? dbus_get_str(in, &text)
                                                                           : -1;
                if (r < 0)
                        return -1;
                if (code == FIELD_REPLY)
                        a->reply_to = number;
                if (code == FIELD_ERROR)
                        snprintf(error, max, "%s", text);
        }
        return 0;
}

static int read_message(struct dbus *d, struct answer *a)
{
        uint8_t head[HEAD];
        uint32_t body_n, fields_n;
        if (read_all(d->fd, head, HEAD) < 0 || (head[0] != 'l' && head[0] != 'B'))
                return -1;
        struct dbus_in in = {.p = head, .n = HEAD, .at = 4, .is_large = head[0] == 'B'};
        if (dbus_get_u32(&in, &body_n) < 0)
                return -1;
        in.at = 12;
        if (dbus_get_u32(&in, &fields_n) < 0 || body_n > MESSAGE_MAX || fields_n > MESSAGE_MAX)
                return -1;
        size_t padded = ((size_t)fields_n + 7) / 8 * 8, rest = padded + body_n;
        d->in.len = 0;
        buf_put(&d->in, head, HEAD);
        uint8_t *room = buf_room(&d->in, rest ? rest : 1);
        if (!room || read_all(d->fd, room, rest) < 0)
                return -1;
        *a = (struct answer){.type = head[1]};
        const uint8_t *all = room - HEAD; /* fields are aligned from the beginning of the message */
        in = (struct dbus_in){
                .p = all, .n = HEAD + fields_n, .at = HEAD, .is_large = head[0] == 'B'};
        a->body = (struct dbus_in){.p = room + padded, .n = body_n, .is_large = head[0] == 'B'};
        d->error_name[0] = 0;
        return read_fields(&in, HEAD + fields_n, a, d->error_name, sizeof d->error_name);
}

int dbus_call(struct dbus *d, const char *to, const char *path, const char *interface,
              const char *member, const char *signature, const struct buf *body, struct dbus_in *in,
              struct err *err)
{
        _cleanup_buf_ struct buf fields = {0}, b = {0};
        uint32_t serial = ++d->serial;
        put_field(&fields, FIELD_PATH, "o", path);
        put_field(&fields, FIELD_INTERFACE, "s", interface);
        put_field(&fields, FIELD_MEMBER, "s", member);
        put_field(&fields, FIELD_TO, "s", to);
        if (*signature)
                put_field(&fields, FIELD_SIGNATURE, "g", signature);
        const uint8_t head[4] = {'l', CALL, 0, 1};
        buf_put(&b, head, sizeof head);
        dbus_put_u32(&b, body ? (uint32_t)body->len : 0);
        dbus_put_u32(&b, serial);
        dbus_put_u32(&b, (uint32_t)fields.len);
        buf_put(&b, fields.data, fields.len);
        dbus_align(&b, 8);
        if (body)
                buf_put(&b, body->data, body->len);
        d->error_name[0] = 0;
        if (b.is_broken || fields.is_broken || fdio_write_all(d->fd, b.data, b.len) < 0)
                return err_set(err, E_PROTO, "the session bus does not listen");
        for (int i = 0; i < OTHERS_MAX; i++) {
                struct answer a;
                if (read_message(d, &a) < 0) {
                        d->error_name[0] = 0;
                        return err_set(err, E_PROTO,
                                       "the session bus gave no answer that can be read");
                }
                if (a.reply_to != serial || (a.type != RETURN && a.type != ERROR))
                        continue;
                *in = a.body;
                return a.type == RETURN
                               ? 0
                               : err_set(err, E_REFUSED, "the keyring says %s", d->error_name);
        }
        return err_set(err, E_PROTO, "the session bus talks of other things");
}
