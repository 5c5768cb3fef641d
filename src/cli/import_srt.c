/* import_srt.c - the settings of Anthropic's sandbox-runtime, key by key (read from its schema,
 * November 2026). */
#include "cli/import.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <string.h>

static int allow_domain(struct import *im, const char *host, struct err *err)
{
        (void)err;
        const char *colon = strrchr(host, ':');
        if (colon && strcmp(colon, ":22") == 0)
                import_rule(im, "tcp %s", host);
        else
                import_rule(im, "allow * %s", host);
        return 0;
}

static int take_allowed(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, allow_domain, err);
}

/* reason_of(im, host): what deniedDomainReasons says of it, as an option; "" without. */
static char *reason_of(const struct import *im, const char *host)
{
        json_t *network = json_object_get(im->top, "network");
        json_t *reasons = json_object_get(network, "deniedDomainReasons");
        const char *said = json_string_value(json_object_get(reasons, host));
        if (!said || strpbrk(said, "\"\n"))
                return str_dup("");
        return str_fmt(" reason=\"%s\"", said);
}

static int deny_domain(struct import *im, const char *host, struct err *err)
{
        (void)err;
        _cleanup_free_ char *reason = reason_of(im, host);
        import_rule(im, "deny * %s%s", host, reason);
        return 0;
}

static int take_denied(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, deny_domain, err);
}

static int splice_domain(struct import *im, const char *host, struct err *err)
{
        (void)err;
        import_rule(im, "splice %s", host);
        return 0;
}

static int take_excluded(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, splice_domain, err);
}

static int bind_ro(struct import *im, const char *path, struct err *err)
{
        (void)err;
        import_bind(im, path, "ro");
        return 0;
}

static int bind_rw(struct import *im, const char *path, struct err *err)
{
        (void)err;
        import_bind(im, path, "rw");
        return 0;
}

static int take_read(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, bind_ro, err);
}

static int take_write(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, bind_rw, err);
}

/* take_hosts(im, entry, places): the injectHosts, with commas; 0 when there are none. */
static int take_hosts(json_t *entry, struct buf *places)
{
        size_t i;
        json_t *host;
        json_array_foreach(json_object_get(entry, "injectHosts"), i, host) if (json_is_string(host))
                buf_put_fmt(places, "%s%s", places->len ? "," : "", json_string_value(host));
        return places->len > 0;
}

static int take_variable(struct import *im, json_t *entry, struct err *err)
{
        static const char *const known[] = {
                "name",   "mode",       "injectHosts",      "extract",
                "decode", "maskClaims", "onExtractNoMatch", "maskDuplicates",
                NULL};
        const char *name = json_string_value(json_object_get(entry, "name"));
        const char *mode = json_string_value(json_object_get(entry, "mode"));
        const char *key;
        json_t *value;
        if (!name || !mode || (strcmp(mode, "deny") != 0 && strcmp(mode, "mask") != 0))
                return import_wrong(im, "entries with a name and a mode, deny or mask", err);
        json_object_foreach(entry, key, value)
        {
                size_t i = 0;
                while (known[i] && strcmp(known[i], key) != 0)
                        i++;
                if (!known[i])
                        return err_set(err, E_INPUT,
                                       "the key \"%s\" of %s is none of srt's, so nothing was "
                                       "written",
                                       key, im->key);
        }
        if (strcmp(mode, "deny") == 0) {
                import_held(im, "%s is not in a box unless somebody gives it", name);
                return 0;
        }
        _cleanup_buf_ struct buf places = {0};
        if (json_object_get(entry, "extract") || json_object_get(entry, "decode"))
                import_left(im, "%s: only whole values are secrets here", name);
        else if (!take_hosts(entry, &places))
                import_left(im,
                            "%s: a secret is bound to hosts that are named: secret %s from env at "
                            "HOST as bearer",
                            name, name);
        else
                import_rule(im, "secret %s from env at %s as bearer,basic", name,
                            buf_cstr(&places));
        return 0;
}

static int take_variables(struct import *im, json_t *value, struct err *err)
{
        size_t i;
        json_t *entry;
        if (!json_is_array(value))
                return import_wrong(im, "a list", err);
        json_array_foreach(value, i, entry) if (take_variable(im, entry, err) < 0) return -1;
        return 0;
}

static const char mac[] = "it is about macOS";
static const char own[] = "it is about the tool itself";

static const struct import_row rows[] = {
        {.key = "network"},
        {.key = "network.allowedDomains", .take = take_allowed},
        {.key = "network.deniedDomains", .take = take_denied},
        {.key = "network.deniedDomainReasons", .held = "they stand beside the refusals"},
        {.key = "network.strictAllowlist", .why = "say it when a box starts: --level strict"},
        {.key = "network.allowAllDomains",
         .why = "no rule grants every host; --level learn lets all pass and writes it down"},
        {.key = "network.allowUnixSockets", .why = mac},
        {.key = "network.allowAllUnixSockets", .why = "no socket of the host is in a box"},
        {.key = "network.allowLocalBinding", .held = "a box has a loopback of its own"},
        {.key = "network.allowMachLookup", .why = mac},
        {.key = "network.httpProxyPort", .why = own},
        {.key = "network.socksProxyPort", .why = own},
        {.key = "network.mitmProxy",
         .why = "requests leave by one proxy for all hosts: --upstream-proxy URL"},
        {.key = "network.parentProxy", .why = "say it when a box starts: --upstream-proxy URL"},
        {.key = "network.tlsTerminate"},
        {.key = "network.tlsTerminate.caCertPath", .why = "every box has an authority of its own"},
        {.key = "network.tlsTerminate.caKeyPath", .why = "every box has an authority of its own"},
        {.key = "network.tlsTerminate.excludeDomains", .take = take_excluded},
        {.key = "network.tlsTerminate.extraCaCertPaths",
         .why = "say it beside the host: allow * HOST ca=FILE"},
        {.key = "filesystem"},
        {.key = "filesystem.disabled", .why = "a box never has the whole filesystem"},
        {.key = "filesystem.denyRead",
         .held = "a box sees the tools and the workspace, and nothing of your home"},
        {.key = "filesystem.allowRead", .take = take_read},
        {.key = "filesystem.allowWrite", .take = take_write},
        {.key = "filesystem.denyWrite",
         .held = "nothing reaches the project without ostiary apply, which asks for such files"},
        {.key = "filesystem.allowGitConfig", .why = "apply asks for it: ostiary apply --yes=CLASS"},
        {.key = "credentials"},
        {.key = "credentials.files",
         .held = "files with keys are not in a box; those of the workspace are masked"},
        {.key = "credentials.envVars", .take = take_variables},
        {.key = "credentials.allowPlaintextInject",
         .why = "say plain in the line of the secret if you mean it"},
        {.key = "credentials.awsPairs",
         .why = "one line does it: secret AWS from aws at HOST as sigv4"},
        {.key = "credentials.sigv4", .held = "chunked and presigned requests are signed anew"},
        {.key = "ignoreViolations", .why = own},
        {.key = "enableWeakerNestedSandbox", .why = "no wall can be left out"},
        {.key = "enableWeakerNetworkIsolation", .why = mac},
        {.key = "allowAppleEvents", .why = mac},
        {.key = "ripgrep", .why = own},
        {.key = "mandatoryDenySearchDepth", .why = own},
        {.key = "allowPty", .held = "a box has terminals of its own"},
        {.key = "seccomp", .why = own},
        {.key = "bwrapPath", .why = own},
        {.key = "socatPath", .why = own},
        {.key = "windows", .why = "it is about Windows"},
        {.key = "git", .held = "the workspace belongs to you in a box as well"},
        {0},
};

const struct import_format import_srt = {.name = "srt", .what = "srt's settings", .rows = rows};
