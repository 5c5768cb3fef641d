/* sup_ssh.c - see sup_ssh.h. Reads known_hosts and nothing else of ~/.ssh: the key itself goes from
 * its file through a pipe to the keeper (source.c). */
#include "session/sup_ssh.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/known_hosts.h"
#include "session/secrets.h"
#include "session/start.h"
#include "wire/door.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 4 << 20 };

bool sup_ssh_is(const struct rule_secret *s)
{
        for (size_t i = 0; i < s->forms_n; i++)
                if (s->forms[i].form == RULE_AS_SSH)
                        return true;
        return false;
}

void plan_ssh(struct session_plan *plan)
{
        for (size_t i = 0; i < plan->secrets.n && plan->box.has_door; i++) {
                const struct rule_secret *s = plan->secrets.v[i].line.secret;
                if (!sup_ssh_is(s))
                        continue;
                plan->box.has_ssh_agent = true;
                /* Also without a tcp rule: whoever forgets it is told of it by the door. */
                for (size_t k = 0; k < s->places_n; k++)
                        box_plan_port(&plan->box,
                                      s->places[k].port > 0 ? (uint16_t)s->places[k].port : 22);
        }
        if (plan->box.has_ssh_agent)
                strs_set_env(&plan->box.env, "SSH_AUTH_SOCK", DOOR_SSH_AGENT_PATH);
}

static void read_file(const char *path, struct buf *b)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        uint8_t some[65536];
        ssize_t n;
        while (fd >= 0 && b->len < FILE_MAX && (n = read(fd, some, sizeof some)) > 0)
                buf_put(b, some, (size_t)n);
}

/* find(place, home, h): in the files that ssh looks into by itself. */
static void find(const struct rule_place *p, const char *home, struct known_hosts *h)
{
        static const char *const names[] = {"~/.ssh/known_hosts", "~/.ssh/known_hosts2",
                                            "/etc/ssh/ssh_known_hosts",
                                            "/etc/ssh/ssh_known_hosts2"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                _cleanup_free_ char *path = names[i][0] == '~' ? str_fmt("%s%s", home, names[i] + 1)
                                                               : str_dup(names[i]);
                _cleanup_buf_ struct buf text = {0};
                read_file(path, &text);
                known_hosts_find(h, (const char *)text.data, text.len, p);
        }
        known_hosts_settle(h);
}

int sup_ssh_hosts(const struct session_secret *s, const char *home, struct buf *b, struct err *err)
{
        const struct rule_secret *line = s->line.secret;
        _cleanup_buf_ struct buf list = {0};
        uint32_t n = 0;
        for (size_t i = 0; i < line->places_n; i++) {
                _cleanup_known_hosts_ struct known_hosts h = {0};
                _cleanup_buf_ struct buf place = {0};
                rule_place_print(&line->places[i], &place);
                if (line->places[i].has_path)
                        return err_set(err, E_INPUT,
                                       "a key of ssh belongs to a host and not to a path: write "
                                       "%s without it",
                                       buf_cstr(&place));
                find(&line->places[i], home, &h);
                if (h.n == 0)
                        return err_set(err, E_INPUT,
                                       "no host key of %s is known, neither in ~/.ssh/known_hosts "
                                       "nor in /etc/ssh/ssh_known_hosts: connect to it once with "
                                       "ssh, or add the key that its owner publishes",
                                       buf_cstr(&place));
                for (size_t j = 0; j < h.n && n < DOOR_SSH_HOSTS_MAX; j++, n++) {
                        buf_put_lstr(&list, h.v[j].name);
                        buf_put_u32(&list, h.v[j].port);
                        buf_put_u32(&list, (uint32_t)h.v[j].key_len);
                        buf_put(&list, h.v[j].key, h.v[j].key_len);
                }
        }
        buf_put_u32(b, s->number);
        buf_put_u32(b, n);
        buf_put(b, list.data, list.len);
        return 0;
}

void sup_ssh_known_hosts(const struct session_secrets *all, const char *home, struct buf *b)
{
        for (size_t i = 0; i < all->n; i++) {
                const struct rule_secret *line = all->v[i].line.secret;
                for (size_t k = 0; sup_ssh_is(line) && k < line->places_n; k++) {
                        _cleanup_known_hosts_ struct known_hosts h = {0};
                        find(&line->places[k], home, &h);
                        for (size_t j = 0; j < h.n; j++) {
                                const struct known_host *x = &h.v[j];
                                _cleanup_free_ char *name = known_hosts_name(x->name, x->port);
                                buf_put_fmt(b, "%s %s %s\n", name, x->type, x->text);
                        }
                }
        }
}
