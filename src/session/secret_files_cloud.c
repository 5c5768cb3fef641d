/* secret_files_cloud.c - what clients of AWS and Google read: ~/.aws/credentials, ~/.aws/config and
 * a service account's JSON whose private key is nobody's. Called by secret_files.c. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/secret_files_int.h"

#include <stdlib.h>
#include <string.h>

static void put_keys(struct buf *b, const char *profile, const struct session_secret *s)
{
        const char *token = session_secret_part(s, "token");
        buf_put_fmt(b, "[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n", profile,
                    session_secret_part(s, "id"), session_secret_part(s, "key"));
        if (token && *token)
                buf_put_fmt(b, "aws_session_token = %s\n", token);
}

/* The host's region for a profile, which is no secret; the caller frees, NULL when it says none. */
static char *host_region(struct secret_files *f, const char *profile)
{
        size_t len;
        _cleanup_free_ char *text =
                f->run.host_fd < 0 ? NULL : seed_read(&f->run, ".aws/config", 64 << 10, &len);
        _cleanup_free_ char *head = strcmp(profile, "default") == 0
                                            ? str_dup("[default]")
                                            : str_fmt("[profile %s]", profile);
        bool is_here = false;
        for (char *at = text, *line; at && (line = strsep(&at, "\n"));) {
                line += strspn(line, " \t");
                if (line[0] == '[')
                        is_here = str_starts(line, head);
                char *eq = strchr(line, '=');
                if (!is_here || !eq || strncmp(line, "region", 6) != 0)
                        continue;
                char *value = eq + 1 + strspn(eq + 1, " \t");
                size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-");
                return n ? str_fmt("%.*s", (int)n, value) : NULL;
        }
        return NULL;
}

static void put_config(struct secret_files *f, struct buf *b, const char *profile,
                       const struct session_secret *s)
{
        const char *said = s->line.secret->region;
        _cleanup_free_ char *region =
                said && !strpbrk(said, "*,?") ? str_dup(said) : host_region(f, profile);
        if (region && strcmp(profile, "default") == 0)
                buf_put_fmt(b, "[default]\nregion = %s\n", region);
        else if (region)
                buf_put_fmt(b, "[profile %s]\nregion = %s\n", profile, region);
}

static const char *profile_of(const struct session_secret *s)
{
        const struct rule_secret *r = s->line.secret;
        bool is_named = r->source == RULE_FROM_AWS && r->source_arg && *r->source_arg;
        return is_named && !strpbrk(r->source_arg, "[]\n") ? r->source_arg : "default";
}

static int aws(struct secret_files *f)
{
        _cleanup_buf_ struct buf keys = {0};
        _cleanup_buf_ struct buf config = {0};
        _cleanup_strs_ struct strs profiles = {0};
        const struct session_secret *first = NULL;
        for (size_t i = 0; i < f->plan->secrets.n; i++) {
                const struct session_secret *s = &f->plan->secrets.v[i];
                const char *profile = profile_of(s);
                if (!session_secret_part(s, "id") || !session_secret_part(s, "key") ||
                    strs_has(&profiles, profile))
                        continue;
                first = first ? first : s;
                strs_add(&profiles, profile);
                put_keys(&keys, profile, s);
                put_config(f, &config, profile, s);
        }
        /* A program that names no profile gets the only one there is. */
        if (first && !strs_has(&profiles, "default")) {
                put_keys(&keys, "default", first);
                _cleanup_free_ char *region = host_region(f, profile_of(first));
                if (region && !first->line.secret->region)
                        buf_put_fmt(&config, "[default]\nregion = %s\n", region);
                else
                        put_config(f, &config, "default", first);
        }
        if (keys.len && secret_files_put(f, ".aws/credentials", &keys) < 0)
                return -1;
        return config.len ? secret_files_put(f, ".aws/config", &config) : 0;
}

static int gcp(struct secret_files *f)
{
        bool is_set = false;
        for (size_t i = 0; i < f->plan->secrets.n; i++) {
                const struct session_secret *s = &f->plan->secrets.v[i];
                const char *json = session_secret_part(s, "account");
                if (!secret_files_has(s, RULE_AS_GCP) || !json || json[0] != '{')
                        continue;
                _cleanup_buf_ struct buf b = {0};
                _cleanup_free_ char *path =
                        str_fmt(".config/gcloud/ostiary-%s.json", s->line.secret->name);
                _cleanup_free_ char *there = str_fmt("%s/%s", f->plan->box.home, path);
                buf_put_str(&b, json);
                if (secret_files_put(f, path, &b) < 0)
                        return -1;
                if (!is_set)
                        strs_set_env(&f->plan->box.env, "GOOGLE_APPLICATION_CREDENTIALS", there);
                is_set = true;
        }
        return 0;
}

int secret_files_cloud(struct secret_files *f)
{
        return aws(f) < 0 || gcp(f) < 0 ? -1 : 0;
}
