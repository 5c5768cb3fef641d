/* etc_list.c - see etc_list.h. Read by the step that builds /etc, and printed by explain.
 *
 * What may never get in here: shadow, gshadow, sudoers, fstab, crypttab, machine-id, ssh,
 * krb5.keytab, the whole of ssl (it holds private/), apt (auth.conf), docker, kubernetes,
 * NetworkManager, wpa, environment, security, pam.d, cron, our own policy; npmrc, pip.conf, netrc
 * and wgetrc may hold tokens. A test looks for them. */
#include "policy/etc_list.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

const struct etc_entry etc_list[] = {
        {"ImageMagick-*", ETC_DIR, "image tools"},
        {"X11/rgb.txt", ETC_FILE, "colour names"},
        {"adjtime", ETC_FILE, "time zone"},
        {"almalinux-release", ETC_FILE, "which system this is"},
        {"alpine-release", ETC_FILE, "which system this is"},
        {"alternatives", ETC_DIR, "links from /usr/bin lead through it"},
        {"arch-release", ETC_FILE, "which system this is"},
        {"asciidoc", ETC_DIR, "document tools"},
        {"bash.bashrc", ETC_FILE, "the shell"},
        {"bash_completion.d", ETC_DIR, "the shell"},
        {"bashrc", ETC_FILE, "the shell"},
        {"bindresvport.blacklist", ETC_FILE, "network tables"},
        {"ca-certificates", ETC_DIR, "certificates of authorities"},
        {"ca-certificates.conf", ETC_FILE, "certificates of authorities"},
        {"centos-release", ETC_FILE, "which system this is"},
        {"chromium.d", ETC_DIR, "browsers: the flags that Debian starts it with"},
        {"clang", ETC_DIR, "compilers"},
        {"crypto-policies", ETC_DIR, "which ciphers TLS libraries use"},
        {"csh.cshrc", ETC_FILE, "the shell"},
        {"debian_version", ETC_FILE, "which system this is"},
        {"default/keyboard", ETC_FILE, "keyboard layout"},
        {"default/locale", ETC_FILE, "language"},
        {"emacs", ETC_DIR, "editors"},
        {"environment-modules", ETC_DIR, "the shell"},
        {"ethertypes", ETC_FILE, "network tables"},
        {"fedora-release", ETC_FILE, "which system this is"},
        {"fish", ETC_DIR, "the shell"},
        {"fonts", ETC_DIR, "fonts"},
        {"fpc*.cfg", ETC_FILE, "compilers"},
        {"gai.conf", ETC_FILE, "network tables"},
        {"gdb", ETC_DIR, "debugger"},
        {"ghostscript", ETC_DIR, "document tools"},
        {"gitattributes", ETC_FILE, "git"},
        {"gnucobol", ETC_DIR, "compilers"},
        {"gprofng.rc", ETC_FILE, "profiler"},
        {"groff", ETC_DIR, "manual pages"},
        {"gtk-*", ETC_DIR, "toolkits"},
        {"highlight", ETC_DIR, "document tools"},
        {"host.conf", ETC_FILE, "network tables"},
        {"inputrc", ETC_FILE, "line editing"},
        {"java*", ETC_DIR, "Java: links from its home lead through it"},
        {"ld.so.cache", ETC_FILE, "where libraries are"},
        {"ld.so.conf", ETC_FILE, "where libraries are"},
        {"ld.so.conf.d", ETC_DIR, "where libraries are"},
        {"libnl-3", ETC_DIR, "network tables"},
        {"libreoffice", ETC_DIR, "document tools"},
        {"locale.alias", ETC_FILE, "language"},
        {"locale.conf", ETC_FILE, "language"},
        {"localtime", ETC_FILE, "time zone"},
        {"lsb-release", ETC_FILE, "which system this is"},
        {"lua", ETC_DIR, "language runtimes"},
        {"lynx", ETC_DIR, "text browser"},
        {"magic", ETC_FILE, "file types"},
        {"magic.mime", ETC_FILE, "file types"},
        {"mailcap", ETC_FILE, "file types"},
        {"mailcap.order", ETC_FILE, "file types"},
        {"man_db.conf", ETC_FILE, "manual pages"},
        {"manpath.config", ETC_FILE, "manual pages"},
        {"maven/logging", ETC_DIR, "build tools; settings.xml stays out, it may hold passwords"},
        {"maven/m2.conf", ETC_FILE, "build tools"},
        {"mercurial", ETC_DIR, "version control"},
        {"mime.types", ETC_FILE, "file types"},
        {"mke2fs.conf", ETC_FILE, "file system tools"},
        {"mono", ETC_DIR, "language runtimes"},
        {"nanorc", ETC_FILE, "editors"},
        {"netconfig", ETC_FILE, "network tables"},
        {"networks", ETC_FILE, "network tables"},
        {"nsswitch.conf", ETC_FILE, "network tables"},
        {"openal", ETC_DIR, "toolkits"},
        {"openmpi*", ETC_DIR, "parallel programs"},
        {"os-release", ETC_FILE, "which system this is"},
        {"papersize", ETC_FILE, "document tools"},
        {"perl", ETC_DIR, "language runtimes"},
        {"php*", ETC_DIR, "language runtimes"},
        {"pkcs11", ETC_DIR, "certificates of authorities"},
        {"pki/ca-trust", ETC_DIR, "certificates of authorities"},
        {"pki/java", ETC_DIR, "certificates of authorities"},
        {"pki/tls/cert.pem", ETC_FILE, "certificates of authorities"},
        {"pki/tls/certs", ETC_DIR, "certificates of authorities"},
        {"pki/tls/openssl.cnf", ETC_FILE, "TLS settings"},
        {"profile", ETC_FILE, "the shell"},
        {"profile.d", ETC_DIR, "the shell"},
        {"protocols", ETC_FILE, "network tables"},
        {"python", ETC_DIR, "language runtimes"},
        {"python2*", ETC_DIR, "language runtimes"},
        {"python3*", ETC_DIR, "language runtimes"},
        {"redhat-release", ETC_FILE, "which system this is"},
        {"rpc", ETC_FILE, "network tables"},
        {"ruby*", ETC_DIR, "language runtimes"},
        {"screenrc", ETC_FILE, "terminals"},
        {"services", ETC_FILE, "network tables"},
        {"sgml", ETC_DIR, "document tools"},
        {"shells", ETC_FILE, "the shell"},
        {"skel", ETC_DIR, "the shell"},
        {"ssl/ca-bundle.pem", ETC_FILE, "certificates of authorities"},
        {"ssl/cert.pem", ETC_FILE, "certificates of authorities"},
        {"ssl/certs", ETC_DIR, "certificates of authorities"},
        {"ssl/openssl.cnf", ETC_FILE, "TLS settings"},
        {"system-release", ETC_FILE, "which system this is"},
        {"terminfo", ETC_DIR, "terminals"},
        {"texmf", ETC_DIR, "document tools"},
        {"timezone", ETC_FILE, "time zone"},
        {"tmux.conf", ETC_FILE, "terminals"},
        {"vim", ETC_DIR, "editors"},
        {"vimrc", ETC_FILE, "editors"},
        {"xattr.conf", ETC_FILE, "file system tools"},
        {"xml", ETC_DIR, "document tools"},
        {"zsh", ETC_DIR, "the shell"},
        {"zshrc", ETC_FILE, "the shell"},
        {NULL, ETC_FILE, NULL},
};

bool etc_list_matches(const char *pattern, const char *name)
{
        /* Asked some ten thousand times at each start: nearly all differ in their first letter. */
        if (pattern[0] != name[0] && pattern[0] != '*')
                return false;
        if (!strchr(pattern, '*'))
                return strcmp(pattern, name) == 0;
        return fnmatch(pattern, name, FNM_PATHNAME | FNM_PERIOD) == 0;
}

bool etc_list_allows(const char *path)
{
        for (const struct etc_entry *e = etc_list; e->name; e++) {
                if (e->name[0] != path[0])
                        continue;
                /* As many components of the path as the entry has. */
                size_t depth = 1, n = 0;
                for (const char *p = e->name; *p; p++)
                        depth += *p == '/';
                char head[512];
                while (path[n] && (path[n] != '/' || --depth > 0))
                        n++;
                if (n >= sizeof head)
                        continue;
                memcpy(head, path, n);
                head[n] = 0;
                if (etc_list_matches(e->name, head) && (path[n] == 0 || e->kind == ETC_DIR))
                        return true;
        }
        return false;
}

bool etc_list_holds(const char *dir)
{
        size_t n = strlen(dir);
        for (const struct etc_entry *e = etc_list; e->name; e++)
                if (strncmp(e->name, dir, n) == 0 && e->name[n] == '/')
                        return true;
        return false;
}
