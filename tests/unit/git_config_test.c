/* git_config_test.c - git's configuration grammar, and which texts may change without a question:
 * each key that runs, includes or fetches something, in each spelling that git accepts. */
#include "policy/file_class.h"
#include "policy/git_config.h"
#include "unit/check.h"

#include <stdlib.h>

static const char base[] = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = "
                           "false\n\tlogallrefupdates = true\n";

/* Added to the text above: is it plain? */
static const struct {
        const char *text;
        const char *why; /* NULL: plain */
} added[] = {
        {"", NULL},
        {"# a comment with core.hooksPath = x\n", NULL},
        {"; [alias]\n", NULL},
        {"[branch \"main\"]\n remote = origin\n merge = refs/heads/main\n", NULL},
        {"[branch \"a.b/c\"]\n remote = origin\n merge = refs/heads/a\n rebase = true\n", NULL},
        {"[user]\n name = A\n email = a@b\n", NULL},
        {"[pull]\n rebase = true\n[push]\n default = simple\n autoSetupRemote\n", NULL},
        {"[color \"diff\"]\n meta = yellow\n[color]\n ui = auto\n", NULL},
        {"[advice]\n detachedHead = false\n", NULL},
        {"[remote \"o\"]\n fetch = +refs/heads/*:refs/remotes/o/*\n", NULL},
        {"[diff]\n algorithm = histogram\n", NULL},
        {"[init]\n defaultBranch = main\n", NULL},
        {"[rerere]\n enabled = true\n", NULL},
        {"[core]\n bare = no\n", NULL},
        {"[submodule \"x\"]\n branch = main\n", NULL},
        {"[gc]\n auto = 0\n", NULL},
        {"[lfs]\n repositoryformatversion = 0\n", NULL},
        {"[diff \"x\"]\n xfuncname = \"^a\"\n", NULL},

        {"[core]\n hooksPath = x\n", "core.hooksPath"},
        {"[CORE]\n HOOKSPATH = x\n", "core.hooksPath"},
        {"[core] hooksPath = x", "core.hooksPath"},
        {"[core]hookspath=x", "core.hooksPath"},
        {"[ core]\nhookspath=x", "cannot be read"},
        {"[core]\n hooksPath\n", "core.hooksPath"},
        {"[core]\n hooks\\\nPath = x\n", "cannot be read"},
        {"[core]\r\n\thooksPath = x\r\n", "core.hooksPath"},
        {"[core]\n a-b = 1\n", "core.a-b"},
        {"[user]\n name = a \\\n [core]\n hooksPath = x\n", "user.hookspath"},
        {"[user]\n name = \"a # b\" # c \\\n[core] fsmonitor = x", "core.fsmonitor"},
        {"[user]\n name = a ; \\\n[core] fsmonitor = x", "core.fsmonitor"},
        {"[user]\n name = \"a\\\n[core] fsmonitor = x\"\n", NULL},
        {"[user]\n name = \"a\n[core] fsmonitor = x\n", "cannot be read"},
        {"\xef\xbb\xbf[core]\n", "cannot be read"},
        {"[core]\n fsmonitor = true\n", "core.fsmonitor"},
        {"[core]\n sshCommand = x\n", "core.sshCommand"},
        {"[core]\n editor = x\n", "core.editor"},
        {"[core]\n pager = x\n", "core.pager"},
        {"[core]\n askPass = x\n", "core.askPass"},
        {"[core]\n gitProxy = x\n", "core.gitProxy"},
        {"[core]\n attributesFile = x\n", "core.attributesFile"},
        {"[core]\n excludesFile = x\n", "core.excludesFile"},
        {"[core]\n worktree = /\n", "core.worktree"},
        {"[core]\n bare = true\n", "core.bare"},
        {"[core]\n bare\n", "core.bare"},
        {"[core]\n alternateRefsCommand = x\n", "core.alternateRefsCommand"},
        {"[core]\n repositoryformatversion = 99\n", "core.repositoryFormatVersion"},
        {"[core \"\"]\n filemode = x\n", "core..filemode"},
        {"[core \"x\"]\n filemode = x\n", "core.x.filemode"},
        {"[core.x]\n filemode = x\n", "core.x.filemode"},
        {"[filter \"x\"]\n clean = a\n", "filter.x.clean"},
        {"[filter \"x\"]\n smudge = a\n", "filter.x.smudge"},
        {"[filter \"x\"]\n process = a\n", "filter.x.process"},
        {"[filter \"x\"]\n required = true\n", "filter.x.required"},
        {"[filter.x]\n clean = a\n", "filter.x.clean"},
        {"[FILTER \"a\\\"b\"]\n clean = a\n", "filter.a"},
        {"[filter   \"x\"]\n clean = a\n", "filter.x.clean"},
        {"[filter\t\"x\"] clean = a\n", "filter.x.clean"},
        {"[filter \"x\" ]\n clean = a\n", "cannot be read"},
        {"[diff]\n external = a\n", "diff.external"},
        {"[diff \"x\"]\n command = a\n", "diff.x.command"},
        {"[diff \"x\"]\n textconv = a\n", "diff.x.textconv"},
        {"[diff]\n tool = a\n", "diff.tool"},
        {"[merge \"x\"]\n driver = a\n", "merge.x.driver"},
        {"[merge]\n tool = a\n", "merge.tool"},
        {"[alias]\n st = status\n", "alias.st"},
        {"[alias]\n x = !id\n", "alias.x"},
        {"[alias \"x\"]\n command = id\n", "alias.x.command"},
        {"[credential]\n helper = a\n", "credential.helper"},
        {"[credential \"https://x\"]\n helper = a\n", "credential.https://x.helper"},
        {"[include]\n path = a\n", "include.path"},
        {"[includeIf \"gitdir:/x\"]\n path = a\n", "includeif.gitdir:/x.path"},
        {"[url \"ssh://e/\"]\n insteadOf = https://g/\n", "url.ssh://e/.insteadof"},
        {"[url \"ssh://e/\"]\n pushInsteadOf = https://g/\n", "url.ssh://e/.pushinsteadof"},
        {"[remote \"o\"]\n url = x\n", "remote.o.url"},
        {"[remote \"o\"]\n pushurl = x\n", "remote.o.pushurl"},
        {"[remote \"o\"]\n uploadpack = x\n", "remote.o.uploadpack"},
        {"[remote \"o\"]\n receivepack = x\n", "remote.o.receivepack"},
        {"[remote \"o\"]\n proxy = x\n", "remote.o.proxy"},
        {"[remote \"o\"]\n vcs = x\n", "remote.o.vcs"},
        {"[remote \"o\"]\n promisor = true\n", "remote.o.promisor"},
        {"[remote \"o\"]\n fetch = +refs/heads/*:refs/heads/*\n", "remote.o.fetch"},
        {"[remote]\n pushDefault = x\n", "remote.pushDefault"},
        {"[branch \"m\"]\n remote = https://e/x\n", "branch.m.remote"},
        {"[branch \"m\"]\n remote = ../x\n", "branch.m.remote"},
        {"[branch \"m\"]\n remote = ext::sh\n", "branch.m.remote"},
        {"[branch \"m\"]\n remote = --upload-pack=x\n", "branch.m.remote"},
        {"[branch \"m\"]\n pushRemote = git@e:x\n", "branch.m.pushremote"},
        {"[branch \"m\"]\n mergeOptions = -sx\n", "branch.m.mergeoptions"},
        {"[gpg]\n program = x\n", "gpg.program"},
        {"[gpg \"ssh\"]\n program = x\n", "gpg.ssh.program"},
        {"[gpg \"ssh\"]\n defaultKeyCommand = x\n", "gpg.ssh.defaultkeycommand"},
        {"[log]\n showSignature\n", "log.showSignature"},
        {"[commit]\n gpgSign = true\n", "commit.gpgSign"},
        {"[commit]\n template = x\n", "commit.template"},
        {"[sequence]\n editor = x\n", "sequence.editor"},
        {"[interactive]\n diffFilter = x\n", "interactive.diffFilter"},
        {"[pager]\n log = x\n", "pager.log"},
        {"[man]\n viewer = x\n", "man.viewer"},
        {"[man \"x\"]\n cmd = x\n", "man.x.cmd"},
        {"[browser \"x\"]\n cmd = x\n", "browser.x.cmd"},
        {"[web]\n browser = x\n", "web.browser"},
        {"[mergetool \"x\"]\n cmd = x\n", "mergetool.x.cmd"},
        {"[difftool \"x\"]\n cmd = x\n", "difftool.x.cmd"},
        {"[protocol]\n allow = always\n", "protocol.allow"},
        {"[protocol \"ext\"]\n allow = always\n", "protocol.ext.allow"},
        {"[http]\n proxy = x\n", "http.proxy"},
        {"[http]\n sslVerify = false\n", "http.sslVerify"},
        {"[http \"https://x\"]\n sslVerify = false\n", "http.https://x.sslverify"},
        {"[http]\n extraHeader = x\n", "http.extraHeader"},
        {"[submodule \"x\"]\n update = !id\n", "submodule.x.update"},
        {"[submodule \"x\"]\n url = ../x\n", "submodule.x.url"},
        {"[submodule \"x\"]\n path = \"a\r\"\n", "submodule.x.path"},
        {"[submodule]\n recurse = true\n", "submodule.recurse"},
        {"[init]\n templateDir = x\n", "init.templateDir"},
        {"[uploadpack]\n packObjectsHook = x\n", "uploadpack.packObjectsHook"},
        {"[receive]\n denyCurrentBranch = ignore\n", "receive.denycurrentbranch"},
        {"[tar \"x\"]\n command = x\n", "tar.x.command"},
        {"[guitool \"x\"]\n cmd = x\n", "guitool.x.cmd"},
        {"[trailer \"x\"]\n cmd = x\n", "trailer.x.cmd"},
        {"[trailer \"x\"]\n command = x\n", "trailer.x.command"},
        {"[sendemail]\n smtpServer = x\n", "sendemail.smtpserver"},
        {"[sendemail \"x\"]\n sendmailCmd = x\n", "sendemail.x.sendmailcmd"},
        {"[imap]\n tunnel = x\n", "imap."},
        {"[extensions]\n worktreeConfig = true\n", "extensions.worktreeConfig"},
        {"[extensions]\n partialClone = o\n", "extensions.partialClone"},
        {"[safe]\n directory = *\n", "safe.directory"},
        {"[ssh]\n variant = simple\n", "ssh.variant"},
        {"[gc]\n recentObjectsHook = x\n", "gc.recentObjectsHook"},
        {"[maintenance]\n repo = x\n", "maintenance."},
        {"[blame]\n ignoreRevsFile = x\n", "blame.ignoreRevsFile"},
        {"[hook \"x\"]\n command = id\n", "hook.x.command"},
        {"[fetch]\n bundleURI = x\n", "fetch.bundleURI"},
        {"[lfs]\n url = x\n", "lfs.url"},
        {"[lfs \"customtransfer.x\"]\n path = x\n", "lfs.customtransfer.x.path"},
        {"[new]\n thing = x\n", "new.thing (not a known key)"},
        {"[]\n x = 1\n", "x"},
        {"key = value\n", "core.key"},
        {"[core\n", "cannot be read"},
        {"[core]]\n", "cannot be read"},
        {"[user]\n name = \\x\n", "cannot be read"},
        {"[user]\n 1x = 2\n", "cannot be read"},
        {"[user]\n na me = 2\n", "cannot be read"},
        {"[user]\n name : 2\n", "cannot be read"},
        {"[us_er]\n name = 2\n", "cannot be read"},
};

static void check_added(void)
{
        size_t n = sizeof added / sizeof added[0], wrong_n = 0;
        for (size_t i = 0; i < n; i++) {
                char text[2048];
                struct file_class_verdict v, back;
                snprintf(text, sizeof text, "%s%s", base, added[i].text);
                file_class_git_config(base, strlen(base), text, strlen(text), &v);
                bool is_good =
                        added[i].why ? v.class == FILE_RUNS_ON_COMMIT && strstr(v.why, added[i].why)
                                     : v.class == FILE_PLAIN;
                /* Taking it away, or making it a new file, is the same question. */
                file_class_git_config(text, strlen(text), base, strlen(base), &back);
                is_good = is_good && back.class == v.class;
                file_class_git_config(NULL, 0, text, strlen(text), &back);
                is_good = is_good && back.class == v.class;
                wrong_n += !is_good;
                if (!is_good)
                        check(false, "text", "%s is %s (%s), wanted %s", added[i].text,
                              file_class_name(v.class), v.why,
                              added[i].why ? added[i].why : "plain");
        }
        check(wrong_n == 0 && n > 100, "config texts", "%zu of %zu are wrong", wrong_n, n);
}

static enum file_class change(const char *before, const char *after)
{
        struct file_class_verdict v;
        file_class_git_config(before, before ? strlen(before) : 0, after, after ? strlen(after) : 0,
                              &v);
        return v.class;
}

static void check_changes(void)
{
        const char *one = "[remote \"o\"]\n url = x\n[alias]\n a = b\n";
        CHECK("nothing new", change(one, one) == FILE_PLAIN);
        CHECK("layout alone",
              change(one, "[remote \"o\"]\nurl=\"x\" # c\n\n[Alias]\nA = b") == FILE_PLAIN);
        CHECK("a plain key beside them",
              change(one, "[remote \"o\"]\n url = x\n[alias]\n a = b\n[user]\n name = n\n") ==
                      FILE_PLAIN);
        CHECK("another value",
              change(one, "[remote \"o\"]\n url = y\n[alias]\n a = b\n") == FILE_RUNS_ON_COMMIT);
        CHECK("another subsection",
              change(one, "[remote \"O\"]\n url = x\n[alias]\n a = b\n") == FILE_RUNS_ON_COMMIT);
        CHECK("another order of two",
              change("[alias]\na=1\na=2\n", "[alias]\na=2\na=1\n") == FILE_RUNS_ON_COMMIT);
        CHECK("once more", change("[alias]\na=1\n", "[alias]\na=1\na=1\n") == FILE_RUNS_ON_COMMIT);
        CHECK("gone", change(one, "[alias]\n a = b\n") == FILE_RUNS_ON_COMMIT);
        CHECK("no file any more", change(one, NULL) == FILE_RUNS_ON_COMMIT);
        CHECK("no plain file any more", change("[user]\n name = x\n", NULL) == FILE_PLAIN);
        CHECK("value and none", change("[alias]\na\n", "[alias]\na=\n") == FILE_RUNS_ON_COMMIT);
        struct file_class_verdict v;
        file_class_git_config(NULL, 0, "[user]\nname=a\0b", 15, &v);
        CHECK("a NUL", v.class == FILE_RUNS_ON_COMMIT);
        char *big = malloc(GIT_CONFIG_MAX + 2);
        memset(big, '\n', GIT_CONFIG_MAX + 2);
        file_class_git_config(NULL, 0, big, GIT_CONFIG_MAX + 1, &v);
        CHECK("too long", v.class == FILE_RUNS_ON_COMMIT);
        file_class_git_config(NULL, 0, big, GIT_CONFIG_MAX, &v);
        CHECK("as long as may be", v.class == FILE_PLAIN);
        free(big);
}

static void check_values(void)
{
        struct git_config c;
        const char *text = "[a \"B\\\\c\"]\n k = \" x \" y  z  ; c\n l = a\\\n  b\\t\\\"\n m\n";
        CHECK("parses", git_config_parse(text, strlen(text), &c) == 0 && c.n == 3);
        check_str("key", c.v[0].key, "a.B\\c.k");
        check_str("value", c.v[0].value, " x  y  z");
        check_str("continued", c.v[1].value, "a  b\t\"");
        CHECK("none", c.v[2].value == NULL);
        check_str("last", git_config_last(&c, "a.B\\c.m"), "");
        CHECK("absent", git_config_last(&c, "a.b.m") == NULL);
        git_config_free(&c);
}

static enum file_class attributes(const char *before, const char *after)
{
        struct file_class_verdict v;
        file_class_attributes(before, before ? strlen(before) : 0, after, after ? strlen(after) : 0,
                              &v);
        return v.class;
}

static void check_attributes(void)
{
        static const char *const plain[] = {
                "* text=auto\n",
                "*.sh text eol=lf\n",
                "*.png binary\n",
                "*.c diff=cpp\n",
                "/x export-ignore\n",
                "# filter=x\n",
                "  \n",
                "*.x -diff -merge -text\n",
                "*.md linguist-documentation\n",
                "CHANGES merge=union\n",
                "*.c whitespace=tab\n",
                "*.x -filter\n",
                "*.py diff=python\r\n",
        };
        static const char *const risky[] = {
                "* filter=x\n",       "*.bin filter=lfs diff=lfs merge=lfs -text\n",
                "* diff=x\n",         "* merge=x\n",
                "[attr]m filter=x\n", "* m\n",
                "\"a b\" filter=x\n", "* text filter=x",
                "*\tfilter=x\n",      "* -m\n",
                "a filter\n",
        };
        for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
                check(attributes(NULL, plain[i]) == FILE_PLAIN, "plain attributes", "%s", plain[i]);
        for (size_t i = 0; i < sizeof risky / sizeof risky[0]; i++)
                check(attributes(NULL, risky[i]) == FILE_RUNS_ON_COMMIT &&
                              attributes(risky[i], NULL) == FILE_RUNS_ON_COMMIT &&
                              attributes(risky[i], risky[i]) == FILE_PLAIN,
                      "risky attributes", "%s", risky[i]);
        CHECK("beside an old one",
              attributes("* filter=x\n", "* filter=x\n*.c text\n") == FILE_PLAIN);
}

int main(void)
{
        check_added();
        check_changes();
        check_values();
        check_attributes();
        return check_end();
}
