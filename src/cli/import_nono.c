/* import_nono.c - a profile of nono, key by key (read from its schema, November 2026). Values that it
 * takes from a keystore become secrets of the vault; what it inherits is not looked up. */
#include "cli/import.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <string.h>

/* path_of(value, &is_conditional): an entry is a path, or an object with a path and a "when". */
static const char *path_of(json_t *value, bool *is_conditional)
{
        *is_conditional = json_is_object(value) && json_object_get(value, "when");
        return json_string_value(json_is_object(value) ? json_object_get(value, "path") : value);
}

static int bind_all(struct import *im, json_t *value, const char *mode, struct err *err)
{
        size_t i;
        json_t *one;
        if (!json_is_array(value))
                return import_wrong(im, "a list of paths", err);
        json_array_foreach(value, i, one)
        {
                bool is_conditional;
                const char *path = path_of(one, &is_conditional);
                if (!path)
                        return import_wrong(im, "a list of paths", err);
                if (is_conditional)
                        import_left(im, "%s holds on some machines only (when)", path);
                else
                        import_bind(im, path, mode);
        }
        return 0;
}

static int take_rw(struct import *im, json_t *value, struct err *err)
{
        return bind_all(im, value, "rw", err);
}

static int take_ro(struct import *im, json_t *value, struct err *err)
{
        return bind_all(im, value, "ro", err);
}

static int take_block(struct import *im, json_t *value, struct err *err)
{
        (void)err;
        if (json_is_true(value))
                import_rule(im, "deny * *");
        return 0;
}

/* endpoints(im, host, list, err): objects with a method and a path pattern, as our rules have. */
static int endpoints(struct import *im, const char *host, json_t *list, struct err *err)
{
        size_t i;
        json_t *one;
        json_array_foreach(list, i, one)
        {
                const char *method = json_string_value(json_object_get(one, "method"));
                const char *path = json_string_value(json_object_get(one, "path"));
                if (!method || !path)
                        return import_wrong(im, "endpoints with a method and a path", err);
                import_rule(im, "allow %s %s%s", method, host, path);
        }
        return 0;
}

static int take_domains(struct import *im, json_t *value, struct err *err)
{
        size_t i;
        json_t *one;
        if (!json_is_array(value))
                return import_wrong(im, "a list of hosts", err);
        json_array_foreach(value, i, one)
        {
                const char *host = json_string_value(
                        json_is_object(one) ? json_object_get(one, "domain") : one);
                json_t *list = json_object_get(one, "endpoints");
                if (!host)
                        return import_wrong(im, "a list of hosts", err);
                if (json_array_size(list) == 0)
                        import_rule(im, "allow * %s", host);
                else if (endpoints(im, host, list, err) < 0)
                        return -1;
        }
        return 0;
}

static int deny_host(struct import *im, const char *host, struct err *err)
{
        (void)err;
        import_rule(im, "deny * %s", host);
        return 0;
}

static int take_denied(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, deny_host, err);
}

/* source_of(key): where the value comes from, as our line says it; NULL when we cannot ask there. */
static char *source_of(const char *key)
{
        if (str_starts(key, "env://"))
                return str_fmt("env %s", key + strlen("env://"));
        if (str_starts(key, "file://"))
                return str_fmt("file %s", key + strlen("file://"));
        return strstr(key, "://") ? NULL : str_fmt("vault %s", key);
}

/* form_of(def): where the value stands in a request. */
static char *form_of(json_t *def)
{
        const char *mode = json_string_value(json_object_get(def, "inject_mode"));
        const char *header = json_string_value(json_object_get(def, "inject_header"));
        const char *query = json_string_value(json_object_get(def, "query_param_name"));
        if (mode && strcmp(mode, "basic_auth") == 0)
                return str_dup("basic");
        if (mode && strcmp(mode, "url_path") == 0)
                return str_dup("path");
        if (mode && strcmp(mode, "query_param") == 0)
                return query ? str_fmt("query %s", query) : NULL;
        if (!header || strcasecmp(header, "authorization") == 0)
                return str_dup("bearer");
        return str_fmt("header %s", header);
}

static int take_credential(struct import *im, const char *name, json_t *def, struct err *err)
{
        const char *upstream = json_string_value(json_object_get(def, "upstream"));
        const char *key = json_string_value(json_object_get(def, "credential_key"));
        const char *variable = json_string_value(json_object_get(def, "env_var"));
        if (!upstream)
                return import_wrong(im, "an upstream for each credential", err);
        if (!str_starts(upstream, "https://") || !key) {
                import_left(im, "%s: it has no credential_key, or no https upstream", name);
                return 0;
        }
        const char *at = upstream + strlen("https://");
        _cleanup_free_ char *host = str_fmt("%.*s", (int)strcspn(at, "/"), at);
        _cleanup_free_ char *source = source_of(key), *form = form_of(def);
        if (!source || !form) {
                import_left(im,
                            "%s: %s cannot be asked here; put the value into the vault: "
                            "ostiary secret set NAME",
                            name, key);
                return 0;
        }
        if (!variable)
                variable = str_starts(key, "env://") ? key + strlen("env://") : name;
        import_rule(im, "secret %s from %s at %s as %s", variable, source, host, form);
        json_t *list = json_object_get(def, "endpoint_rules");
        if (json_array_size(list))
                return endpoints(im, host, list, err);
        import_rule(im, "allow * %s", host);
        return 0;
}

static int take_credentials(struct import *im, json_t *value, struct err *err)
{
        const char *name;
        json_t *def;
        if (!json_is_object(value))
                return import_wrong(im, "an object", err);
        json_object_foreach(value, name,
                            def) if (take_credential(im, name, def, err) < 0) return -1;
        return 0;
}

static int pass_variable(struct import *im, const char *name, struct err *err)
{
        (void)err;
        if (strpbrk(name, "*?[ \t\n"))
                import_left(im, "%s is a pattern; name the variables: --env NAME", name);
        else
                strs_addf(&im->profile, "pass    %s", name);
        return 0;
}

static int take_passed(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, pass_variable, err);
}

/* with_marks(value): $HOME and $WORKDIR as a profile writes them. */
static char *with_marks(const char *value)
{
        if (str_starts(value, "$HOME"))
                return str_fmt("%%HOME%%%s", value + strlen("$HOME"));
        if (str_starts(value, "$WORKDIR"))
                return str_fmt("%%WORKSPACE%%%s", value + strlen("$WORKDIR"));
        return str_dup(value);
}

static int take_set(struct import *im, json_t *value, struct err *err)
{
        const char *name;
        json_t *one;
        if (!json_is_object(value))
                return import_wrong(im, "an object of strings", err);
        json_object_foreach(value, name, one)
        {
                if (!json_is_string(one))
                        return import_wrong(im, "an object of strings", err);
                _cleanup_free_ char *filled = with_marks(json_string_value(one));
                _cleanup_free_ char *pair = str_fmt("%s=%s", name, filled);
                _cleanup_free_ char *word = import_word(pair);
                strs_addf(&im->profile, "env     %s", word);
        }
        return 0;
}

static int take_about(struct import *im, json_t *value, struct err *err)
{
        (void)err;
        if (json_is_string(value) && !strchr(json_string_value(value), '\n'))
                im->about = str_dup(json_string_value(value));
        return 0;
}

static int take_binary(struct import *im, json_t *value, struct err *err)
{
        if (!json_is_string(value))
                return import_wrong(im, "a string", err);
        _cleanup_free_ char *word = import_word(json_string_value(value));
        strs_addf(&im->profile, "command %s", word);
        return 0;
}

static int add_argument(struct import *im, const char *text, struct err *err)
{
        (void)err;
        _cleanup_free_ char *word = import_word(text);
        strs_addf(&im->profile, "args    %s", word);
        return 0;
}

static int take_arguments(struct import *im, json_t *value, struct err *err)
{
        return import_strings(im, value, add_argument, err);
}

static const char host_sockets[] = "no socket of the host is in a box";
static const char bound[] =
        "a value is never in a box; bind it to its host: secret NAME from vault at HOST as bearer";
static const char loopback[] = "a box has a loopback of its own";
static const char proxy[] = "say it when a box starts: --upstream-proxy URL";
static const char approvals[] = "questions are asked in the terminal and by ostiary approvals";
static const char mac[] = "it is about macOS";
static const char own[] = "it is about the tool itself";
static const char names_only[] = "it is a name of nono's own list; allow the hosts themselves";
static const char undo_words[] = "every change can be taken back: ostiary undo";

static const struct import_row rows[] = {
        {.key = "$schema", .held = "it is for editors"},
        {.key = "extends", .why = "what it inherits is not carried over; import that profile too"},
        {.key = "meta"},
        {.key = "meta.name", .held = "the profile has the name that you give it"},
        {.key = "meta.version", .held = "it is for people"},
        {.key = "meta.description", .take = take_about},
        {.key = "meta.author", .held = "it is for people"},
        {.key = "security"},
        {.key = "security.signal_mode", .held = "a box sees only its own processes"},
        {.key = "security.process_info_mode", .held = "a box sees only its own processes"},
        {.key = "security.ipc_mode", .held = "a box has shared memory of its own"},
        {.key = "security.capability_elevation", .why = "files are shown when the box starts"},
        {.key = "security.approval_backends", .why = approvals},
        {.key = "security.approval_defaults", .why = approvals},
        {.key = "security.wsl2_proxy_policy", .why = own},
        {.key = "groups", .why = names_only},
        {.key = "commands", .why = "a program is not refused by its name"},
        {.key = "filesystem"},
        {.key = "filesystem.allow", .take = take_rw},
        {.key = "filesystem.read", .take = take_ro},
        {.key = "filesystem.write", .take = take_rw},
        {.key = "filesystem.allow_file", .take = take_rw},
        {.key = "filesystem.read_file", .take = take_ro},
        {.key = "filesystem.write_file", .take = take_rw},
        {.key = "filesystem.unix_socket", .why = host_sockets},
        {.key = "filesystem.unix_socket_bind", .why = host_sockets},
        {.key = "filesystem.unix_socket_dir", .why = host_sockets},
        {.key = "filesystem.unix_socket_dir_bind", .why = host_sockets},
        {.key = "filesystem.unix_socket_subtree", .why = host_sockets},
        {.key = "filesystem.unix_socket_subtree_bind", .why = host_sockets},
        {.key = "filesystem.deny",
         .held = "a box sees the tools and the workspace, and nothing of your home"},
        {.key = "filesystem.bypass_protection", .why = "no wall can be left out"},
        {.key = "filesystem.suppress_save_prompt", .why = own},
        {.key = "filesystem.ignore", .why = own},
        {.key = "network"},
        {.key = "network.block", .take = take_block},
        {.key = "network.allow_http2", .held = "HTTP/2 is spoken wherever both sides do"},
        {.key = "network.network_profile", .why = names_only},
        {.key = "network.allow_domain", .take = take_domains},
        {.key = "network.proxy_allow", .take = take_domains},
        {.key = "network.allow_proxy", .take = take_domains},
        {.key = "network.deny_domain", .take = take_denied},
        {.key = "network.credentials", .why = bound},
        {.key = "network.proxy_credentials", .why = bound},
        {.key = "network.custom_credentials", .take = take_credentials},
        {.key = "network.open_port", .held = loopback},
        {.key = "network.open_port_range", .held = loopback},
        {.key = "network.port_allow", .held = loopback},
        {.key = "network.allow_port", .held = loopback},
        {.key = "network.listen_port", .held = loopback},
        {.key = "network.listen_port_range", .held = loopback},
        {.key = "network.connect_port", .why = "a port belongs to a host: tcp HOST:PORT"},
        {.key = "network.no_proxy", .why = "nothing leaves a box but through its door"},
        {.key = "network.tls_intercept", .held = "every box has an authority of its own"},
        {.key = "network.upstream_proxy", .why = proxy},
        {.key = "network.external_proxy", .why = proxy},
        {.key = "network.upstream_bypass", .why = proxy},
        {.key = "network.external_proxy_bypass", .why = proxy},
        {.key = "network.approval_backends", .why = approvals},
        {.key = "network.approval_defaults", .why = approvals},
        {.key = "diagnostics", .why = own},
        {.key = "linux", .why = own},
        {.key = "env_credentials", .why = bound},
        {.key = "secrets", .why = bound},
        {.key = "environment"},
        {.key = "environment.allow_vars", .take = take_passed},
        {.key = "environment.deny_vars", .held = "a box gets only the variables that are named"},
        {.key = "environment.case_insensitive_vars", .why = own},
        {.key = "environment.set_vars", .take = take_set},
        {.key = "command_policies", .why = "everything in a box is behind the same walls"},
        {.key = "workdir", .held = "the workspace can be read and written, as a copy"},
        {.key = "hooks", .why = "no program of the host is run for a box"},
        {.key = "session_hooks", .why = "no program of the host is run for a box"},
        {.key = "rollback", .held = undo_words},
        {.key = "undo", .held = undo_words},
        {.key = "open_urls", .why = "an agent's login prints its address for you to open"},
        {.key = "allow_launch_services", .why = mac},
        {.key = "allow_gpu", .why = "a box has no GPU"},
        {.key = "interactive", .held = "a box has a terminal"},
        {.key = "packs", .why = names_only},
        {.key = "command_args", .take = take_arguments},
        {.key = "credential_capture", .why = bound},
        {.key = "credential_providers", .why = "logins of the known agents are kept outside"},
        {.key = "credential_routes", .why = "logins of the known agents are kept outside"},
        {.key = "unsafe_macos_seatbelt_rules", .why = mac},
        {.key = "allow_parent_of_protected", .why = mac},
        {.key = "skipdirs", .why = own},
        {.key = "binary", .take = take_binary},
        {.key = "platform_overrides", .why = "write a profile for each kind of machine"},
        {0},
};

const struct import_format import_nono = {
        .name = "nono", .what = "a profile of nono", .rows = rows};
